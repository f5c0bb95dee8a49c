import { certaintyWord, exactMoney, money, type CostCertainty } from "@/lib/money";
import { cx } from "@/ui/cx";

export interface MoneyProps {
  usd: number | null | undefined;
  /** How sure the amount is; without it, it is. */
  certainty?: CostCertainty;
  className?: string;
}

/** An amount in US dollars, short; the exact amount on hover. */
export function Money({ usd, certainty = "exact", className }: MoneyProps) {
  const word = certaintyWord(certainty);
  return (
    <span
      title={`${word}${exactMoney(usd)}`}
      className={cx("whitespace-nowrap tabular-nums", className)}
    >
      {word}
      {money(usd)}
    </span>
  );
}
