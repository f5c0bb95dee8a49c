import type { WorkflowSummary } from "@/api/types";
import { Field } from "@/ui/field";
import { Link } from "@/ui/link";
import { SafeText } from "@/ui/safe-text";
import { Select } from "@/ui/select";

interface WorkflowChoiceProps {
  workflows: readonly WorkflowSummary[];
  value: string;
  error: string | undefined;
  onChange: (name: string) => void;
}

export function WorkflowChoice({ workflows, value, error, onChange }: WorkflowChoiceProps) {
  const chosen = workflows.find((one) => one.name === value);
  return (
    <Field
      label="Workflow"
      required
      error={error}
      hint={
        chosen && (
          <>
            <SafeText text={chosen.description} max={300} />{" "}
            <Link to="/workflows/$name" params={{ name: chosen.name }} className="underline">
              See its steps
            </Link>
          </>
        )
      }
    >
      <Select
        value={value}
        onValueChange={onChange}
        options={[
          ...(value === "" ? [{ value: "", label: "Choose…" }] : []),
          ...workflows.map((one) => ({ value: one.name, label: one.name })),
        ]}
      />
    </Field>
  );
}
