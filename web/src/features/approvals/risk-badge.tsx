import { ShieldAlert, ShieldCheck, ShieldQuestion } from "lucide-react";

import { Badge } from "@/ui/badge";
import type { Look } from "@/ui/tone";

const LOOK = {
  low: { label: "Low risk", icon: ShieldCheck, tone: "neutral" },
  medium: { label: "Medium risk", icon: ShieldQuestion, tone: "attention" },
  high: { label: "High risk", icon: ShieldAlert, tone: "bad" },
} satisfies Record<"low" | "medium" | "high", Look>;

export function RiskBadge({ risk }: { risk: "low" | "medium" | "high" }) {
  const look = LOOK[risk];
  return (
    <Badge tone={look.tone} icon={look.icon}>
      {look.label}
    </Badge>
  );
}
