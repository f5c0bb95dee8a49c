import { describe, expect, it } from "vitest";

import { returnPath, tokenOf } from "@/features/sign-in/model";

const HERE = "http://127.0.0.1:8420";

describe("where to go after signing in", () => {
  it.each([
    ["/orders/wo-1?tab=diff#x", "/orders/wo-1?tab=diff#x"],
    ["/", "/"],
    [undefined, "/"],
    ["", "/"],
    ["//evil.example", "/"],
    ["/\\evil.example", "/"],
    ["/\t/evil.example", "/"],
    ["/x/..//evil.example", "/"],
    ["https://evil.example", "/"],
    ["javascript:alert(1)", "/"],
    ["orders", "/"],
    ["/sign-in?from=/sign-in", "/"],
  ])("%j leads to %j", (from, expected) => {
    expect(returnPath(from, HERE)).toBe(expected);
  });
});

describe("the token of a link", () => {
  it("is what stands behind the #", () => {
    expect(tokenOf("#abcDEF-123_456")).toBe("abcDEF-123_456");
  });

  it("is nothing else", () => {
    expect(tokenOf("")).toBeNull();
    expect(tokenOf("#")).toBeNull();
    expect(tokenOf("#main")).toBeNull();
    expect(tokenOf("#<script>alert(1)</script>")).toBeNull();
  });
});
