import { CircleAlert, LoaderCircle } from "lucide-react";

import { clean, truncate } from "@/lib/text";
import type { ToolBlock } from "./transcript";
import { Badge } from "@/ui/badge";

import { AnsiText } from "./ansi-text";
import { BoundedText, MarkedText } from "./bounded-text";
import { Folded, Part, type BlockProps } from "./transcript-parts";

/** A call with its arguments and its result, folded to one line. */
export function Tool(props: BlockProps & { block: ToolBlock }) {
  const { block, query } = props;
  return (
    <Folded
      {...props}
      summary={
        <>
          <span className="font-medium text-ink">{clean(truncate(block.name, 80))}</span>{" "}
          <span className="font-mono text-xs">
            <MarkedText text={clean(block.summary)} query={query} />
          </span>
        </>
      }
      aside={<Outcome block={block} isRunning={props.isRunning} />}
    >
      {block.input !== "" && (
        <Part title="Arguments" text={block.input}>
          <BoundedText text={block.input} query={query} />
        </Part>
      )}
      {block.result && (
        <Part title="Result" text={block.result.text}>
          {block.result.text === "" ? (
            <span className="text-ink-faint">It printed nothing.</span>
          ) : (
            <BoundedText
              text={block.result.text}
              draw={(text) => <AnsiText text={text} query={query} />}
            />
          )}
        </Part>
      )}
    </Folded>
  );
}

function Outcome({ block, isRunning }: { block: ToolBlock; isRunning: boolean }) {
  if (block.result === null) {
    if (!isRunning) return null;
    return (
      <Badge tone="active" icon={LoaderCircle} spin>
        At work
      </Badge>
    );
  }
  const { isError, exitCode } = block.result;
  if (!isError) return null;
  return (
    <Badge tone="bad" icon={CircleAlert}>
      {exitCode === null ? "Failed" : `Exit code ${exitCode}`}
    </Badge>
  );
}
