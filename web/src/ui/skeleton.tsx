import { cx } from "@/ui/cx";

/** A still shape where something will stand. Put `aria-busy` on the region around it. No shortcut acts
 * while one is shown. */
export function Skeleton({ className }: { className?: string }) {
  return (
    <div
      aria-hidden
      data-testid="skeleton"
      data-loading
      className={cx("rounded-md bg-hover motion-safe:animate-pulse", className ?? "h-4 w-full")}
    />
  );
}

const WIDTHS = ["w-11/12", "w-full", "w-4/5", "w-10/12", "w-3/5"];

export function SkeletonText({ lines = 3, className }: { lines?: number; className?: string }) {
  return (
    <div aria-hidden className={cx("flex flex-col gap-2", className)}>
      {Array.from({ length: lines }, (_, index) => (
        <Skeleton key={index} className={cx("h-3.5", WIDTHS[index % WIDTHS.length])} />
      ))}
    </div>
  );
}
