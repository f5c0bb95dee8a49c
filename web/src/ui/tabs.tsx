import { Tabs as Radix } from "radix-ui";
import type { ComponentProps } from "react";

import { cx } from "@/ui/cx";

/** `value` and `onValueChange` as in Radix; pages keep the value in the address. */
export function Tabs(props: ComponentProps<typeof Radix.Root>) {
  return <Radix.Root {...props} />;
}

/** Scrolls sideways when there is no room. `aria-label` is required. */
export function TabList({
  className,
  ...rest
}: ComponentProps<typeof Radix.List> & { "aria-label": string }) {
  return (
    <Radix.List
      className={cx(
        "flex gap-1 overflow-x-auto overflow-y-hidden border-b border-line [scrollbar-width:none]",
        className,
      )}
      {...rest}
    />
  );
}

export function Tab({ className, ...rest }: ComponentProps<typeof Radix.Trigger>) {
  return (
    <Radix.Trigger
      className={cx(
        "-mb-px inline-flex h-9 shrink-0 cursor-pointer items-center gap-1.5 border-b-2 border-transparent px-3 font-medium text-ink-soft -outline-offset-2 hover:text-ink",
        "data-[state=active]:border-accent data-[state=active]:text-ink",
        className,
      )}
      {...rest}
    />
  );
}

export function TabPanel({ className, ...rest }: ComponentProps<typeof Radix.Content>) {
  return <Radix.Content className={cx("pt-4", className)} {...rest} />;
}
