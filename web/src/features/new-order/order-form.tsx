import { useNavigate } from "@tanstack/react-router";
import { Rocket } from "lucide-react";
import { useState, type FormEvent } from "react";

import { useCreateOrder } from "@/api/orders";
import { asProblem } from "@/api/problem";
import type { WorkflowSummary } from "@/api/types";
import { Button } from "@/ui/button";
import { Card } from "@/ui/card";
import { ErrorState } from "@/ui/error-state";
import { Field } from "@/ui/field";
import { Kbd } from "@/ui/kbd";
import { Select } from "@/ui/select";
import { TextArea, TextInput } from "@/ui/text-input";
import { toast } from "@/ui/toast";

import { AgentChoice } from "./agent-choice";
import { InputFields } from "./input-fields";
import { errorsOf, fieldOf, PRIORITIES, requestOf, type Draft, type Errors } from "./model";
import { PREFERRED_WORKFLOW, isPriority } from "./model";
import { RepositoryField } from "./repository-field";
import { SandboxChoice } from "./sandbox-choice";
import { WorkflowChoice } from "./workflow-choice";

interface OrderFormProps {
  workflows: readonly WorkflowSummary[];
  initial: Draft;
}

/** The whole form. Errors show after the first try to send, then follow the typing. */
export function OrderForm({ workflows, initial }: OrderFormProps) {
  const [draft, setDraft] = useState(initial);
  const [tried, setTried] = useState(false);
  const create = useCreateOrder();
  const navigate = useNavigate();
  const name = draft.workflow || PREFERRED_WORKFLOW;
  const workflow = workflows.find((one) => one.name === name || one.aliases.includes(name));
  const refused = create.isError ? asProblem(create.error) : null;
  const place = fieldOf(refused?.field ?? null);
  const errors: Errors = {
    ...(refused && place
      ? { [place]: [refused.detail, refused.hint].filter(Boolean).join(". ") }
      : {}),
    ...(tried ? errorsOf(draft, workflow) : {}),
  };
  const change = (part: Partial<Draft>) => {
    setDraft((now) => ({ ...now, ...part }));
    if (create.isError) create.reset();
  };
  const send = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (create.isPending) return;
    setTried(true);
    const form = event.currentTarget;
    if (workflow === undefined || Object.keys(errorsOf(draft, workflow)).length > 0) {
      focusFirstError(form);
      return;
    }
    create.mutate(requestOf(draft, workflow), {
      onError: () => focusFirstError(form),
      onSuccess: (order) => {
        toast({ title: "Work order created", tone: "good" });
        void navigate({
          to: "/orders/$orderId",
          params: { orderId: order.agent_work_order_id },
        });
      },
    });
  };
  return (
    <form
      noValidate
      onSubmit={send}
      onKeyDown={(event) => {
        if (event.key === "Enter" && (event.metaKey || event.ctrlKey)) {
          event.currentTarget.requestSubmit();
        }
      }}
      className="flex max-w-4xl flex-col gap-4"
    >
      <Card title="Where">
        <RepositoryField draft={draft} errors={errors} onChange={change} />
      </Card>
      <Card title="What">
        <div className="flex flex-col gap-4">
          <Field
            label="What should be done?"
            hint="The agent reads it as it is. Say what to change and how to see that it works."
            error={errors["initial_prompt"]}
          >
            <TextArea
              rows={6}
              maxLength={65536}
              value={draft.prompt}
              onChange={(event) => change({ prompt: event.target.value })}
            />
          </Field>
          <WorkflowChoice
            workflows={workflows}
            value={workflow?.name ?? ""}
            error={errors["workflow_type"]}
            onChange={(chosen) => change({ workflow: chosen })}
          />
          {workflow && Object.keys(workflow.inputs).length > 0 && (
            <InputFields
              workflow={workflow}
              values={draft.inputs}
              errors={errors}
              onChange={(key, value) => change({ inputs: { ...draft.inputs, [key]: value } })}
            />
          )}
          <Details draft={draft} errors={errors} onChange={change} />
        </div>
      </Card>
      <Card title="How">
        <div className="flex flex-col gap-5">
          <AgentChoice draft={draft} errors={errors} onChange={change} />
          <SandboxChoice
            value={draft.sandbox}
            error={errors["sandbox_type"]}
            onChange={(sandbox) => change({ sandbox })}
          />
        </div>
      </Card>
      {refused && !place && <ErrorState error={refused} />}
      <div className="flex flex-wrap items-center gap-3">
        <Button type="submit" variant="primary" icon={Rocket} busy={create.isPending}>
          Create work order
        </Button>
        <span className="text-[13px] text-ink-faint max-sm:hidden">
          or <Kbd keys="mod+enter" />
        </span>
      </div>
    </form>
  );
}

interface DetailsProps {
  draft: Draft;
  errors: Errors;
  onChange: (part: Partial<Draft>) => void;
}

function Details({ draft, errors, onChange }: DetailsProps) {
  return (
    <div className="grid gap-4 sm:grid-cols-3">
      <Field label="Title" hint="For people; from the text if left out." error={errors["title"]}>
        <TextInput
          maxLength={200}
          value={draft.title}
          onChange={(event) => onChange({ title: event.target.value })}
        />
      </Field>
      <Field label="Issue number" error={errors["github_issue_number"]}>
        <TextInput
          inputMode="numeric"
          maxLength={12}
          placeholder="42"
          value={draft.issue}
          onChange={(event) => onChange({ issue: event.target.value })}
        />
      </Field>
      <Field label="Priority" required error={errors["priority"]}>
        <Select
          value={draft.priority}
          onValueChange={(value) => isPriority(value) && onChange({ priority: value })}
          options={PRIORITIES.map((one) => ({
            value: one,
            label: one.charAt(0).toUpperCase() + one.slice(1),
          }))}
        />
      </Field>
    </div>
  );
}

/** The errors are drawn with the next frame. */
function focusFirstError(form: HTMLFormElement): void {
  requestAnimationFrame(() => form.querySelector<HTMLElement>("[aria-invalid=true]")?.focus());
}
