import { expect, it } from "vitest";

import { downloadName, previewKind } from "./artifact-kind";

const artifact = (name: string, media_type: string, size_bytes = 10) => ({
  name,
  media_type,
  size_bytes,
});

it("shows text as text and nothing else", () => {
  expect(previewKind(artifact("out.txt", "text/plain; charset=utf-8"))).toBe("text");
  expect(previewKind(artifact("junit.xml", "application/xml"))).toBe("text");
  expect(previewKind(artifact("page.html", "application/octet-stream"))).toBe("text");
  expect(previewKind(artifact("shot.png", "image/png"))).toBe("binary");
  expect(previewKind(artifact("out.txt", "text/plain", 0))).toBe("empty");
  expect(previewKind(artifact("out.txt", "text/plain", 20_000_000))).toBe("too-large");
});

it("makes names that are only names", () => {
  expect(downloadName("../../etc/passwd")).toBe("passwd");
  expect(downloadName("..\\evil.exe")).toBe("evil.exe");
  expect(downloadName("a\u202egnp.exe")).toBe("a_gnp.exe");
  expect(downloadName("..")).toBe("artifact");
});
