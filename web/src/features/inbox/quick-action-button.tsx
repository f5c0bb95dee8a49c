import { Play, RotateCcw } from "lucide-react";

import { useSteer } from "@/api/orders";
import { asProblem } from "@/api/problem";
import { useMay } from "@/api/roles";
import { Button } from "@/ui/button";
import { toast } from "@/ui/toast";
import { leaveItem } from "./item-focus";
import type { QuickAction } from "./model";

const WORDS = {
  retry: { label: "Retry", icon: RotateCcw, done: "Trying again", refused: "It was not retried" },
  resume: { label: "Resume", icon: Play, done: "It goes on", refused: "It was not resumed" },
} as const satisfies Record<QuickAction, object>;

interface QuickActionButtonProps {
  orderId: string;
  title: string;
  action: QuickAction;
}

/** The order moves to what runs at once; if the server refuses, it comes back with the reason. */
export function QuickActionButton({ orderId, title, action }: QuickActionButtonProps) {
  const steer = useSteer(orderId, { quiet: true })[action];
  const { allowed } = useMay("operate");
  const { label, icon, done, refused } = WORDS[action];
  const act = async () => {
    try {
      await steer.mutateAsync();
      toast({ title: done, description: title });
    } catch (error) {
      const { detail, hint } = asProblem(error);
      const description = [title, detail, hint].filter(Boolean).join(". ");
      toast({ tone: "bad", title: refused, description });
    }
  };
  if (!allowed) return null;
  return (
    <Button
      size="sm"
      icon={icon}
      busy={steer.isPending}
      data-quick-action=""
      aria-label={`${label}: ${title}`}
      className="relative"
      onClick={(event) => {
        leaveItem(event.currentTarget);
        void act();
      }}
    >
      {label}
    </Button>
  );
}
