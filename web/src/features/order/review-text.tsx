import { useQuery } from "@tanstack/react-query";

import { reviewQuery } from "@/api/orders";
import { clean } from "@/lib/text";
import { CodeBlock } from "@/ui/code";
import { SkeletonText } from "@/ui/skeleton";

/** What reviewers read, when no forge shows it to them. */
export function ReviewText({ orderId }: { orderId: string }) {
  const review = useQuery(reviewQuery(orderId));
  if (review.isPending) return <SkeletonText lines={4} />;
  if (!review.data) return <p className="text-ink-soft">There is no review.</p>;
  const { title, summary } = review.data;
  // Those of older servers may have a title alone.
  if (summary.trim() === "") return <p className="break-words">{clean(title)}</p>;
  return <CodeBlock label={`review ${title}`} text={summary} wrap className="max-h-72" />;
}
