/** What can be told of something that went wrong, wherever it comes from. */
export interface Failure {
  title: string;
  hint: string | null;
  code: string | null;
  requestId: string | null;
  /** The server could not be reached. */
  offline: boolean;
}

function text(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}

/** Reads a Problem of the API, an Error, or anything else that was thrown. */
export function describeFailure(error: unknown): Failure {
  const seen: Record<string, unknown> =
    typeof error === "object" && error !== null ? (error as Record<string, unknown>) : {};
  const code = text(seen["code"]);
  return {
    title:
      text(seen["detail"]) ?? text(seen["message"]) ?? text(error) ?? "Something went wrong here.",
    hint: text(seen["hint"]),
    code,
    requestId: text(seen["requestId"]),
    offline: code === "offline",
  };
}
