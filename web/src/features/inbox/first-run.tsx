import { ListChecks, Plus } from "lucide-react";

import { useMay } from "@/api/roles";
import { Card } from "@/ui/card";
import { Code } from "@/ui/code";
import { CopyButton } from "@/ui/copy-button";
import { ButtonLink } from "@/ui/link";

const COMMANDS = [
  {
    text: "awo demo",
    says: "Watch a whole order on a sample repository, with a scripted agent: no model, no key.",
  },
  {
    text: 'awo run "Fix the failing test" --repo .',
    says: "Give an agent work in the repository you are in, from the terminal.",
  },
];

/** For somebody who has just started the server. */
export function FirstRun() {
  const { why } = useMay("operate");
  return (
    <Card>
      <div className="mx-auto max-w-2xl py-6">
        <div className="mb-3 flex size-10 items-center justify-center rounded-full bg-accent-wash">
          <ListChecks aria-hidden className="size-5 text-accent" />
        </div>
        <h2 className="text-base font-semibold">Give a coding agent its first work order</h2>
        <p className="mt-1 text-ink-soft">
          A work order is a task for an agent in one of your repositories. It plans, changes code on
          its own branch and tests it, while you watch, steer and approve. What needs you will stand
          here first.
        </p>
        {why === null ? (
          <ButtonLink to="/new" variant="primary" className="mt-4">
            <Plus aria-hidden className="size-4" />
            Create your first work order
          </ButtonLink>
        ) : (
          <p className="mt-4">{why}</p>
        )}
        <h3 className="mt-7 mb-2 text-[13px] font-medium text-ink-faint">
          {why === null ? "Or from a terminal" : "From a terminal on the server"}
        </h3>
        <ul className="flex flex-col gap-3">
          {COMMANDS.map(({ text, says }) => (
            <li key={text} className="rounded-md border border-line px-3 py-2">
              <div className="flex items-center justify-between gap-2">
                <Code className="min-w-0 bg-transparent px-0">{text}</Code>
                <CopyButton text={text} label={`Copy “${text}”`} />
              </div>
              <p className="text-[13px] text-ink-soft">{says}</p>
            </li>
          ))}
        </ul>
      </div>
    </Card>
  );
}
