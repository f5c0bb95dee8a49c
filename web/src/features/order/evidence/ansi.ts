/**
 * Terminal output as styled text. Only colours and weights (SGR) are understood; everything else a
 * terminal would obey — cursor moves, titles, links, device strings — is dropped. Linear in the
 * length of the line, and bounded in the number of segments.
 */
import { clean, head } from "@/lib/text";

const COLOURS = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"] as const;
type Colour = (typeof COLOURS)[number];
export type AnsiTone = Colour | `bright-${Colour}`;

export interface AnsiStyle {
  tone?: AnsiTone;
  bold: boolean;
  dim: boolean;
  italic: boolean;
  underline: boolean;
  inverse: boolean;
}

export interface Segment extends AnsiStyle {
  text: string;
}

export const MAX_SEGMENTS = 500;
/** Longer sequences are skipped without being obeyed. */
const MAX_PARAMETERS = 256;

const ESC = 0x1b;
const BEL = 0x07;
const ST = 0x9c;

const plainStyle = (): AnsiStyle => ({
  bold: false,
  dim: false,
  italic: false,
  underline: false,
  inverse: false,
});

export function parseAnsi(line: string): Segment[] {
  const segments: Segment[] = [];
  let style = plainStyle();
  let pending = "";
  let from = 0;

  const flush = () => {
    const text = clean(pending);
    pending = "";
    if (text === "") return;
    const last = segments[segments.length - 1];
    if (last && sameStyle(last, style)) last.text += text;
    else segments.push({ text, ...style });
  };

  let at = 0;
  while (at < line.length) {
    const code = line.charCodeAt(at);
    if (code !== ESC && (code < 0x90 || code > 0x9f)) {
      at++;
      continue;
    }
    const sequence = readSequence(line, at);
    pending += line.slice(from, at);
    at = from = sequence.end;
    // Past the bound the rest keeps the style of the last segment.
    if (sequence.sgr === null || segments.length >= MAX_SEGMENTS - 1) continue;
    const next = applySgr(style, sequence.sgr);
    if (sameStyle(style, next)) continue;
    flush();
    style = next;
  }
  pending += line.slice(from);
  flush();
  return segments;
}

/** The same text without any of it. */
export function stripAnsi(line: string): string {
  let out = "";
  let from = 0;
  let at = 0;
  while (at < line.length) {
    const code = line.charCodeAt(at);
    if (code !== ESC && (code < 0x90 || code > 0x9f)) {
      at++;
      continue;
    }
    out += line.slice(from, at);
    at = from = readSequence(line, at).end;
  }
  return clean(out + line.slice(from));
}

/** How many sequences a cut text may have for each of its characters, on average. */
const RAW_FOR_ONE = 16;

/** At most `max` visible characters, the sign of the cut included. What a terminal would obey does
 * not count and is never cut in two: half of a sequence would be shown as text. */
export function truncateAnsi(text: string, max: number): string {
  if (text.length <= max) return text;
  const most = max * RAW_FOR_ONE;
  let seen = 0;
  let cut = 0;
  let at = 0;
  while (at < text.length && at < most) {
    const code = text.charCodeAt(at);
    if (code === ESC || (code >= 0x90 && code <= 0x9f)) {
      at = readSequence(text, at).end;
      continue;
    }
    if (seen === max - 1) cut = at;
    if (seen === max) break;
    seen++;
    at++;
  }
  if (at >= text.length) return text;
  return head(text, seen < max ? at : cut) + "…";
}

interface Sequence {
  end: number;
  /** The parameters, if it is one about colour and weight. */
  sgr: string | null;
}

function readSequence(line: string, start: number): Sequence {
  const first = line.charCodeAt(start);
  if (first !== ESC) {
    if (first === 0x9b) return readControl(line, start + 1);
    return { end: isStringStart(first) ? skipString(line, start + 1) : start + 1, sgr: null };
  }
  const second = line.charCodeAt(start + 1);
  if (second === 0x5b) return readControl(line, start + 2);
  if (isStringStart(second + 0x40)) return { end: skipString(line, start + 2), sgr: null };
  let at = start + 1;
  while (inRange(line.charCodeAt(at), 0x20, 0x2f)) at++;
  // A final character belongs to the sequence; anything else (another escape) does not.
  return { end: inRange(line.charCodeAt(at), 0x30, 0x7e) ? at + 1 : at, sgr: null };
}

