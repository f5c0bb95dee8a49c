import { duration, exact, relative } from "@/lib/time";
import { useNow } from "@/lib/use-now";
import { cx } from "@/ui/cx";

export interface RelativeTimeProps {
  value: string | null | undefined;
  /** Shown when there is no time. */
  none?: string;
  className?: string;
}

/** "3 minutes ago", kept fresh; the exact time on hover. */
export function RelativeTime({ value, none = "–", className }: RelativeTimeProps) {
  const now = useNow();
  if (!value) return <span className={className}>{none}</span>;
  return (
    <time dateTime={value} title={exact(value)} className={cx("whitespace-nowrap", className)}>
      {relative(value, now)}
    </time>
  );
}

export interface DurationProps {
  from: string | null | undefined;
  /** Without an end it counts on. */
  to?: string | null;
  none?: string;
  className?: string;
}

export function Duration({ from, to, none = "–", className }: DurationProps) {
  const now = useNow(to ? undefined : 1000);
  if (!from) return <span className={className}>{none}</span>;
  const spent = Math.max(0, (to ? Date.parse(to) : now) - Date.parse(from));
  return (
    <span
      title={to ? `${exact(from)} to ${exact(to)}` : `since ${exact(from)}`}
      className={cx("whitespace-nowrap tabular-nums", className)}
    >
      {duration(spent)}
    </span>
  );
}
