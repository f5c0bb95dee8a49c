/** The one thing about an order's state that a person must know first. */

import type { Order } from "@/api/types";
import { explainWaiting, guidance } from "@/lib/explain";
import type { Tone } from "@/ui/tone";
import { isOver, isPausing } from "./model";

export interface Banner {
  tone: Extract<Tone, "attention" | "bad" | "quiet" | "neutral">;
  title: string;
  /** What happened, in the words of whoever knows. */
  what: string | null;
  steps: string[];
  until: string | null;
  code: string | null;
}

export function bannerOf(order: Order): Banner | null {
  const failed = guidance(order);
  if (failed !== null) {
    const { title, what, steps, code, rejected } = failed;
    return { tone: rejected ? "quiet" : "bad", title, what, steps, until: null, code };
  }
  if (order.rolled_back) return rolledBack(order);
  if (isPausing(order)) {
    return {
      tone: "quiet",
      title: "Pausing",
      what: null,
      steps: ["What is under way goes on to its end; nothing new begins."],
      until: null,
      code: null,
    };
  }
  const waiting = explainWaiting(order);
  if (waiting !== null) {
    return {
      tone: order.status === "paused" ? "quiet" : waiting.needsPerson ? "attention" : "neutral",
      title: waiting.title,
      what: null,
      steps: [waiting.next],
      until: waiting.until,
      code: null,
    };
  }
  if (order.status === "cancelled" && order.error_message) {
    const steps = order.error_hint ? [order.error_hint] : [];
    const { error_message: what, error_code: code } = order;
    return { tone: "neutral", title: "Cancelled", what, steps, until: null, code };
  }
  return null;
}

function rolledBack(order: Order): Banner {
  const isDone = isOver(order);
  return {
    tone: "neutral",
    title: isDone ? "Rolled back" : "Rolling back",
    what: null,
    steps: [
      isDone
        ? "What its tasks did outside of the sandbox was undone. Run it again as a new order if you still want it."
        : "What its tasks did outside of the sandbox is being undone, the last first.",
    ],
    until: null,
    code: null,
  };
}
