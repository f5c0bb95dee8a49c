import type { WorkflowInput, WorkflowSummary } from "@/api/types";
import { Field } from "@/ui/field";
import { SafeText } from "@/ui/safe-text";
import { Select } from "@/ui/select";
import { TextArea, TextInput } from "@/ui/text-input";

import type { Draft, Errors } from "./model";

interface InputFieldsProps {
  workflow: WorkflowSummary;
  values: Draft["inputs"];
  errors: Errors;
  onChange: (name: string, value: string) => void;
}

/** A control for each input that the workflow declares. */
export function InputFields({ workflow, values, errors, onChange }: InputFieldsProps) {
  const inputs = Object.entries(workflow.inputs);
  return (
    <div className="flex flex-col gap-4">
      {inputs.map(([name, input]) => (
        <Field
          key={name}
          label={<SafeText text={name} max={80} />}
          required={input.required}
          hint={<Hint input={input} />}
          error={errors[`inputs.${name}`]}
        >
          <Control
            input={input}
            value={values[name] ?? ""}
            onChange={(value) => onChange(name, value)}
          />
        </Field>
      ))}
    </div>
  );
}

function Hint({ input }: { input: WorkflowInput }) {
  const standard = input.default === null ? "" : JSON.stringify(input.default);
  return (
    <>
      <SafeText text={input.description} max={400} />
      {standard !== "" && standard !== undefined && (
        <>
          {input.description && " · "}
          default <SafeText className="font-mono" text={standard} max={120} />
        </>
      )}
    </>
  );
}

interface ControlProps {
  input: WorkflowInput;
  value: string;
  onChange: (value: string) => void;
}

function Control({ input, value, onChange }: ControlProps) {
  const unset = { value: "", label: input.required ? "Choose…" : "Default" };
  if (input.enum) {
    const options = input.enum.map((one) => ({ value: String(one), label: String(one) }));
    return <Select value={value} onValueChange={onChange} options={[unset, ...options]} />;
  }
  if (input.type === "boolean") {
    const options = [unset, { value: "true", label: "Yes" }, { value: "false", label: "No" }];
    return <Select value={value} onValueChange={onChange} options={options} />;
  }
  if (input.type === "object" || input.type === "list") {
    return (
      <TextArea
        mono
        rows={3}
        spellCheck={false}
        placeholder={input.type === "list" ? "a, b, c or JSON" : "{}"}
        value={value}
        onChange={(event) => onChange(event.target.value)}
      />
    );
  }
  const isNumber = input.type === "integer" || input.type === "number";
  return (
    <TextInput
      inputMode={isNumber ? "decimal" : undefined}
      value={value}
      onChange={(event) => onChange(event.target.value)}
    />
  );
}
