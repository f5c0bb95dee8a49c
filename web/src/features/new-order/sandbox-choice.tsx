import { useQuery } from "@tanstack/react-query";

import { sandboxTypesQuery } from "@/api/parts";
import type { SandboxType } from "@/api/types";
import { Badge } from "@/ui/badge";
import { ErrorState } from "@/ui/error-state";
import { Field } from "@/ui/field";
import { RadioCards } from "@/ui/radio-cards";
import { SkeletonText } from "@/ui/skeleton";

interface SandboxChoiceProps {
  value: string;
  error: string | undefined;
  onChange: (value: string) => void;
}

const WORDS: Record<string, string> = {
  git_branch: "Own clone",
  git_worktree: "Light clone",
};

/** Where the agent works, each with what it keeps apart. */
export function SandboxChoice({ value, error, onChange }: SandboxChoiceProps) {
  const types = useQuery(sandboxTypesQuery());
  if (types.isPending) return <SkeletonText lines={4} />;
  if (types.isError) {
    return <ErrorState error={types.error} onRetry={() => void types.refetch()} />;
  }
  const chosen = value || types.data.find((type) => type.default)?.name || null;
  const available = types.data.filter((type) => type.available);
  const later = types.data.filter((type) => !type.available).map((type) => type.name);
  const isolation = types.data.find((type) => type.name === chosen)?.isolation;
  return (
    <Field label="Sandbox" group required error={error}>
      <RadioCards
        label="Sandbox"
        columns={2}
        value={chosen}
        onValueChange={onChange}
        cards={available.map((type) => ({
          value: type.name,
          title: title(type),
          description: type.isolation?.summary,
          aside: type.default ? <Badge>Default</Badge> : undefined,
        }))}
      />
      {isolation && (
        <dl className="mt-2 grid gap-x-4 gap-y-1.5 rounded-md bg-sunken px-3 py-2.5 text-[13px] sm:grid-cols-[6rem_minmax(0,1fr)]">
          {(["files", "processes", "network", "credentials"] as const).map((name) => (
            <div key={name} className="contents">
              <dt className="text-ink-faint capitalize">{name}</dt>
              <dd className="min-w-0 break-words max-sm:mb-1">{isolation[name]}</dd>
            </div>
          ))}
        </dl>
      )}
      {later.length > 0 && (
        <p className="text-[13px] text-ink-faint">Not in this version: {later.join(", ")}.</p>
      )}
    </Field>
  );
}

function title(type: SandboxType): string {
  const word = WORDS[type.name];
  return word === undefined ? type.name : `${word} (${type.name})`;
}
