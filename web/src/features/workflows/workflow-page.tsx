import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useCallback, useMemo, useState } from "react";

import { useMay } from "@/api/roles";
import type { Workflow } from "@/api/types";
import { workflowQuery } from "@/api/workflows";
import { foldTasks, fromWorkflow } from "@/lib/graph";
import { useMedia } from "@/lib/use-media";
import { Badge } from "@/ui/badge";
import { Card } from "@/ui/card";
import { CopyButton } from "@/ui/copy-button";
import { ButtonLink, Link } from "@/ui/link";
import { Loaded } from "@/ui/loaded";
import { PageHeader } from "@/ui/page-header";
import { SafeText } from "@/ui/safe-text";
import { TaskGraph } from "@/ui/task-graph/lazy";

import { ORIGIN_WORDS, scopesOf } from "./model";
import { StepDetails } from "./step-details";
import { VersionList } from "./version-list";
import { YamlSource } from "./yaml-source";

const route = getRouteApi("/workflows/$name");
const PHONE = "(max-width: 39.98rem)";

/** One workflow to read: its graph beside its source, and its versions. */
export function WorkflowPage() {
  const { name } = route.useParams();
  const workflow = useQuery(workflowQuery(name));
  const { allowed: mayOperate } = useMay("operate");
  return (
    <>
      <PageHeader
        title={<SafeText text={workflow.data?.name ?? name} max={120} />}
        documentTitle={name.slice(0, 80)}
        breadcrumbs={[
          <Link key="all" to="/workflows">
            Workflows
          </Link>,
        ]}
        description={workflow.data && <SafeText text={workflow.data.description} max={400} />}
        actions={
          workflow.data &&
          mayOperate && (
            <ButtonLink to="/new" search={{ workflow: workflow.data.name }} variant="primary">
              New work order
            </ButtonLink>
          )
        }
      />
      <Loaded
        query={workflow}
        lines={8}
        action={
          <ButtonLink to="/workflows" size="sm">
            All workflows
          </ButtonLink>
        }
      >
        {(shown) => <Body workflow={shown} />}
      </Loaded>
    </>
  );
}

function Body({ workflow }: { workflow: Workflow }) {
  const search = route.useSearch();
  return (
    <div className="flex flex-col gap-4">
      <div className="grid items-start gap-4 xl:grid-cols-[minmax(0,7fr)_minmax(0,5fr)]">
        <Steps workflow={workflow} selected={search.task ?? null} />
        <Card
          title="Source"
          flush
          actions={
            <>
              <Badge>{ORIGIN_WORDS[workflow.origin]}</Badge>
              <CopyButton text={workflow.source} label="Copy the source" />
            </>
          }
        >
          <YamlSource source={workflow.source} label={`Source of ${workflow.name}`} />
        </Card>
      </div>
      <Inputs workflow={workflow} />
      <VersionList
        name={workflow.name}
        source={workflow.source}
        hash={workflow.hash}
        wanted={search.version}
      />
    </div>
  );
}

function Steps({ workflow, selected }: { workflow: Workflow; selected: string | null }) {
  const navigate = route.useNavigate();
  const isPhone = useMedia(PHONE);
  const [open, setOpen] = useState(() => scopesOf(workflow.tasks));
  const graph = useMemo(
    () => foldTasks(fromWorkflow(workflow.tasks), open),
    [workflow.tasks, open],
  );
  const toggle = useCallback((id: string) => {
    setOpen((now) => {
      const next = new Set(now);
      if (!next.delete(id)) next.add(id);
      return next;
    });
  }, []);
  const select = useCallback(
    (task: string) =>
      void navigate({ search: (now) => ({ ...now, task }), replace: true, resetScroll: false }),
    [navigate],
  );
  const task = workflow.tasks.find((one) => one.id === selected);
  return (
    <Card title="Steps" flush>
      <TaskGraph
        className="h-80"
        label={`Graph of ${workflow.name}. The list below it has the same steps.`}
        graph={graph}
        direction={isPhone ? "down" : "right"}
        selected={selected}
        onSelect={select}
        onToggle={toggle}
      />
      <StepDetails tasks={workflow.tasks} selected={task ?? null} onSelect={select} />
    </Card>
  );
}

function Inputs({ workflow }: { workflow: Workflow }) {
  const inputs = Object.entries(workflow.inputs);
  if (inputs.length === 0) return null;
  return (
    <Card title="Inputs">
      <dl className="flex flex-col gap-2.5">
        {inputs.map(([name, input]) => (
          <div key={name} className="grid gap-x-3 sm:grid-cols-[12rem_minmax(0,1fr)]">
            <dt className="font-mono text-[13px] break-all">
              <SafeText text={name} max={80} />
            </dt>
            <dd className="text-ink-soft">
              {input.type}
              {input.required ? ", required" : ""}
              {input.description && (
                <>
                  {": "}
                  <SafeText text={input.description} max={400} />
                </>
              )}
            </dd>
          </div>
        ))}
      </dl>
    </Card>
  );
}
