/** The focus among the items on screen. They are found in the page itself, in reading order, so
 * that what is live may come and go in between. */

import type { MouseEvent } from "react";

const ITEM = "[data-inbox-item]";
const OPENER = "[data-opens]";
const ACTION = "button[data-quick-action]";

function focusOn(item: Element | undefined): boolean {
  const opener = item?.querySelector<HTMLElement>(OPENER);
  opener?.focus();
  opener?.scrollIntoView({ block: "nearest" });
  return opener !== undefined && opener !== null;
}

function focused(): Element | null {
  return document.activeElement?.closest(ITEM) ?? null;
}

/** To the next item or the one before; at an end it stays. */
export function moveFocus(step: 1 | -1): void {
  const items = [...document.querySelectorAll(ITEM)];
  const current = focused();
  const at = current === null ? -1 : items.indexOf(current);
  const next = at < 0 ? (step === 1 ? 0 : items.length - 1) : at + step;
  focusOn(items[Math.min(Math.max(0, next), items.length - 1)]);
}

/** Presses the button of the focused item, if it has one. */
export function actOnFocused(): void {
  focused()?.querySelector<HTMLButtonElement>(ACTION)?.click();
}

/** An item that is dealt with goes to another list: its neighbour takes the focus over. */
export function leaveItem(within: Element): void {
  const item = within.closest(ITEM);
  if (item === null || !item.contains(document.activeElement)) return;
  const neighbours = [item.nextElementSibling, item.previousElementSibling];
  if (neighbours.some((one) => focusOn(one ?? undefined))) return;
  document.querySelector<HTMLElement>("h1")?.focus({ preventScroll: true });
}

/** What lies above an item's link, for its own tooltip, opens the item too. */
export function openItem(event: MouseEvent): void {
  if (!(event.target instanceof Element) || event.target.closest("a, button")) return;
  const { ctrlKey, metaKey, shiftKey } = event;
  const press = { bubbles: true, cancelable: true, ctrlKey, metaKey, shiftKey };
  const opener = event.target.closest(ITEM)?.querySelector(OPENER);
  opener?.dispatchEvent(new window.MouseEvent("click", press));
}
