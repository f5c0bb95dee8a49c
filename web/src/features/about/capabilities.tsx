import { useQuery } from "@tanstack/react-query";
import { CircleCheck, TriangleAlert } from "lucide-react";

import { agentsQuery, sandboxTypesQuery } from "@/api/parts";
import type { Agent, SandboxType } from "@/api/types";
import { Badge } from "@/ui/badge";
import { Card } from "@/ui/card";
import { Code } from "@/ui/code";
import { Loaded } from "@/ui/loaded";

/** Agents that orders can be given to, and whether each can run here. */
export function Agents() {
  const agents = useQuery(agentsQuery());
  return (
    <Card title="Agents">
      <Loaded query={agents} lines={4} bare>
        {(known) => <AgentList agents={known} />}
      </Loaded>
    </Card>
  );
}

function AgentList({ agents }: { agents: readonly Agent[] }) {
  return (
    <ul className="flex flex-col gap-3">
      {agents.map((agent) => (
        <li key={agent.name}>
          <p className="flex flex-wrap items-center gap-2">
            <Code>{agent.name}</Code>
            {agent.default && <Badge tone="neutral">Default</Badge>}
            {agent.problem === null ? (
              <Badge tone="good" icon={CircleCheck}>
                Can run
              </Badge>
            ) : (
              <Badge tone="attention" icon={TriangleAlert}>
                Not set up
              </Badge>
            )}
          </p>
          <p className="mt-0.5 text-[13px] text-ink-soft">{agent.problem ?? agent.description}</p>
        </li>
      ))}
    </ul>
  );
}

/** Kinds of sandboxes, and what each keeps apart. */
export function Sandboxes() {
  const types = useQuery(sandboxTypesQuery());
  return (
    <Card title="Sandboxes">
      <Loaded query={types} lines={4} bare>
        {(known) => <SandboxList types={known} />}
      </Loaded>
    </Card>
  );
}

function SandboxList({ types }: { types: readonly SandboxType[] }) {
  return (
    <ul className="flex flex-col gap-2">
      {types.map((type) => (
        <li key={type.name}>
          <p className="flex flex-wrap items-center gap-2">
            <Code>{type.name}</Code>
            {type.default && <Badge tone="neutral">Default</Badge>}
            {!type.available && <Badge tone="quiet">Planned</Badge>}
          </p>
          {type.isolation && (
            <p className="mt-0.5 text-[13px] text-ink-soft">{type.isolation.summary}</p>
          )}
        </li>
      ))}
    </ul>
  );
}
