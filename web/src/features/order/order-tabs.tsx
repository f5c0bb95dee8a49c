import { Suspense, type ReactNode } from "react";

import type { Order } from "@/api/types";
import { late } from "@/lib/late-code";
import { Arriving } from "@/ui/arriving";
import { Skeleton } from "@/ui/skeleton";
import { Tab, TabList, TabPanel, Tabs } from "@/ui/tabs";
import { TAB_LABELS, tabOf, TABS, type EvidenceView, type TabName } from "./model";

const GitPanel = late(async () => (await import("./evidence/git-panel")).GitPanel);
const DiffPanel = late(async () => (await import("./evidence/diff-panel")).DiffPanel);
const TranscriptPanel = late(
  async () => (await import("./evidence/transcript-panel")).TranscriptPanel,
);
const LogsPanel = late(async () => (await import("./evidence/logs-panel")).LogsPanel);
const TestsPanel = late(async () => (await import("./evidence/tests-panel")).TestsPanel);
const ArtifactsPanel = late(
  async () => (await import("./evidence/artifacts-panel")).ArtifactsPanel,
);
const CostPanel = late(async () => (await import("./evidence/cost-panel")).CostPanel);

export interface OrderTabsProps {
  order: Order;
  tab: TabName;
  onTab: (tab: TabName) => void;
  overview: ReactNode;
  /** What the address says of the evidence. */
  view: EvidenceView;
  onView: (change: Partial<EvidenceView>) => void;
}

/** The parts of the page; the one that is shown stands in the address. */
export function OrderTabs({ order, tab, onTab, overview, view, onView }: OrderTabsProps) {
  const panel = { orderId: order.agent_work_order_id, order };
  return (
    <Tabs value={tab} onValueChange={(next) => onTab(tabOf(next))}>
      <TabList aria-label="Parts of the order">
        {TABS.map((one) => (
          <Tab key={one} value={one}>
            {TAB_LABELS[one]}
          </Tab>
        ))}
      </TabList>
      <TabPanel value="overview">{overview}</TabPanel>
      <Part value="changes">
        <div className="space-y-4">
          <GitPanel {...panel} />
          <DiffPanel {...panel} />
        </div>
      </Part>
      <Part value="transcript">
        <TranscriptPanel {...panel} task={view.task} onTask={(task) => onView({ task })} />
      </Part>
      <Part value="logs">
        <LogsPanel {...panel} view={view} onView={onView} />
      </Part>
      <Part value="tests">
        <TestsPanel {...panel} />
      </Part>
      <Part value="artifacts">
        <ArtifactsPanel {...panel} />
      </Part>
      <Part value="cost">
        <CostPanel {...panel} />
      </Part>
    </Tabs>
  );
}

function Part({ value, children }: { value: TabName; children: ReactNode }) {
  return (
    <TabPanel value={value}>
      <Suspense
        fallback={
          <Arriving label="Loading">
            <Skeleton className="h-72 w-full" />
          </Arriving>
        }
      >
        {children}
      </Suspense>
    </TabPanel>
  );
}
