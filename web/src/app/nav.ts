import { useQuery } from "@tanstack/react-query";
import { CircleHelp, Inbox, ListChecks, Stamp, Workflow, type LucideIcon } from "lucide-react";

import { approvalsQuery } from "@/api/approvals";
import { orderPageQuery } from "@/api/orders";
import { inbox } from "@/lib/inbox";
import { useNow } from "@/lib/use-now";

export type NavPath = "/" | "/orders" | "/approvals" | "/workflows" | "/about";

export interface NavItem {
  to: NavPath;
  label: string;
  /** For the phone's bar. */
  short: string;
  icon: LucideIcon;
  keys: string;
  counts?: "needsYou" | "approvals";
  /** Read out after the count. */
  unit?: string;
}

export const NAV: readonly NavItem[] = [
  {
    to: "/",
    label: "Inbox",
    short: "Inbox",
    icon: Inbox,
    keys: "g i",
    counts: "needsYou",
    unit: "need you",
  },
  { to: "/orders", label: "Work orders", short: "Orders", icon: ListChecks, keys: "g o" },
  {
    to: "/approvals",
    label: "Approvals",
    short: "Approvals",
    icon: Stamp,
    keys: "g a",
    counts: "approvals",
    unit: "asked",
  },
  { to: "/workflows", label: "Workflows", short: "Workflows", icon: Workflow, keys: "g w" },
  { to: "/about", label: "About", short: "About", icon: CircleHelp, keys: "g b" },
];

export interface NavCounts {
  needsYou: number;
  approvals: number;
}

/** The same counting as the inbox page; events keep both fresh. */
export function useNavCounts(): NavCounts {
  const now = useNow();
  const approvals = useQuery(approvalsQuery()).data ?? [];
  // Apart, so that many failures cannot hide one that waits.
  const held = useQuery(orderPageQuery({ status: ["waiting", "paused"] }, 0)).data;
  const failed = useQuery(orderPageQuery({ status: ["failed"], sort: "updated_at" }, 0)).data;
  const stopped = [held, failed].flatMap((page) => page?.agent_work_orders ?? []);
  const { needsYou } = inbox(stopped, approvals, now);
  return {
    needsYou: needsYou.length,
    approvals: approvals.filter((one) => one.state === "asked").length,
  };
}

const MOST = 99;

export function shownCount(count: number): string {
  return count > MOST ? `${MOST}+` : String(count);
}
