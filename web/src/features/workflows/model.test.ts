import { describe, expect, it } from "vitest";

import type { WorkflowTask, WorkflowVersion } from "@/api/types";

import { scopesOf, sourceChanges, versionNamed } from "./model";

function task(id: string): WorkflowTask {
  return { id, kind: "work", uses: null, needs: [], phase: null, risk: "low", approval: null };
}

function version(number: number, hash: string): WorkflowVersion {
  return {
    version: number,
    hash,
    created_at: "2026-11-15T10:00:00.000Z",
    created_by: "ann",
    origin: "user",
    source: "",
  };
}

it("opens every scope above a task", () => {
  expect([...scopesOf([task("a"), task("b.c.d"), task("b.e")])].sort()).toEqual(["b", "b.c"]);
});

it("finds a version by number or the beginning of its hash", () => {
  const versions = [version(2, "abcdef12"), version(1, "1234567890")];
  expect(versionNamed(versions, "1")?.version).toBe(1);
  expect(versionNamed(versions, "abcdef")?.version).toBe(2);
  expect(versionNamed(versions, "abc")).toBeUndefined();
  expect(versionNamed(versions, undefined)).toBeUndefined();
});

describe("sourceChanges", () => {
  it("keeps what both have", () => {
    expect(sourceChanges("a\nb\nc", "a\nx\nc")).toEqual([
      { kind: "context", text: "a" },
      { kind: "del", text: "b" },
      { kind: "add", text: "x" },
      { kind: "context", text: "c" },
    ]);
  });

  it("gives back both sides, whatever they are", () => {
    const before = "k: 1\nl: 2\n\nm: 3";
    const after = "l: 2\nk: 1\nm: 3\nn: 4";
    const found = sourceChanges(before, after);
    const side = (gone: string) =>
      found
        .filter((one) => one.kind !== gone)
        .map((one) => one.text)
        .join("\n");
    expect(side("add")).toBe(before);
    expect(side("del")).toBe(after);
  });

  it("does not compare line by line what is very long", () => {
    const long = Array.from({ length: 3000 }, (_, n) => `line ${n}`).join("\n");
    expect(sourceChanges(long, long)).toHaveLength(6000);
  });
});
