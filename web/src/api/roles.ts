import { useQuery } from "@tanstack/react-query";

import { may, whyNot, type Action } from "@/lib/roles";

import { sessionQuery } from "./session";

export interface Permission {
  allowed: boolean;
  /** Why it is not offered; null when it is. */
  why: string | null;
}

/** Whether who is signed in may do something. The shell asks who that is; this only reads it. */
export function useMay(action: Action): Permission {
  const role = useQuery({ ...sessionQuery(), enabled: false }).data?.role;
  const allowed = may(role, action);
  return { allowed, why: allowed ? null : whyNot(role, action) };
}
