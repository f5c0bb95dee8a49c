import { CircleCheck, Send } from "lucide-react";
import { useRef, useState, type KeyboardEvent } from "react";

import { useSteer } from "@/api/orders";
import { asProblem } from "@/api/problem";
import { useMay } from "@/api/roles";
import type { Order } from "@/api/types";
import { useShortcuts } from "@/lib/shortcuts";
import { Button } from "@/ui/button";
import { Card } from "@/ui/card";
import { Field } from "@/ui/field";
import { Kbd } from "@/ui/kbd";
import { SafeText } from "@/ui/safe-text";
import { TextArea } from "@/ui/text-input";
import { promptable } from "./model";

/** The server's limit of a prompt. */
const MAX_CHARS = 64 * 1024;

/** Says something to the agent at work. */
export function PromptBox({ order }: { order: Order }) {
  const [text, setText] = useState("");
  const { prompt } = useSteer(order.agent_work_order_id);
  const box = useRef<HTMLTextAreaElement>(null);
  const { why } = useMay("operate");
  const state = promptable(order);
  const { accepted, says } = why === null ? state : { accepted: false, says: why };
  const isEmpty = text.trim() === "";

  useShortcuts(
    accepted
      ? [
          {
            keys: "c",
            label: "Write to the agent",
            group: "This order",
            run: () => {
              box.current?.scrollIntoView({ block: "nearest" });
              box.current?.focus();
            },
          },
        ]
      : [],
  );

  const send = () => {
    if (isEmpty || prompt.isPending) return;
    // The text stays until the server has it.
    prompt.mutate(text, { onSuccess: () => setText("") });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || !(event.metaKey || event.ctrlKey)) return;
    event.preventDefault();
    send();
  };
  if (!accepted) {
    return (
      <Card title="Write to the agent">
        <p className="text-ink-soft">{says}</p>
      </Card>
    );
  }
  const problem = prompt.error ? asProblem(prompt.error) : null;
  return (
    <Card title="Write to the agent">
      <Field
        label="Prompt"
        required
        hint={says}
        error={
          problem && (
            <>
              <SafeText text={problem.detail} max={500} />
              {problem.hint && (
                <span className="block text-ink-soft">
                  <SafeText text={problem.hint} max={500} />
                </span>
              )}
            </>
          )
        }
      >
        <TextArea
          ref={box}
          rows={3}
          value={text}
          maxLength={MAX_CHARS}
          placeholder="Use the existing date helper instead"
          onChange={(event) => {
            setText(event.target.value);
            if (prompt.isError || prompt.isSuccess) prompt.reset();
          }}
          onKeyDown={onKeyDown}
        />
      </Field>
      <div className="mt-3 flex flex-wrap items-center justify-between gap-2">
        <p role="status" className="flex min-w-0 items-center gap-1.5 text-[13px] text-ink-soft">
          {prompt.isPending && "Sending…"}
          {prompt.isSuccess && (
            <>
              <CircleCheck aria-hidden className="size-4 shrink-0 text-good" />
              <SafeText text={prompt.data.message || "Accepted"} max={200} />
            </>
          )}
          {prompt.isIdle && <Kbd keys="mod+enter" />}
        </p>
        <Button
          variant="primary"
          size="sm"
          icon={Send}
          busy={prompt.isPending}
          disabled={isEmpty}
          onClick={send}
        >
          Send
        </Button>
      </div>
    </Card>
  );
}
