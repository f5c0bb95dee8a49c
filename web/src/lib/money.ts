/** Costs in dollars. Small ones keep the digits that matter; they add up. */

export type CostCertainty = "exact" | "estimated" | "at_least";

const CERTAINTY_WORDS = {
  exact: "",
  estimated: "about ",
  at_least: "at least ",
} satisfies Record<CostCertainty, string>;

/** Before an amount: what is not known is said. */
export function certaintyWord(certainty: CostCertainty): string {
  return CERTAINTY_WORDS[certainty];
}

/** "$0.00", "<$0.01", "$0.42", "$12.50", "$1,204". */
export function money(usd: number | null | undefined): string {
  if (usd === null || usd === undefined || !Number.isFinite(usd)) return "—";
  const amount = Math.abs(usd);
  const sign = usd < 0 && amount >= 0.005 ? "−" : "";
  if (amount === 0) return "$0.00";
  if (amount < 0.01) return "<$0.01";
  const digits = Math.round(amount * 100) >= 100_000 ? 0 : 2;
  const options = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  return `${sign}$${amount.toLocaleString("en-US", options)}`;
}

/** With every digit that was measured, for tooltips: "$0.004217". */
export function exactMoney(usd: number | null | undefined): string {
  if (usd === null || usd === undefined || !Number.isFinite(usd)) return "—";
  const sign = usd < 0 ? "−" : "";
  const options = { minimumFractionDigits: 2, maximumFractionDigits: 6 };
  return `${sign}$${Math.abs(usd).toLocaleString("en-US", options)}`;
}

/** "950", "12.4k", "3.1M": tokens. */
export function compact(count: number | null | undefined): string {
  if (count === null || count === undefined || !Number.isFinite(count)) return "—";
  const units: [number, string][] = [
    [1e9, "B"],
    [1e6, "M"],
    [1e3, "k"],
  ];
  for (const [size, unit] of units) {
    // Rounding up must not give "1000k".
    if (Math.abs(count) >= size * 0.99995) return `${Number((count / size).toFixed(1))}${unit}`;
  }
  return `${Math.round(count)}`;
}
