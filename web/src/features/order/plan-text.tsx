import { useQuery } from "@tanstack/react-query";

import { diffQuery } from "@/api/orders";
import { CodeBlock } from "@/ui/code";
import { SkeletonText } from "@/ui/skeleton";
import { planFromDiff } from "./plan-model";

/** The plan that the agent wrote and committed. Its code comes with the diff's, on demand. */
export function PlanText({ orderId }: { orderId: string }) {
  const diff = useQuery(diffQuery(orderId));
  if (diff.isPending) return <SkeletonText lines={4} />;
  const plan = planFromDiff(typeof diff.data === "object" ? diff.data.diff : "");
  if (plan === null) return <p className="text-ink-soft">No plan was committed.</p>;
  return <CodeBlock label={plan.path} text={plan.text} wrap className="max-h-72" />;
}
