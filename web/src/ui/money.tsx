import { exactMoney, money } from "@/lib/money";
import { cx } from "@/ui/cx";

export interface MoneyProps {
  usd: number | null | undefined;
  className?: string;
}

/** An amount in US dollars, short; the exact amount on hover. */
export function Money({ usd, className }: MoneyProps) {
  return (
    <span title={exactMoney(usd)} className={cx("whitespace-nowrap tabular-nums", className)}>
      {money(usd)}
    </span>
  );
}
