import type { ReactNode } from "react";

import { Card } from "@/ui/card";
import { Link } from "@/ui/link";
import { DoneItem, ReviewItem, RunningItem } from "./flowing-items";
import type { Item, Section, SectionName } from "./model";
import { NeedsYouItem } from "./needs-you-item";

const WORDS = {
  needsYou: { title: "Needs you", empty: "Nothing needs you now." },
  running: { title: "Running", empty: "Nothing is running." },
  inReview: { title: "In review", empty: "No new branch or pull request to look at." },
  done: { title: "Done", empty: "Nothing else is done yet." },
} satisfies Record<SectionName, { title: string; empty: string }>;

export function InboxSection({ section }: { section: Section }) {
  const { title, empty } = WORDS[section.name];
  if (section.items.length === 0) {
    return (
      <section
        aria-label={title}
        className="flex flex-wrap items-baseline gap-x-3 px-4 py-1 text-ink-soft"
      >
        <h2 className="text-sm font-semibold text-ink">{title}</h2>
        <p>{empty}</p>
        {section.more && <SeeAll section={section} title={title} />}
      </section>
    );
  }
  return (
    <Card
      flush
      title={
        <>
          {title} <span className="font-normal text-ink-faint tabular-nums">{section.count}</span>
        </>
      }
      actions={section.more && <SeeAll section={section} title={title} />}
    >
      <ul>{section.items.map((item) => itemOf(section.name, item))}</ul>
    </Card>
  );
}

function SeeAll({ section, title }: { section: Section; title: string }) {
  return (
    <Link
      to="/orders"
      search={{ status: section.statuses }}
      className="inline-flex min-h-6 items-center text-[13px]"
      aria-label={`See all: ${title.toLowerCase()}`}
    >
      See all
    </Link>
  );
}

const DRAWN = { running: RunningItem, inReview: ReviewItem, done: DoneItem } as const;

function itemOf(name: SectionName, item: Item): ReactNode {
  if (name === "needsYou") return <NeedsYouItem key={item.key} item={item} />;
  const Drawn = DRAWN[name];
  return item.order && <Drawn key={item.key} item={item} order={item.order} />;
}
