import { PageHeader } from "@/ui/page-header";

export function WorkflowsPage() {
  return <PageHeader title="Workflows" />;
}
