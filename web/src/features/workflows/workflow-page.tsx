import { PageHeader } from "@/ui/page-header";

export function WorkflowPage() {
  return <PageHeader title="Workflow" />;
}
