/** Whether an order ended because a person said no: that is a decision, and nothing to mend. */
export function wasRejected(order: { status: string; error_code: string | null }): boolean {
  return order.status === "failed" && order.error_code === "approval_rejected";
}
