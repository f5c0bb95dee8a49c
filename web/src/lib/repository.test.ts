import { expect, it } from "vitest";

import { repositoryName, repositoryNames } from "./repository";

const named = (repository: string, repository_url = "") =>
  repositoryName({ repository, repository_url });

it("names repositories as people do", () => {
  expect(named("git.example/shop/basket", "https://git.example/shop/basket.git")).toBe(
    "shop/basket",
  );
  expect(named("storefront-ab2366ae637e1b85", "/srv/git/storefront")).toBe("storefront");
  expect(named("storefront-ab2366ae637e1b85", "/srv/git/storefront.git/")).toBe("storefront");
  expect(named("storefront-ab2366ae637e1b85", "/srv/git/storefront/.git")).toBe("storefront");
});

it("leaves a name in its own letters", () => {
  expect(named("repository-ab2366ae637e1b85", "/srv/git/店舗")).toBe("店舗");
  const url = `file:///srv/git/${encodeURIComponent("店舗")}.git`;
  expect(named("repository-ab2366ae637e1b85", url)).toBe("店舗");
  expect(named("repository-ab2366ae637e1b85", "file:///srv/%E5%ZZ")).toBe("%E5%ZZ");
});

it("goes by the key when the address says nothing", () => {
  expect(named("sample-654a8a9b558a33a5")).toBe("sample");
  expect(named("basket-2", "/")).toBe("basket-2");
  expect(named("-654a8a9b558a33a5")).toBe("-654a8a9b558a33a5");
  expect(named("//")).toBe("//");
  expect(named("")).toBe("");
});

it("tells equal names apart where one is chosen", () => {
  const known = [
    { repository: "shop-1111111111111111", repository_url: "/srv/a/shop" },
    { repository: "shop-2222222222222222", repository_url: "/srv/b/shop" },
    { repository: "shop-1111111111111111", repository_url: "/srv/a/shop" },
    { repository: "git.example/x/till", repository_url: "https://git.example/x/till" },
  ];
  expect([...repositoryNames(known)]).toEqual([
    ["shop-1111111111111111", "shop (/srv/a/shop)"],
    ["shop-2222222222222222", "shop (/srv/b/shop)"],
    ["git.example/x/till", "x/till"],
  ]);
});
