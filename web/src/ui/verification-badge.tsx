import { ShieldAlert, ShieldCheck, ShieldX } from "lucide-react";

import type { Verification } from "@/lib/states";
import { clean } from "@/lib/text";
import { Badge } from "@/ui/badge";
import type { Look } from "@/ui/tone";

const VERIFICATION_LOOK = {
  verified: { label: "Verified", icon: ShieldCheck, tone: "good" },
  unverified: { label: "Unverified", icon: ShieldAlert, tone: "attention" },
  failed: { label: "Tests failed", icon: ShieldX, tone: "bad" },
} satisfies Record<Verification, Look>;

interface VerificationBadgeProps {
  verification: Verification | null;
  /** Shown when one points at it. */
  reason?: string | null;
  className?: string;
}

/** Whether tests stand behind what an order changed; nothing while that is not known. */
export function VerificationBadge({ verification, reason, className }: VerificationBadgeProps) {
  if (verification === null || !Object.hasOwn(VERIFICATION_LOOK, verification)) return null;
  const look = VERIFICATION_LOOK[verification];
  return (
    <Badge
      tone={look.tone}
      icon={look.icon}
      className={className}
      title={reason ? clean(reason) : undefined}
    >
      {look.label}
    </Badge>
  );
}
