import { render, screen } from "@testing-library/react";
import { expect, it } from "vitest";

import { VerificationBadge } from "./verification-badge";

it.each([
  ["verified", "Verified"],
  ["unverified", "Unverified"],
  ["failed", "Tests failed"],
] as const)("says %s in words, with the reason behind it", (verification, words) => {
  render(<VerificationBadge verification={verification} reason="no tests were run" />);
  expect(screen.getByText(words).closest("[title]")?.getAttribute("title")).toBe(
    "no tests were run",
  );
});

it("says nothing while nothing is known", () => {
  const { container } = render(<VerificationBadge verification={null} />);
  expect(container.textContent).toBe("");
});
