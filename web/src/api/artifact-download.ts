import { bodyOf, http } from "./client";

/** The bytes of an artifact. The address is made from the hash: one in an answer is not followed.
 *
 * A link would come without the page's secret, so the page reads it itself. Browsers keep large
 * contents on disk. */
export async function readArtifact(orderId: string, sha256: string): Promise<Blob> {
  const answer = http.GET("/api/agent-work-orders/{agent_work_order_id}/artifacts/{sha256}", {
    params: { path: { agent_work_order_id: orderId, sha256 } },
    parseAs: "blob",
  });
  // An empty one is an answer without a body.
  const content: Blob = await bodyOf(answer.then(({ data }) => ({ data: data ?? new Blob() })));
  // Whatever an agent made, it is never shown as a page of ours.
  return content.slice(0, content.size, "application/octet-stream");
}
