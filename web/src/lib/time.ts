/** Times and spans in words. Everything takes the present as an argument: nothing here reads a clock. */

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

export type TimeValue = string | number | null | undefined;

/** Milliseconds since 1970, or null if it is not a time. */
export function instant(value: TimeValue): number | null {
  if (value === null || value === undefined || value === "") return null;
  const at = typeof value === "number" ? value : Date.parse(value);
  return Number.isFinite(at) ? at : null;
}

/** "just now", "5 min ago", "in 3 h", "yesterday", "12 Mar", "12 Mar 2024". */
export function relative(value: TimeValue, now: number): string {
  const at = instant(value);
  if (at === null) return "—";
  const past = now - at;
  const gap = Math.abs(past);
  if (gap < 45 * SECOND) return "just now";
  if (gap < 45 * MINUTE) return told(Math.max(1, Math.round(gap / MINUTE)), "min", past);
  if (gap < 22 * HOUR) return told(Math.max(1, Math.round(gap / HOUR)), "h", past);
  const days = Math.max(1, Math.round(gap / DAY));
  if (days === 1) return past > 0 ? "yesterday" : "tomorrow";
  if (days <= 14) return told(days, "days", past);
  return shortDate(at, now);
}

function told(count: number, unit: string, past: number): string {
  return past > 0 ? `${count} ${unit} ago` : `in ${count} ${unit}`;
}

function shortDate(at: number, now: number): string {
  const isThisYear = new Date(at).getFullYear() === new Date(now).getFullYear();
  return format(at, { day: "numeric", month: "short", ...(isThisYear ? {} : { year: "numeric" }) });
}

const formats = new Map<string, Intl.DateTimeFormat>();

function format(at: number, options: Intl.DateTimeFormatOptions): string {
  if (Math.abs(at) > 8.64e15) return "—";
  const key = JSON.stringify(options);
  let found = formats.get(key);
  if (!found) {
    found = new Intl.DateTimeFormat("en-GB", options);
    formats.set(key, found);
  }
  return found.format(at);
}

/** "12 Mar 2026, 14:03:07 UTC": the whole truth, for titles and tooltips. */
export function exact(value: TimeValue, timeZone?: string): string {
  const at = instant(value);
  if (at === null) return "—";
  return format(at, {
    day: "numeric",
    month: "short",
    year: "numeric",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
    timeZoneName: "short",
    timeZone,
  });
}

/** "14:03:07", for lines of a log. */
export function clockTime(value: TimeValue, timeZone?: string): string {
  const at = instant(value);
  if (at === null) return "—";
  const options = { hour: "2-digit", minute: "2-digit", second: "2-digit", timeZone } as const;
  return format(at, options);
}

/** "0.4 s", "12 s", "3 min 5 s", "2 h 10 min", "3 d 4 h". */
export function duration(ms: number | null | undefined): string {
  if (ms === null || ms === undefined || !Number.isFinite(ms)) return "—";
  const span = Math.max(0, ms);
  if (span < 10 * SECOND) {
    const tenths = Math.round(span / 100) / 10;
    return tenths >= 10 ? "10 s" : `${tenths} s`;
  }
  const seconds = Math.round(span / SECOND);
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return two(Math.floor(seconds / 60), "min", seconds % 60, "s");
  const minutes = Math.round(span / MINUTE);
  if (minutes < 24 * 60) return two(Math.floor(minutes / 60), "h", minutes % 60, "min");
  const hours = Math.round(span / HOUR);
  return two(Math.floor(hours / 24), "d", hours % 24, "h");
}

function two(large: number, unit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${large} ${unit}` : `${large} ${unit} ${small} ${smallUnit}`;
}

/** Milliseconds from one time to another; null if one of them is missing. Never negative. */
export function between(from: TimeValue, to: TimeValue): number | null {
  const start = instant(from);
  const end = instant(to);
  return start === null || end === null ? null : Math.max(0, end - start);
}
