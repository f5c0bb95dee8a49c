import { compact } from "@/lib/money";
import { clean, plural, truncate } from "@/lib/text";
import type { SystemBlock, UsageBlock } from "./transcript";
import { cx } from "@/ui/cx";
import { Money } from "@/ui/money";

import { AnsiText } from "./ansi-text";
import { BoundedText, MarkedText } from "./bounded-text";
import {
  BLOCK_LOOK,
  firstWords,
  Folded,
  Heading,
  MONO,
  PROSE,
  Said,
  type BlockProps,
} from "./transcript-parts";
import { Tool } from "./transcript-tool";

export function TranscriptBlock(props: BlockProps) {
  const { block, isHit } = props;
  return (
    <article
      aria-label={BLOCK_LOOK[block.kind].label}
      className={cx(
        "border-b border-line px-3 py-2 sm:px-4",
        block.kind === "prompt" && "bg-active-wash/40",
        block.kind === "error" && "bg-bad-wash",
        block.subagent && "border-l-4 border-l-line-strong pl-6",
        isHit && "ring-2 ring-accent ring-inset",
      )}
    >
      <Content {...props} />
    </article>
  );
}

function Content(props: BlockProps) {
  const { block, query } = props;
  switch (block.kind) {
    case "text":
      return (
        <Said block={block}>
          <BoundedText
            text={block.text}
            draw={(text) => <AnsiText text={text} query={query} />}
          />
        </Said>
      );
    case "error":
      return (
        <Said block={block}>
          <span className="text-bad">
            <BoundedText
              text={block.text}
              draw={(text) => <AnsiText text={text} query={query} />}
            />
          </span>
        </Said>
      );
    case "thinking":
    case "prompt":
      return (
        <Folded {...props} summary={firstWords(block.text)}>
          <div className={cx(PROSE, block.kind === "thinking" && "text-ink-soft italic")}>
            <BoundedText text={block.text} query={query} />
          </div>
        </Folded>
      );
    case "tool":
      return <Tool {...props} block={block} />;
    case "system":
      return <System {...props} block={block} />;
    case "usage":
      return <TurnUsage block={block} />;
  }
}

function System(props: BlockProps & { block: SystemBlock }) {
  const { block, query } = props;
  const isShort = block.text.length < 200 && !block.text.includes("\n");
  if (isShort && block.details.length === 0) {
    return (
      <div className="flex min-h-7 flex-wrap items-center gap-2 text-[13px] text-ink-soft">
        <Heading block={block} />
        <bdi className="min-w-0 [overflow-wrap:anywhere]">
          <MarkedText text={clean(block.text)} query={query} />
        </bdi>
      </div>
    );
  }
  return (
    <Folded {...props} summary={firstWords(block.text)}>
      <div className={MONO}>
        <BoundedText
          text={block.text}
          draw={(text) => <AnsiText text={text} query={query} />}
        />
      </div>
      {block.details.length > 0 && (
        <dl className="grid grid-cols-[auto_1fr] gap-x-4 font-mono text-xs">
          {block.details.map(([name, value]) => (
            <div key={name} className="contents">
              <dt className="text-ink-faint">{clean(truncate(name, 60))}</dt>
              <dd className={PROSE}>
                <BoundedText text={value} max={500} query={query} />
              </dd>
            </div>
          ))}
        </dl>
      )}
    </Folded>
  );
}

function TurnUsage({ block }: { block: UsageBlock }) {
  const { turns, inputTokens, outputTokens, costUsd } = block.usage;
  return (
    <div className="flex min-h-7 flex-wrap items-center gap-x-3 text-[13px] text-ink-soft">
      <Heading block={block} />
      {turns !== null && <span>{plural(turns, "turn")}</span>}
      {inputTokens !== null && <span>{compact(inputTokens)} tokens in</span>}
      {outputTokens !== null && <span>{compact(outputTokens)} tokens out</span>}
      {costUsd !== null && <Money usd={costUsd} />}
    </div>
  );
}