/** DCS, SOS, OSC, PM and APC carry text up to a terminator. */
function isStringStart(code: number): boolean {
  return code === 0x90 || code === 0x98 || (code >= 0x9d && code <= 0x9f);
}

function skipString(line: string, start: number): number {
  for (let at = start; at < line.length; at++) {
    const code = line.charCodeAt(at);
    if (code === BEL || code === ST) return at + 1;
    if (code === ESC) return line.charCodeAt(at + 1) === 0x5c ? at + 2 : at;
  }
  return line.length;
}

function readControl(line: string, start: number): Sequence {
  let at = start;
  while (inRange(line.charCodeAt(at), 0x30, 0x3f)) at++;
  const parameters = at;
  while (inRange(line.charCodeAt(at), 0x20, 0x2f)) at++;
  const final = line.charCodeAt(at);
  if (!inRange(final, 0x40, 0x7e)) return { end: at, sgr: null };
  const isSgr = final === 0x6d && at === parameters && parameters - start <= MAX_PARAMETERS;
  const text = isSgr ? line.slice(start, parameters) : "";
  return { end: at + 1, sgr: isSgr && /^[\d;:]*$/.test(text) ? text : null };
}

function inRange(code: number, low: number, high: number): boolean {
  return code >= low && code <= high;
}

function applySgr(style: AnsiStyle, parameters: string): AnsiStyle {
  let next = { ...style };
  const parts = parameters.split(";");
  for (let at = 0; at < parts.length; at++) {
    const part = parts[at] ?? "";
    if (part.includes(":")) {
      const inner = part.split(":");
      if (inner[0] === "38" && inner[1] === "5") next.tone = paletteTone(Number(inner[2]));
      else if (inner[0] === "38") delete next.tone;
      else if (inner[0] === "4") next.underline = inner[1] !== "0";
      continue;
    }
    const code = Number(part || "0");
    if (code === 38 || code === 48) {
      const isPalette = parts[at + 1] === "5";
      if (code === 38) next.tone = isPalette ? paletteTone(Number(parts[at + 2])) : undefined;
      at += isPalette ? 2 : parts[at + 1] === "2" ? 4 : 0;
      continue;
    }
    next = applyCode(next, code);
  }
  if (next.tone === undefined) delete next.tone;
  return next;
}

function applyCode(style: AnsiStyle, code: number): AnsiStyle {
  if (code === 0) return plainStyle();
  if (code === 1) return { ...style, bold: true };
  if (code === 2) return { ...style, dim: true };
  if (code === 3) return { ...style, italic: true };
  if (code === 4 || code === 21) return { ...style, underline: true };
  if (code === 7) return { ...style, inverse: true };
  if (code === 22) return { ...style, bold: false, dim: false };
  if (code === 23) return { ...style, italic: false };
  if (code === 24) return { ...style, underline: false };
  if (code === 27) return { ...style, inverse: false };
  if (code === 39) return { ...style, tone: undefined };
  if (inRange(code, 30, 37)) return { ...style, tone: paletteTone(code - 30) };
  if (inRange(code, 90, 97)) return { ...style, tone: paletteTone(code - 90 + 8) };
  return style;
}

function paletteTone(index: number): AnsiTone | undefined {
  const colour = COLOURS[index % 8];
  if (colour === undefined || !inRange(index, 0, 15)) return undefined;
  return index < 8 ? colour : `bright-${colour}`;
}

function sameStyle(a: AnsiStyle, b: AnsiStyle): boolean {
  return (
    a.tone === b.tone &&
    a.bold === b.bold &&
    a.dim === b.dim &&
    a.italic === b.italic &&
    a.underline === b.underline &&
    a.inverse === b.inverse
  );
}
