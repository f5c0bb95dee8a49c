import type { LucideIcon } from "lucide-react";

/** What a colour says. Never the only way it is said: an icon and a word stand beside it. */
export type Tone = "neutral" | "active" | "attention" | "good" | "bad" | "quiet";

export interface Look {
  label: string;
  icon: LucideIcon;
  tone: Tone;
}

export const TONE_WASH = {
  neutral: "bg-neutral-wash text-neutral",
  active: "bg-active-wash text-active",
  attention: "bg-attention-wash text-attention",
  good: "bg-good-wash text-good",
  bad: "bg-bad-wash text-bad",
  quiet: "bg-quiet-wash text-quiet",
} satisfies Record<Tone, string>;

export const TONE_TEXT = {
  neutral: "text-neutral",
  active: "text-active",
  attention: "text-attention",
  good: "text-good",
  bad: "text-bad",
  quiet: "text-quiet",
} satisfies Record<Tone, string>;

export const TONE_BORDER = {
  neutral: "border-neutral",
  active: "border-active",
  attention: "border-attention",
  good: "border-good",
  bad: "border-bad",
  quiet: "border-quiet",
} satisfies Record<Tone, string>;
