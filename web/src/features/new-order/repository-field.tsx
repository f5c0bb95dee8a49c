import { CircleCheck, CircleX, GitBranch, SearchCheck } from "lucide-react";
import { useId } from "react";

import { useVerifyRepository } from "@/api/parts";
import type { RepositoryVerification } from "@/api/types";
import { plural } from "@/lib/text";
import { Button } from "@/ui/button";
import { ErrorState } from "@/ui/error-state";
import { Field } from "@/ui/field";
import { SafeText } from "@/ui/safe-text";
import { TextInput } from "@/ui/text-input";

import type { Draft, Errors } from "./model";

interface RepositoryFieldProps {
  draft: Draft;
  errors: Errors;
  onChange: (change: Partial<Draft>) => void;
}

/** The repository, whether the server can read it, and the branch to start from. */
export function RepositoryField({ draft, errors, onChange }: RepositoryFieldProps) {
  const verify = useVerifyRepository();
  const branches = useId();
  const typed = draft.repository.trim();
  const asked = verify.variables?.trim();
  // What was found out about another address says nothing about this one.
  const found = asked === typed ? verify.data : undefined;
  const check = () => {
    if (typed !== "" && asked !== typed) verify.mutate(typed);
  };
  return (
    <div className="flex flex-col gap-4">
      <Field
        label="Repository"
        required
        hint="https, ssh, git@host:path, or a folder on the server's machine."
        error={errors["repository_url"]}
      >
        <div className="flex gap-2">
          <TextInput
            mono
            autoFocus={typed === ""}
            maxLength={2048}
            placeholder="https://github.com/team/project.git"
            value={draft.repository}
            onChange={(event) => onChange({ repository: event.target.value })}
            onBlur={check}
          />
          <Button
            icon={SearchCheck}
            busy={verify.isPending}
            disabled={typed === ""}
            onClick={() => verify.mutate(typed)}
          >
            Check
          </Button>
        </div>
      </Field>
      <div aria-live="polite" className="empty:hidden">
        {found && <Found found={found} />}
        {verify.isError && asked === typed && <ErrorState error={verify.error} />}
      </div>
      <Field
        label="Start from branch"
        hint={
          found?.verification_success
            ? `The default is ${found.repository.default_branch}.`
            : "The repository's default branch if left empty."
        }
        error={errors["base_branch"]}
      >
        <TextInput
          mono
          icon={GitBranch}
          maxLength={200}
          list={branches}
          placeholder={found?.repository.default_branch ?? "default branch"}
          value={draft.baseBranch}
          onChange={(event) => onChange({ baseBranch: event.target.value })}
        />
      </Field>
      <datalist id={branches}>
        {found?.repository.branches.map((branch) => (
          <option key={branch} value={branch} />
        ))}
      </datalist>
    </div>
  );
}

function Found({ found }: { found: RepositoryVerification }) {
  if (!found.verification_success) {
    return (
      <div className="flex gap-2 rounded-md bg-bad-wash px-3 py-2">
        <CircleX aria-hidden className="mt-0.5 size-4 shrink-0 text-bad" />
        <div className="min-w-0">
          <p className="font-medium break-words text-bad">
            <SafeText text={found.error_message ?? "The server cannot read it"} max={400} />
          </p>
          {found.error_hint && (
            <p className="break-words">
              <SafeText text={found.error_hint} max={400} />
            </p>
          )}
        </div>
      </div>
    );
  }
  const { repository } = found;
  return (
    <p className="flex gap-2 rounded-md bg-good-wash px-3 py-2">
      <CircleCheck aria-hidden className="mt-0.5 size-4 shrink-0 text-good" />
      <span className="min-w-0 break-words">
        The server can read{" "}
        <SafeText
          className="font-medium"
          text={`${repository.repository_owner}/${repository.repository_name}`}
          max={200}
        />
        : default branch{" "}
        <SafeText className="font-mono" text={repository.default_branch} max={100} />,{" "}
        {plural(repository.branches.length, "branch", "branches")}
        {repository.branches.length === 100 && " or more"}.
      </span>
    </p>
  );
}
