/** The connection's states, without the connection: what happened in, what to do out. */

export type LiveState = "live" | "connecting" | "polling";

export interface Connection {
  state: LiveState;
  /** Failures in a row. */
  failures: number;
  /** When it was last known to be live, or began. */
  sinceMs: number;
  /** Nobody is signed in: nothing is tried until somebody is. */
  signedOut: boolean;
}

export type Happening =
  | { type: "opened" }
  | { type: "failed" }
  | { type: "waited" }
  | { type: "signed-out" }
  | { type: "signed-in" };

/** After so many failures, or so long without a connection, pages poll. */
export const PATIENCE = 3;
export const PATIENCE_MS = 10_000;
const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 15_000;

export function beginning(nowMs: number): Connection {
  return { state: "connecting", failures: 0, sinceMs: nowMs, signedOut: false };
}

export function after(connection: Connection, happening: Happening, nowMs: number): Connection {
  switch (happening.type) {
    case "opened":
      return { state: "live", failures: 0, sinceMs: nowMs, signedOut: false };
    case "failed": {
      const failures = connection.failures + 1;
      const sinceMs = connection.state === "live" ? nowMs : connection.sinceMs;
      return patient({ ...connection, state: notLive(connection.state), failures, sinceMs }, nowMs);
    }
    case "waited":
      return connection.state === "connecting" ? patient(connection, nowMs) : connection;
    case "signed-out":
      return { ...beginning(nowMs), signedOut: true };
    case "signed-in":
      return beginning(nowMs);
  }
}

/** How long to wait before the next attempt: 1, 2, 4, 8, 15 seconds, each spread by a quarter so
 * that pages do not all come back in the same moment. */
export function waitMs(failures: number, random: number): number {
  const whole = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.max(0, failures - 1));
  return Math.round(whole * (0.75 + random / 2));
}

function notLive(state: LiveState): LiveState {
  return state === "polling" ? "polling" : "connecting";
}

function patient(connection: Connection, nowMs: number): Connection {
  if (connection.signedOut) return connection;
  const tooLong = nowMs - connection.sinceMs >= PATIENCE_MS;
  const state = connection.failures >= PATIENCE || tooLong ? "polling" : connection.state;
  return state === connection.state ? connection : { ...connection, state };
}
