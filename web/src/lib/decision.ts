export type Decision = "approve" | "reject";

/** The server takes no longer comment. */
export const COMMENT_LIMIT = 4000;
