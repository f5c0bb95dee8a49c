import { useState } from "react";

import { clean, plural, truncate } from "@/lib/text";
import { duration } from "@/lib/time";
import { Button } from "@/ui/button";
import { Card } from "@/ui/card";
import { cx } from "@/ui/cx";
import { TONE_TEXT } from "@/ui/tone";
import { VirtualList } from "@/ui/virtual-list";

import { AnsiText } from "./ansi-text";
import { BoundedText } from "./bounded-text";
import { FoldOut } from "./fold-out";
import type { TestCase } from "./junit";
import { OUTCOME_LOOK } from "./test-looks";
import { failingFirst } from "./tests-model";

/** More failures than this are one failure. */
const MOST_SHOWN = 200;

export interface TestCasesProps {
  cases: readonly TestCase[];
  /** From a report; else only failures that were found in the output. */
  isComplete: boolean;
}

/** Failing tests first, with what they said; the others on request. */
export function TestCases({ cases, isComplete }: TestCasesProps) {
  const [all, setAll] = useState(false);
  const sorted = failingFirst(cases);
  const failing = sorted.filter((one) => one.outcome === "failed" || one.outcome === "error");
  const others = sorted.slice(failing.length);
  if (cases.length === 0) return null;
  return (
    <>
      {failing.length > 0 && (
        <Card
          title="Failing tests"
          description={isComplete ? undefined : "Found in the output; there is no report"}
          flush
        >
          <ul>
            {failing.slice(0, MOST_SHOWN).map((one, index) => (
              <FailingCase key={index} test={one} initially={index === 0} />
            ))}
          </ul>
          {failing.length > MOST_SHOWN && (
            <p className="px-4 py-2 text-[13px] text-ink-soft">
              {plural(failing.length - MOST_SHOWN, "more failing test")}, not shown.
            </p>
          )}
        </Card>
      )}
      {others.length > 0 && (
        <Card
          title="Other tests"
          description={plural(others.length, "test")}
          actions={
            <Button size="sm" aria-expanded={all} onClick={() => setAll(!all)}>
              {all ? "Hide" : "Show"}
            </Button>
          }
          flush
        >
          {all && (
            <VirtualList
              label="Tests that passed or were skipped"
              count={others.length}
              estimateSize={32}
              fixed
              className="max-h-96"
              renderRow={(index) => {
                const test = others[index];
                return test ? <CaseLine test={test} /> : null;
              }}
            />
          )}
        </Card>
      )}
    </>
  );
}

function CaseLine({ test }: { test: TestCase }) {
  const look = OUTCOME_LOOK[test.outcome];
  return (
    <div className="flex h-8 items-center gap-2 px-4">
      <look.icon aria-label={look.label} className={cx("size-4 shrink-0", TONE_TEXT[look.tone])} />
      <bdi className="min-w-0 flex-1 truncate font-mono text-xs">
        <CaseName test={test} />
      </bdi>
      <CaseTime test={test} />
      {test.outcome === "skipped" && test.message !== "" && (
        <span className="truncate text-xs text-ink-faint">
          {clean(truncate(test.message, 200))}
        </span>
      )}
    </div>
  );
}

function CaseName({ test }: { test: TestCase }) {
  return (
    <>
      {test.suite !== "" && (
        <span className="text-ink-faint">{clean(truncate(test.suite, 200))} › </span>
      )}
      {clean(truncate(test.name, 300))}
    </>
  );
}

function CaseTime({ test }: { test: TestCase }) {
  if (test.durationS === null) return null;
  return (
    <span className="shrink-0 text-xs leading-6 text-ink-faint tabular-nums">
      {duration(test.durationS * 1000)}
    </span>
  );
}

function FailingCase({ test, initially }: { test: TestCase; initially: boolean }) {
  return (
    <FoldOut
      icon={OUTCOME_LOOK[test.outcome]}
      title={
        <span className="block font-mono text-xs leading-5 font-normal">
          <CaseName test={test} />
        </span>
      }
      aside={<CaseTime test={test} />}
      initially={initially}
    >
      {() => <CaseDetails test={test} />}
    </FoldOut>
  );
}

function CaseDetails({ test }: { test: TestCase }) {
  return (
    <div className="px-4 py-3 sm:pl-10">
      {test.message !== "" && (
        <p className="mb-1 text-[13px] [overflow-wrap:anywhere] text-bad">
          <BoundedText text={test.message} max={1000} />
        </p>
      )}
      {test.details !== "" && (
        <div className="max-h-80 overflow-auto font-mono text-xs leading-5 [overflow-wrap:anywhere] whitespace-pre-wrap">
          <BoundedText text={test.details} draw={(part) => <AnsiText text={part} />} />
        </div>
      )}
      {test.message === "" && test.details === "" && (
        <p className="text-[13px] text-ink-soft">It said nothing more; see the output.</p>
      )}
    </div>
  );
}
