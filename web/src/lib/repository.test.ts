import { expect, it } from "vitest";

import { repositoryName } from "./repository";

it("names repositories as people do", () => {
  expect(repositoryName("git.example/shop/basket")).toBe("shop/basket");
  expect(repositoryName("sample-654a8a9b558a33a5")).toBe("sample");
  expect(repositoryName("basket-2")).toBe("basket-2");
  expect(repositoryName("-654a8a9b558a33a5")).toBe("-654a8a9b558a33a5");
  expect(repositoryName("//")).toBe("//");
  expect(repositoryName("")).toBe("");
});
