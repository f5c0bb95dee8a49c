/** Numbers and pictures that a spec hands to the reporter. */

import type { TestInfo } from "@playwright/test";

/** A machine that others use as well measures them too: CI allows that much more time. */
export const TIME_SLACK = Number(process.env["E2E_TIME_SLACK"] ?? "1");

export interface Measure {
  name: string;
  value: number;
  unit: string;
  limit?: number;
}

export interface Shot {
  page: string;
  theme: "light" | "dark";
  viewport: "desktop" | "phone";
  state: "empty" | "full" | "error";
  file: string;
}

export function measured(info: TestInfo, measure: Measure): void {
  const rounded = { ...measure, value: Math.round(measure.value * 10) / 10 };
  info.annotations.push({ type: "measure", description: JSON.stringify(rounded) });
}

export function photographed(info: TestInfo, shot: Shot): void {
  info.annotations.push({ type: "screenshot", description: JSON.stringify(shot) });
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
