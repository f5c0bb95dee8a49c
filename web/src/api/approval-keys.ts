export const approvalKeys = {
  all: () => ["approvals"] as const,
  asked: () => ["approvals", "asked"] as const,
  ofOrder: (orderId: string) => ["approvals", "order", orderId] as const,
  one: (approvalId: string) => ["approvals", "one", approvalId] as const,
};
