/** Text from orders is hostile: it may hide, reverse or imitate. What is shown is shown as it is. */

const ELLIPSIS = "…";

/** Characters that change how others look, or look like nothing at all. */
function isDeceptive(code: number): boolean {
  return (
    code === 0xad ||
    code === 0x34f ||
    code === 0x61c ||
    code === 0x115f ||
    code === 0x1160 ||
    code === 0x180e ||
    (code >= 0x200b && code <= 0x200f) ||
    (code >= 0x2028 && code <= 0x202e) ||
    (code >= 0x2060 && code <= 0x206f) ||
    code === 0x3164 ||
    code === 0xfeff ||
    code === 0xffa0 ||
    (code >= 0xfff9 && code <= 0xfffb)
  );
}

function isControl(code: number): boolean {
  return (code < 0x20 && code !== 0x0a && code !== 0x09) || (code >= 0x7f && code <= 0x9f);
}

const isHigh = (code: number) => code >= 0xd800 && code <= 0xdbff;
const isLow = (code: number) => code >= 0xdc00 && code <= 0xdfff;

/** A joiner between two emoji makes one picture of them: that one is honest. */
function joinsEmoji(text: string, at: number): boolean {
  const before = text.charCodeAt(at - 1);
  const whole = isLow(before) ? text.codePointAt(at - 2) : before;
  return (before === 0xfe0f || isEmoji(whole)) && isEmoji(text.codePointAt(at + 1));
}

function isEmoji(code: number | undefined): boolean {
  if (code === undefined || Number.isNaN(code)) return false;
  const isSkinTone = code >= 0x1f3fb && code <= 0x1f3ff;
  return isSkinTone || /\p{Extended_Pictographic}/u.test(String.fromCodePoint(code));
}

function escape(code: number): string {
  return `⟨U+${code.toString(16).toUpperCase().padStart(4, "0")}⟩`;
}

/**
 * Removes control characters (but newline and tab), makes invisible ones and those that turn the
 * direction of text visible, and replaces halves of characters. Cleaning twice changes nothing.
 */
export function clean(text: string): string {
  let out = "";
  let from = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code >= 0x20 && code < 0x7f) continue;
    let shown: string | null = null;
    let width = 1;
    if (isControl(code)) {
      shown = "";
    } else if (code === 0x200d && joinsEmoji(text, at)) {
      continue;
    } else if (isDeceptive(code)) {
      shown = escape(code);
    } else if (isHigh(code)) {
      const whole = text.codePointAt(at) ?? code;
      if (whole === code) shown = "\ufffd";
      else {
        width = 2;
        if (whole >= 0xe0000 && whole <= 0xe0fff) shown = escape(whole);
      }
    } else if (isLow(code)) {
      shown = "\ufffd";
    }
    if (shown !== null) {
      out += text.slice(from, at) + shown;
      from = at + width;
    }
    at += width - 1;
  }
  return from === 0 ? text : out + text.slice(from);
}

/** The first `length` units, without half a character at the end. */
export function head(text: string, length: number): string {
  const end = length > 0 && isHigh(text.charCodeAt(length - 1)) ? length - 1 : length;
  return text.slice(0, Math.max(0, end));
}

function tail(text: string, length: number): string {
  if (length <= 0) return "";
  const start = text.length - length;
  return text.slice(isLow(text.charCodeAt(start)) ? start + 1 : start);
}

/** At most `max` characters, the sign of the cut included. */
export function truncate(text: string, max: number): string {
  if (text.length <= max) return text;
  return max <= 0 ? "" : head(text, max - 1) + ELLIPSIS;
}

/** Keeps both ends, for names that differ at their ends: paths, hashes, branches. */
export function truncateMiddle(text: string, max: number): string {
  if (text.length <= max) return text;
  if (max <= 0) return "";
  const kept = max - 1;
  const front = Math.ceil(kept / 2);
  return head(text, front) + ELLIPSIS + tail(text, kept - front);
}

/** 12034 → "12,034". */
export function count(value: number): string {
  return value.toLocaleString("en-US");
}

/** `plural(2, "file")` → "2 files"; `plural(2, "try", "tries")` → "2 tries". */
export function plural(amount: number, one: string, many = `${one}s`): string {
  return `${count(amount)} ${amount === 1 ? one : many}`;
}

/** The first line that says something. */
export function firstLine(text: string): string {
  let from = 0;
  while (from <= text.length) {
    const found = text.indexOf("\n", from);
    const end = found < 0 ? text.length : found;
    const line = text.slice(from, end).trim();
    if (line !== "") return line;
    from = end + 1;
  }
  return "";
}

/** The address if it is one that a person may follow: absolute, http or https, no user in it. */
export function safeHref(url: string | null | undefined): string | null {
  if (!url || url.length > 8192 || !/^https?:\/\/[^\s\\]+$/i.test(url)) return null;
  if (clean(url) !== url) return null;
  try {
    const parsed = new URL(url);
    const web = parsed.protocol === "https:" || parsed.protocol === "http:";
    return web && parsed.username === "" && parsed.password === "" ? parsed.href : null;
  } catch {
    return null;
  }
}
