import { useMay } from "@/api/roles";
import { useShortcuts } from "@/lib/shortcuts";
import { Card } from "@/ui/card";
import { ErrorState } from "@/ui/error-state";
import { PageHeader } from "@/ui/page-header";
import { Skeleton } from "@/ui/skeleton";
import { FirstRun } from "./first-run";
import { InboxSection } from "./inbox-section";
import { actOnFocused, moveFocus } from "./item-focus";
import { useInbox, type InboxState } from "./use-inbox";

/** What needs a person first, then all that goes on by itself. */
export function InboxPage() {
  const state = useInbox();
  const { allowed: mayOperate } = useMay("operate");
  useShortcuts([
    { keys: "j", label: "Next item (Enter opens it)", run: () => moveFocus(1) },
    { keys: "k", label: "Item before", run: () => moveFocus(-1) },
    ...(mayOperate ? [{ keys: "r", label: "Retry or resume the item", run: actOnFocused }] : []),
  ]);
  return (
    <>
      <PageHeader title="Inbox" description={describe(state)} />
      <Shown state={state} />
    </>
  );
}

function describe(state: InboxState): string | undefined {
  if (state.is !== "ready") return undefined;
  const needsYou = state.sections.find((one) => one.name === "needsYou");
  if (!needsYou || needsYou.items.length === 0) return "Nothing needs you now.";
  return needsYou.count === "1" ? "One thing needs you." : `${needsYou.count} things need you.`;
}

function Shown({ state }: { state: InboxState }) {
  switch (state.is) {
    case "loading":
      return <Loading />;
    case "failed":
      return <ErrorState error={state.error} onRetry={state.retry} retrying={state.retrying} />;
    case "first-run":
      return <FirstRun />;
    case "ready":
      return (
        <div className="flex flex-col gap-4">
          {state.sections.map((section) => (
            <InboxSection key={section.name} section={section} />
          ))}
        </div>
      );
  }
}

function Loading() {
  return (
    <div
      role="status"
      aria-busy="true"
      aria-label="Loading the inbox"
      className="flex flex-col gap-4"
    >
      {[3, 2, 2].map((rows, index) => (
        <Card key={index} flush>
          <div className="border-b border-line px-4 py-3">
            <Skeleton className="h-4 w-24" />
          </div>
          {Array.from({ length: rows }, (_, row) => (
            <div key={row} className="flex gap-4 border-b border-line px-4 py-3 last:border-0">
              <Skeleton className="h-5.5 w-24 shrink-0 rounded-full" />
              <div className="flex flex-1 flex-col gap-2">
                <Skeleton className="h-4 w-2/3" />
                <Skeleton className="h-3.5 w-2/5" />
              </div>
            </div>
          ))}
        </Card>
      ))}
    </div>
  );
}
