import { isMac, keyCaps } from "@/lib/keys";

/** Keys to press together or one after the other: `mod+k`, `g i`. */
export function Kbd({ keys }: { keys: string }) {
  return (
    <span className="inline-flex shrink-0 items-center gap-1 text-[11px] text-ink-faint">
      {keyCaps(keys, isMac).map((cap, index) =>
        cap === "then" ? (
          <span key={index}>then</span>
        ) : (
          <kbd
            key={index}
            className="inline-flex h-5 min-w-5 items-center justify-center rounded border border-line bg-sunken px-1 font-sans text-ink-soft"
          >
            {cap}
          </kbd>
        ),
      )}
    </span>
  );
}
