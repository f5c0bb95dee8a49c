import { expect, it } from "vitest";

import type { ServerStatus } from "@/api/types";

import { findings } from "./model";

const FINE: ServerStatus = {
  status: "ok",
  version: "0.1.0",
  started_at: "2026-11-15T10:00:00.000Z",
  active_tasks: 0,
  queued_tasks: 0,
  sandbox_count: 0,
  credential_status: { model_sign_in: "configured" },
  work_orders: {},
  approvals_asked: 0,
  engine: {
    ok: true,
    state: "running",
    reason: "",
    open: 0,
    running: 0,
    queued: 0,
    timers: 0,
    quarantined: [],
  },
  journal: "ok",
  event_loop: {
    longest_pause_ms: 4.2,
    longest_pause_at: "2026-11-15T10:00:01.000Z",
    longest_pause_cpu_ms: 4,
    longest_pause_in: "",
    long_pauses: 0,
  },
  github: null,
};

it("finds nothing when all is well", () => {
  expect(findings(FINE)).toEqual([]);
});

it("does not call damaged rows a journal that cannot be written", () => {
  const found = findings({ ...FINE, journal: "rows_damaged" });
  expect(found.map((one) => one.title)).toEqual(["Some rows of the database are damaged"]);
});

it("says what is wrong with journal, engine, orders and credentials", () => {
  const found = findings({
    ...FINE,
    journal: "disk_full",
    engine: {
      ...FINE.engine,
      ok: false,
      state: "halted",
      reason: "No space",
      quarantined: ["wo-1"],
    },
    credential_status: { model_sign_in: "missing" },
  });
  expect(found.map((one) => one.severe)).toEqual([true, true, true, false]);
  expect(found[0]?.title).toContain("disk_full");
  expect(found[1]?.hint).toBe("No space");
  expect(found[2]?.title).toContain("wo-1");
});
