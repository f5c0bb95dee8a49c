import { ChevronDown, ChevronUp, Search } from "lucide-react";

import { clean, truncateMiddle } from "@/lib/text";
import { IconButton } from "@/ui/icon-button";
import { Select } from "@/ui/select";
import { TASK_LOOK } from "@/ui/status";
import { TextInput } from "@/ui/text-input";

import type { TranscriptChoice } from "./transcript-model";

export interface TranscriptToolbarProps {
  choices: readonly TranscriptChoice[];
  chosen: TranscriptChoice;
  onChoose: (name: string) => void;
  query: string;
  onQuery: (query: string) => void;
  /** Which of the found blocks is looked at. */
  hit: number;
  hits: number;
  onStep: (step: 1 | -1) => void;
}

export function TranscriptToolbar(props: TranscriptToolbarProps) {
  const { choices, chosen, onChoose, query, onQuery, hit, hits, onStep } = props;
  const found = hits === 0 ? "Nothing found" : `${hit + 1} of ${hits.toLocaleString("en-US")}`;
  return (
    <div className="flex flex-wrap items-center gap-2 border-b border-line p-2">
      <Select
        aria-label="Transcript of which task"
        className="min-w-40 flex-1 sm:max-w-80"
        value={chosen.name}
        onValueChange={onChoose}
        options={choices.map((choice) => ({ value: choice.name, label: labelOf(choice) }))}
      />
      <div className="min-w-40 flex-1 sm:ml-auto sm:max-w-64">
        <TextInput
          icon={Search}
          type="search"
          aria-label="Search the transcript"
          placeholder="Search the transcript"
          maxLength={200}
          value={query}
          onChange={(event) => onQuery(event.target.value)}
          onKeyDown={(event) => {
            if (event.key !== "Enter") return;
            event.preventDefault();
            onStep(event.shiftKey ? -1 : 1);
          }}
        />
      </div>
      {query.trim() !== "" && (
        <div className="flex items-center gap-1">
          <span role="status" className="text-xs whitespace-nowrap text-ink-soft tabular-nums">
            {found}
          </span>
          <IconButton
            size="sm"
            icon={ChevronUp}
            label="Previous match"
            disabled={hits === 0}
            onClick={() => onStep(-1)}
          />
          <IconButton
            size="sm"
            icon={ChevronDown}
            label="Next match"
            disabled={hits === 0}
            onClick={() => onStep(1)}
          />
        </div>
      )}
    </div>
  );
}

function labelOf({ name, state }: TranscriptChoice): string {
  const shown = truncateMiddle(clean(name), 60);
  return state === null ? shown : `${shown} (${TASK_LOOK[state].label.toLowerCase()})`;
}
