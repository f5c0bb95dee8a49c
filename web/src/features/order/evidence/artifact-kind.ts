/** Which artifacts are text that a person can read here. */
import type { Artifact } from "@/api/types";

/** So much of a text is shown; the rest is in the download. */
export const PREVIEW_CHARS = 256 * 1024;
/** More than this is not even asked for. */
export const PREVIEW_LIMIT_BYTES = 8 * 1024 * 1024;

const TEXT_TYPES: ReadonlySet<string> = new Set([
  "application/json",
  "application/x-ndjson",
  "application/xml",
  "application/yaml",
  "application/x-yaml",
  "application/toml",
  "application/javascript",
]);
const TEXT_NAMES = /\.(txt|log|md|json|jsonl|ndjson|xml|ya?ml|toml|ini|cfg|csv|diff|patch|html?|css|[cm]?[jt]sx?|py|go|rs|sh|sql)$/i;

export function isText(artifact: Pick<Artifact, "media_type" | "name">): boolean {
  const type = (artifact.media_type.split(";")[0] ?? "").trim().toLowerCase();
  return type.startsWith("text/") || TEXT_TYPES.has(type) || TEXT_NAMES.test(artifact.name);
}

export type PreviewKind = "text" | "too-large" | "binary" | "empty";

export function previewKind(
  artifact: Pick<Artifact, "media_type" | "name" | "size_bytes">,
): PreviewKind {
  if (artifact.size_bytes === 0) return "empty";
  if (!isText(artifact)) return "binary";
  return artifact.size_bytes > PREVIEW_LIMIT_BYTES ? "too-large" : "text";
}

/** A name for the file on the reader's disk: no folders, no surprises. */
export function downloadName(name: string): string {
  const last = name.split(/[\\/]/).at(-1) ?? "";
  const plain = last.replace(/[^\w.\- ]+/g, "_").replace(/^[. ]+/, "");
  return plain === "" ? "artifact" : plain.slice(0, 120);
}
