/** Long enough for a browser to have begun with it. */
const KEPT_MS = 60_000;

/** Gives a file to the browser's downloads. */
export function saveFile(content: Blob, name: string): void {
  const url = URL.createObjectURL(content);
  const anchor = document.createElement("a");
  anchor.href = url;
  anchor.download = name;
  anchor.click();
  setTimeout(() => URL.revokeObjectURL(url), KEPT_MS);
}
