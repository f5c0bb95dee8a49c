/** What an order may wait for. Made by `make docs` from workflow_engine/waiting.py. */
export type WaitingReason =
  | "approval"
  | "paused"
  | "access_lost"
  | "rate_limit"
  | "quarantined"
  | "circuit_open"
  | "disk_full"
  | "github_quota"
  | "github_unavailable"
  | "model_quota"
  | "model_unavailable";
