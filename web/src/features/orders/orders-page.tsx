import { PageHeader } from "@/ui/page-header";

export function OrdersPage() {
  return <PageHeader title="Work orders" />;
}
