import { useQuery } from "@tanstack/react-query";

import { agentsQuery } from "@/api/parts";
import { ErrorState } from "@/ui/error-state";
import { Field } from "@/ui/field";
import { Select } from "@/ui/select";
import { SkeletonText } from "@/ui/skeleton";
import { TextArea, TextInput } from "@/ui/text-input";

import type { Draft, Errors } from "./model";

interface AgentChoiceProps {
  draft: Draft;
  errors: Errors;
  onChange: (change: Partial<Draft>) => void;
}

/** Which agent does the work, with the options that it cannot do without. */
export function AgentChoice({ draft, errors, onChange }: AgentChoiceProps) {
  const agents = useQuery(agentsQuery());
  if (agents.isPending) return <SkeletonText lines={2} />;
  if (agents.isError) {
    return <ErrorState error={agents.error} onRetry={() => void agents.refetch()} />;
  }
  const standard = agents.data.find((agent) => agent.default);
  const chosen = agents.data.find((agent) => agent.name === (draft.agent || standard?.name));
  const needsMore = draft.agent === "command" || draft.agent === "scripted";
  return (
    <div className="flex flex-col gap-4">
      <Field
        label="Agent"
        required
        hint={chosen?.description}
        error={
          (chosen?.problem ?? null) !== null
            ? chosen?.problem
            : needsMore
              ? undefined
              : errors["agent"]
        }
      >
        <Select
          value={draft.agent}
          onValueChange={(agent) => onChange({ agent })}
          options={[
            { value: "", label: `Server's default (${standard?.name ?? "none"})` },
            ...agents.data.map((agent) => ({
              value: agent.name,
              label: agent.problem === null ? agent.name : `${agent.name} (not set up here)`,
            })),
          ]}
        />
      </Field>
      {draft.agent === "command" && (
        <Field
          label="Command"
          required
          hint="{prompt_file} or {prompt} is replaced; without either the prompt comes by standard input."
          error={errors["agent"]}
        >
          <TextInput
            mono
            maxLength={4000}
            placeholder="my-agent --task {prompt_file}"
            value={draft.agentCommand}
            onChange={(event) => onChange({ agentCommand: event.target.value })}
          />
        </Field>
      )}
      {draft.agent === "scripted" && (
        <Field
          label="Script"
          required
          hint="YAML that the agent follows: no model is asked. For rehearsals."
          error={errors["agent"]}
        >
          <TextArea
            mono
            rows={8}
            spellCheck={false}
            value={draft.agentScript}
            onChange={(event) => onChange({ agentScript: event.target.value })}
          />
        </Field>
      )}
    </div>
  );
}
