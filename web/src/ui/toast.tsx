import { CircleCheck, Info, OctagonAlert, TriangleAlert, X, type LucideIcon } from "lucide-react";
import { Toast as Radix } from "radix-ui";
import { useSyncExternalStore } from "react";

import { Button } from "@/ui/button";
import { cx } from "@/ui/cx";
import { IconButton } from "@/ui/icon-button";
import { SafeText } from "@/ui/safe-text";
import { TONE_TEXT, type Tone } from "@/ui/tone";

export interface ToastInput {
  title: string;
  description?: string;
  tone?: Extract<Tone, "neutral" | "good" | "attention" | "bad">;
  action?: { label: string; onSelect: () => void };
}

interface Shown extends ToastInput {
  id: number;
}

/** More than this at once is noise: the oldest goes. */
const MOST = 4;
const LIFE_MS = 6000;

let shown: readonly Shown[] = [];
let lastId = 0;
const watchers = new Set<() => void>();

function change(next: readonly Shown[]): void {
  shown = next;
  for (const watcher of watchers) watcher();
}

/** Says that something happened. Errors stay until they are dismissed. Returns a way to end it. */
export function toast(input: ToastInput): () => void {
  const id = ++lastId;
  const others = shown.filter(
    (one) => one.title !== input.title || one.description !== input.description,
  );
  change([...others, { ...input, id }].slice(-MOST));
  return () => dismiss(id);
}

export function dismissToasts(): void {
  change([]);
}

function dismiss(id: number): void {
  change(shown.filter((one) => one.id !== id));
}

function watch(watcher: () => void): () => void {
  watchers.add(watcher);
  return () => watchers.delete(watcher);
}

const ICON = {
  neutral: Info,
  good: CircleCheck,
  attention: TriangleAlert,
  bad: OctagonAlert,
} satisfies Record<NonNullable<ToastInput["tone"]>, LucideIcon>;

/** Once, at the root of the app. F8 brings the focus here. */
export function Toaster() {
  const list = useSyncExternalStore(watch, () => shown);
  return (
    <Radix.Provider swipeDirection="right" label="Notification">
      {list.map((one) => (
        <ToastCard key={one.id} one={one} />
      ))}
      <Radix.Viewport className="fixed right-4 bottom-4 z-60 flex w-96 max-w-[calc(100vw-2rem)] flex-col gap-2 outline-none max-md:bottom-20" />
    </Radix.Provider>
  );
}

function ToastCard({ one }: { one: Shown }) {
  const tone = one.tone ?? "neutral";
  const Icon = ICON[tone];
  return (
    <Radix.Root
      type={tone === "bad" ? "foreground" : "background"}
      duration={tone === "bad" ? Infinity : LIFE_MS}
      onOpenChange={(open) => {
        if (!open) dismiss(one.id);
      }}
      className="flex items-start gap-3 rounded-lg border border-line bg-raised py-3 pr-2 pl-4 shadow-float motion-safe:animate-rise"
    >
      <Icon aria-hidden className={cx("mt-0.5 size-4 shrink-0", TONE_TEXT[tone])} />
      <div className="min-w-0 flex-1">
        <Radix.Title className="font-medium break-words">
          <SafeText text={one.title} max={300} />
        </Radix.Title>
        {one.description && (
          <Radix.Description className="mt-0.5 text-[13px] break-words text-ink-soft">
            <SafeText text={one.description} max={500} />
          </Radix.Description>
        )}
        {one.action && (
          <Radix.Action asChild altText={one.action.label}>
            <Button size="sm" className="mt-2" onClick={one.action.onSelect}>
              {one.action.label}
            </Button>
          </Radix.Action>
        )}
      </div>
      <Radix.Close asChild>
        <IconButton label="Dismiss" icon={X} size="sm" />
      </Radix.Close>
    </Radix.Root>
  );
}
