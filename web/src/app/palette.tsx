import { Search } from "lucide-react";
import { Dialog as Radix, VisuallyHidden } from "radix-ui";
import { useId, useLayoutEffect, useRef, useState, type ComponentProps } from "react";

import { useCommands, type Runnable } from "@/app/commands";
import { move } from "@/app/palette-model";
import { takeTypedAhead, textForPalette } from "./typed-ahead";
import { cx } from "@/ui/cx";
import { OVERLAY, PANEL } from "@/ui/dialog";
import { Kbd } from "@/ui/kbd";
import { useFocusReturn } from "@/ui/use-focus-return";

export interface PaletteProps {
  onClose: () => void;
  onShortcuts: () => void;
}

/** Type, choose, go. The focus stays in the field; arrows move the choice. */
export function Palette({ onClose, onShortcuts }: PaletteProps) {
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  const [query, setQuery] = useState("");
  const [chosen, setChosen] = useState(0);
  const giveFocusBack = useFocusReturn(true);
  const { commands, searching, error } = useCommands(query, onShortcuts);
  const at = Math.min(chosen, commands.length - 1);

  const run = (command: Runnable | undefined) => {
    if (!command) return;
    onClose();
    command.run();
  };
  const choose = (index: number) => {
    setChosen(index);
    list.current?.querySelector(`[data-at="${index}"]`)?.scrollIntoView({ block: "nearest" });
  };
  const onKeyDown = (event: React.KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    const next = move(event.key, at, commands.length);
    if (next !== null) choose(next);
    else if (event.key === "Enter") run(commands[at]);
    else return;
    event.preventDefault();
  };
  const status = error
    ? "Work orders could not be searched."
    : searching
      ? "Searching…"
      : commands.length === 0
        ? "Nothing matches."
        : `${commands.length} found`;

  return (
    <Radix.Root open onOpenChange={(open) => !open && onClose()}>
      <Radix.Portal>
        <Radix.Overlay className={OVERLAY} />
        <Radix.Content
          aria-describedby={undefined}
          onCloseAutoFocus={giveFocusBack}
          className={cx(PANEL, "top-[10dvh] max-h-[70dvh] max-w-xl overflow-hidden")}
        >
          <VisuallyHidden.Root>
            <Radix.Title>Search or jump</Radix.Title>
          </VisuallyHidden.Root>
          <div className="flex items-center gap-2.5 border-b border-line px-4">
            <Search aria-hidden className="size-4 shrink-0 text-ink-faint" />
            <QueryField
              onTypedAhead={setQuery}
              role="combobox"
              aria-label="Search work orders and commands"
              aria-expanded="true"
              aria-controls={`${id}-list`}
              aria-activedescendant={at >= 0 ? `${id}-${at}` : undefined}
              aria-autocomplete="list"
              autoComplete="off"
              spellCheck={false}
              placeholder="Search work orders, pages and commands"
              value={query}
              onChange={(event) => {
                setQuery(event.target.value);
                setChosen(0);
              }}
              onKeyDown={onKeyDown}
            />
          </div>
          <div
            ref={list}
            id={`${id}-list`}
            role="listbox"
            aria-label="Results"
            className="min-h-0 flex-1 overflow-y-auto p-1.5"
          >
            {commands.map((command, index) => (
              <Row
                key={command.id}
                id={`${id}-${index}`}
                at={index}
                command={command}
                heading={command.group !== commands[index - 1]?.group}
                selected={index === at}
                onPoint={() => setChosen(index)}
                onRun={() => run(command)}
              />
            ))}
          </div>
          <p role="status" className="border-t border-line px-4 py-1.5 text-xs text-ink-faint">
            {status}
          </p>
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

interface QueryFieldProps extends ComponentProps<"input"> {
  /** With what was typed for this field before it was there. */
  onTypedAhead: (text: string) => void;
}

function QueryField({ onTypedAhead, ...input }: QueryFieldProps) {
  const field = useRef<HTMLInputElement>(null);

  // Outside system: the keyboard. It changes hands in one go: no key is lost, and none falls through.
  useLayoutEffect(() => {
    field.current?.focus();
    const text = textForPalette(takeTypedAhead());
    if (text) onTypedAhead(text);
  }, [onTypedAhead]);

  return (
    <input
      ref={field}
      className="h-12 w-full min-w-0 bg-transparent outline-none placeholder:text-ink-faint max-sm:text-base"
      {...input}
    />
  );
}

interface RowProps {
  id: string;
  at: number;
  command: Runnable;
  heading: boolean;
  selected: boolean;
  onPoint: () => void;
  onRun: () => void;
}

function Row({ id, at, command, heading, selected, onPoint, onRun }: RowProps) {
  return (
    <>
      {heading && (
        <div role="presentation" className="px-2.5 pt-2 pb-1 text-xs text-ink-faint">
          {command.group}
        </div>
      )}
      <div
        id={id}
        data-at={at}
        role="option"
        aria-selected={selected}
        onPointerMove={onPoint}
        onClick={onRun}
        className={cx(
          "flex min-h-9 cursor-pointer items-center gap-2.5 rounded-md px-2.5 py-1",
          selected && "bg-hover",
        )}
      >
        <command.icon
          aria-hidden
          className={cx("size-4 shrink-0", selected ? "text-accent" : "text-ink-faint")}
        />
        <bdi className="min-w-0 flex-1 truncate">{command.label}</bdi>
        {command.detail && (
          <span className="max-w-40 shrink-0 truncate text-xs text-ink-faint">
            {command.detail}
          </span>
        )}
        {command.keys && <Kbd keys={command.keys} />}
      </div>
    </>
  );
}
