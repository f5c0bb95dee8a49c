/**
 * What was pressed before the page's code was here. `public/keys.js` keeps it from the first moment
 * until the page takes it: the palette, whose field then has what was typed for it, or the listener
 * of shortcuts, for which those keys are none.
 */

import { isMac, pressed, type EarlyPress, type KeyPress } from "@/lib/keys";

interface Keeper {
  readonly presses: readonly EarlyPress[];
  stop(): void;
}

function keeper(): Keeper | undefined {
  return (globalThis as { awoTypedAhead?: Keeper }).awoTypedAhead;
}

/** What the keys ask for: the palette with this text in its field, or nothing (null). */
export function textForPalette(presses: readonly KeyPress[], mac = isMac): string | null {
  let text: string | null = null;
  for (const press of presses) {
    if (pressed(press) === (mac ? "meta+k" : "ctrl+k")) {
      if (!press.repeat) text = text === null ? "" : null;
    } else if (text === null || press.ctrlKey || press.metaKey) continue;
    else if (press.key === "Escape") text = null;
    else if (press.key === "Backspace") text = [...text].slice(0, -1).join("");
    // Enter chooses nothing here: nobody has seen yet what there is to choose.
    else if ([...press.key].length === 1) text += press.key;
  }
  return text;
}

/** Whether the palette has been asked for and is not there yet; the keys stay where they are. */
export function awaitsPalette(): boolean {
  return textForPalette(keeper()?.presses ?? []) !== null;
}

/** The keys so far. From now on they are the page's. */
export function takeTypedAhead(): readonly EarlyPress[] {
  const kept = keeper();
  if (kept === undefined) return [];
  kept.stop();
  delete (globalThis as { awoTypedAhead?: Keeper }).awoTypedAhead;
  return kept.presses;
}
