/** Every colour of text on every colour it stands on, in both themes: as WCAG's level AAA asks. */

import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

const LEAST = 7;
const TONES = ["neutral", "active", "attention", "good", "bad", "quiet"];
const INKS = ["ink", "ink-soft", "ink-faint"];
const GROUNDS = ["paper", "surface", "raised", "sunken", "hover"];
const WASHES = ["accent-wash", ...TONES.map((tone) => `tone-${tone}-wash`)];

const PAIRS: readonly [text: string, ground: string][] = [
  ...GROUNDS.flatMap((ground) =>
    [...INKS, "accent", ...TONES.map((tone) => `tone-${tone}`)].map((text): [string, string] => [
      text,
      ground,
    ]),
  ),
  ...[...WASHES, "diff-add", "diff-del", "diff-add-strong", "diff-del-strong"].map(
    (ground): [string, string] => ["ink", ground],
  ),
  ...[...WASHES, "diff-add", "diff-del"].map((ground): [string, string] => ["ink-soft", ground]),
  ...TONES.map((tone): [string, string] => [`tone-${tone}`, `tone-${tone}-wash`]),
  ["ink-faint", "accent-wash"],
  ["accent", "accent-wash"],
  ["accent-ink", "accent"],
  ["accent-ink", "accent-strong"],
];

const css = readFileSync("src/theme/tokens.css", "utf8");

function tokens(block: string): Map<string, string> {
  return new Map([...block.matchAll(/--([\w-]+): (oklch\([^)]*\))/g)].map((m) => [m[1]!, m[2]!]));
}

const [light = "", dark = ""] = css.split(':root[data-theme="dark"]');
const THEMES = { light: tokens(light), dark: tokens(dark) };

/** Relative luminance of `oklch(L C h)`; what a screen cannot show is cut off, as it does. */
function luminance(colour: string): number {
  const [l = 0, c = 0, h = 0] = colour.slice(6, -1).split(" ").map(Number);
  const a = c * Math.cos((h * Math.PI) / 180);
  const b = c * Math.sin((h * Math.PI) / 180);
  const [x, y, z] = [
    (l + 0.3963377774 * a + 0.2158037573 * b) ** 3,
    (l - 0.1055613458 * a - 0.0638541728 * b) ** 3,
    (l - 0.0894841775 * a - 1.291485548 * b) ** 3,
  ];
  const cut = (value: number) => Math.min(1, Math.max(0, value));
  const red = cut(4.0767416621 * x - 3.3077115913 * y + 0.2309699292 * z);
  const green = cut(-1.2684380046 * x + 2.6097574011 * y - 0.3413193965 * z);
  const blue = cut(-0.0041960863 * x - 0.7034186147 * y + 1.707614701 * z);
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(one: string, other: string): number {
  const [dim = 0, bright = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (bright + 0.05) / (dim + 0.05);
}

describe.each(Object.entries(THEMES))("the %s theme", (_, colours) => {
  it.each(PAIRS)("shows %s on %s", (text, ground) => {
    const [front, back] = [colours.get(text), colours.get(ground)];
    expect(front && back, "both are tokens").toBeTruthy();
    // Rounding to the screen's 256 steps may take a little.
    expect(contrast(front!, back!)).toBeGreaterThan(LEAST + 0.05);
  });
});

it("knows what black on white is", () => {
  expect(contrast("oklch(0 0 0)", "oklch(1 0 0)")).toBeCloseTo(21, 1);
});
