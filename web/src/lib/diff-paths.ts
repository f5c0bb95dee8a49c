/** Names of files in patches: quoted with C escapes, with or without the prefixes `a/` and `b/`. */

const SIMPLE: Record<string, number> = { a: 7, b: 8, t: 9, n: 10, v: 11, f: 12, r: 13 };

export interface HeaderNames {
  oldPath: string | null;
  newPath: string | null;
  prefixed: boolean;
}

/** The two names after `diff --git `. Unquoted names with spaces are found by their symmetry. */
export function splitHeader(header: string): HeaderNames {
  const pair = header.includes('"') ? quotedPair(header) : symmetric(header);
  if (!pair) return guessed(header);
  const [first, second] = pair;
  const prefixed = first !== second && /^[a-z]\//.test(first) && /^[a-z]\//.test(second);
  if (!prefixed) return { oldPath: first, newPath: second, prefixed: false };
  return { oldPath: first.slice(2), newPath: second.slice(2), prefixed: true };
}

export function unprefixed(name: string): string {
  return /^[a-z]\//.test(name) ? name.slice(2) : name;
}

/** A whole name, quoted or not. */
export function unquoted(text: string): string {
  if (!text.startsWith('"')) return text;
  return takeQuoted(text, 0)?.name ?? text;
}

function symmetric(header: string): [string, string] | null {
  const middle = (header.length - 1) / 2;
  if (!Number.isInteger(middle) || header.charAt(middle) !== " ") return null;
  const first = header.slice(0, middle);
  const second = header.slice(middle + 1);
  if (first === second) return [first, second];
  return first.slice(2) === second.slice(2) && unprefixed(first) !== first ? [first, second] : null;
}

function quotedPair(header: string): [string, string] | null {
  if (header.startsWith('"')) {
    const first = takeQuoted(header, 0);
    if (!first || header.charAt(first.end) !== " ") return null;
    return [first.name, unquoted(header.slice(first.end + 1))];
  }
  const space = header.indexOf(' "');
  if (space < 0) return symmetric(header);
  const second = takeQuoted(header, space + 1);
  return second && second.end === header.length ? [header.slice(0, space), second.name] : null;
}

/** A rename: its own lines, which follow, are exact. */
function guessed(header: string): HeaderNames {
  const at = header.startsWith("a/") ? header.indexOf(" b/") : -1;
  if (at >= 0) {
    return { oldPath: header.slice(2, at), newPath: header.slice(at + 3), prefixed: true };
  }
  const space = header.indexOf(" ");
  if (space < 0) return { oldPath: header, newPath: header, prefixed: false };
  return { oldPath: header.slice(0, space), newPath: header.slice(space + 1), prefixed: false };
}

function takeQuoted(text: string, start: number): { name: string; end: number } | null {
  const bytes: number[] = [];
  const encoder = new TextEncoder();
  let at = start + 1;
  while (at < text.length) {
    const char = text.charAt(at);
    if (char === '"') {
      return { name: new TextDecoder().decode(new Uint8Array(bytes)), end: at + 1 };
    }
    if (char !== "\\") {
      const whole = String.fromCodePoint(text.codePointAt(at) ?? 0xfffd);
      bytes.push(...encoder.encode(whole));
      at += whole.length;
      continue;
    }
    const octal = /^[0-3][0-7]{2}/.exec(text.slice(at + 1, at + 4));
    const next = text.charAt(at + 1);
    bytes.push(octal ? parseInt(octal[0], 8) : (SIMPLE[next] ?? next.charCodeAt(0) & 0xff));
    at += octal ? 4 : 2;
  }
  return null;
}
