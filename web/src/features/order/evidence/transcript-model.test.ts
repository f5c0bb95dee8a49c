import { describe, expect, it } from "vitest";

import type { Task } from "@/api/types";
import { blocksOf } from "./transcript";

import { chosenTranscript, findBlocks, stepHit, transcriptChoices } from "./transcript-model";

function task(path: string, state: Task["state"], uses = "agent.command"): Task {
  return { path, state, uses, started_at: "2026-11-15T10:00:00Z" } as Task;
}

describe("choosing a transcript", () => {
  const tasks = [task("plan", "succeeded"), task("build", "running"), task("check", "running", "tests.run")];

  it("offers an agent that has begun but not spoken", () => {
    const choices = transcriptChoices(["plan"], tasks);
    expect(choices.map((choice) => choice.name)).toEqual(["plan", "build"]);
    expect(chosenTranscript(choices, null)?.name).toBe("build");
  });

  it("shows what was asked for, else the latest", () => {
    const choices = transcriptChoices(["plan", "child/review"], [task("plan", "succeeded")]);
    expect(chosenTranscript(choices, "plan")?.name).toBe("plan");
    expect(chosenTranscript(choices, "gone")?.name).toBe("child/review");
    expect(chosenTranscript([], null)).toBeNull();
  });
});

describe("searching", () => {
  const blocks = blocksOf([
    { cursor: 1, kind: "text", text: "I read Basket.py", data: {} },
    {
      cursor: 2,
      kind: "tool_use",
      text: "Bash",
      data: { tool_use_id: "a", input: { command: "cat basket.py" } },
    },
    { cursor: 3, kind: "tool_result", text: "<script>", data: { tool_use_id: "a" } },
    { cursor: 4, kind: "system", text: "end of turn", data: { num_turns: 2 } },
  ]);

  it("finds text, arguments and results in either case", () => {
    expect(findBlocks(blocks, "BASKET")).toEqual([0, 1]);
    expect(findBlocks(blocks, "<script>")).toEqual([1]);
    expect(findBlocks(blocks, "  ")).toEqual([]);
  });

  it("goes round", () => {
    expect(stepHit(2, 1, 1)).toBe(0);
    expect(stepHit(2, 0, -1)).toBe(1);
    expect(stepHit(0, 0, 1)).toBe(0);
  });
});
