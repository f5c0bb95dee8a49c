import type { MouseEvent } from "react";

import type { OrderSummary } from "@/api/types";
import { orderTitle } from "@/lib/inbox";
import { SafeText } from "@/ui/safe-text";

/** It covers the row, so that a row opens wherever it is pressed, also in a new tab. */
const OPENS =
  "block truncate font-medium text-ink outline-none after:absolute after:inset-0 hover:underline hover:underline-offset-2 focus-visible:after:outline-2 focus-visible:after:-outline-offset-2 focus-visible:after:outline-focus";

/** A plain link: the router's own computes too much for rows that fly by. The list around it
 * gives its presses to the router by `openedBy`. */
export function OrderLink({ order }: { order: OrderSummary }) {
  const id = order.agent_work_order_id;
  return (
    <a href={`/orders/${encodeURIComponent(id)}`} data-opens={id} className={OPENS}>
      <SafeText text={orderTitle(order)} />
    </a>
  );
}

/** The order that a press is meant to open here; null if the browser should do what it does. */
export function openedBy(event: MouseEvent): string | null {
  const { target, button, ctrlKey, metaKey, shiftKey, altKey } = event;
  if (!(target instanceof Element)) return null;
  const link =
    target.closest<HTMLElement>("[data-opens]") ??
    // What lies above the link, for its own tooltip, opens the row too.
    target.closest("[data-index]")?.querySelector<HTMLElement>("[data-opens]");
  const isPlain = button === 0 && !ctrlKey && !metaKey && !shiftKey && !altKey;
  return (isPlain && link?.dataset["opens"]) || null;
}
