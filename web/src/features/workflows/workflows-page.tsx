import { useQuery } from "@tanstack/react-query";
import { Workflow as WorkflowIcon } from "lucide-react";

import { useMay } from "@/api/roles";
import type { WorkflowSummary } from "@/api/types";
import { workflowsQuery } from "@/api/workflows";
import { plural } from "@/lib/text";
import { Badge } from "@/ui/badge";
import { Card } from "@/ui/card";
import { Code } from "@/ui/code";
import { EmptyState } from "@/ui/empty-state";
import { ButtonLink, Link } from "@/ui/link";
import { Loaded } from "@/ui/loaded";
import { PageHeader } from "@/ui/page-header";
import { SafeText } from "@/ui/safe-text";

import { ORIGIN_WORDS } from "./model";

/** Every workflow that can be run here. */
export function WorkflowsPage() {
  const workflows = useQuery(workflowsQuery());
  return (
    <>
      <PageHeader
        title="Workflows"
        description="The steps that a work order takes, from request to reviewed branch."
      />
      <Loaded query={workflows} lines={8}>
        {(known) =>
          known.length === 0 ? (
            <EmptyState icon={WorkflowIcon} title="No workflows">
              Put a YAML file into the <Code>workflows</Code> folder of the data directory.
            </EmptyState>
          ) : (
            <ul className="grid gap-3 lg:grid-cols-2">
              {known.map((workflow) => (
                <li key={workflow.name} className="min-w-0">
                  <One workflow={workflow} />
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
    </>
  );
}

function One({ workflow }: { workflow: WorkflowSummary }) {
  const inputs = Object.keys(workflow.inputs).length;
  const { allowed: mayOperate } = useMay("operate");
  return (
    <Card className="h-full">
      <div className="flex flex-wrap items-start gap-2">
        <h2 className="min-w-0 flex-1 font-semibold break-all">
          <Link to="/workflows/$name" params={{ name: workflow.name }}>
            <SafeText text={workflow.name} max={120} />
          </Link>
        </h2>
        <Badge>{ORIGIN_WORDS[workflow.origin]}</Badge>
      </div>
      <p className="mt-1 text-ink-soft">
        <SafeText text={workflow.description} max={400} />
      </p>
      <div className="mt-3 flex flex-wrap items-center justify-between gap-2">
        <p className="text-[13px] text-ink-faint">
          {inputs === 0 ? "No inputs" : plural(inputs, "input")}
          {workflow.aliases.length > 0 && (
            <>
              {" · also "}
              <SafeText text={workflow.aliases.join(", ")} max={120} />
            </>
          )}
        </p>
        {mayOperate && (
          <ButtonLink
            to="/new"
            search={{ workflow: workflow.name }}
            size="sm"
            aria-label={`Use it: new work order with ${workflow.name}`}
          >
            Use it
          </ButtonLink>
        )}
      </div>
    </Card>
  );
}
