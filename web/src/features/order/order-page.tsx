import { PageHeader } from "@/ui/page-header";

export function OrderPage() {
  return <PageHeader title="Work order" />;
}
