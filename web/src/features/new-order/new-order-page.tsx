import { PageHeader } from "@/ui/page-header";

export function NewOrderPage() {
  return <PageHeader title="New work order" />;
}
