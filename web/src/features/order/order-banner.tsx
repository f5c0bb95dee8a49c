import { CirclePause, Hourglass, OctagonAlert, TriangleAlert } from "lucide-react";
import type { ReactNode } from "react";

import { cx } from "@/ui/cx";
import { RelativeTime } from "@/ui/time";
import { SafeText } from "@/ui/safe-text";
import { TONE_TEXT } from "@/ui/tone";
import type { Banner } from "./banners";

const LOOK = {
  bad: { icon: OctagonAlert, frame: "border-bad/40 bg-bad-wash" },
  attention: { icon: TriangleAlert, frame: "border-attention/40 bg-attention-wash" },
  quiet: { icon: CirclePause, frame: "border-quiet/40 bg-quiet-wash" },
  neutral: { icon: Hourglass, frame: "border-line bg-neutral-wash" },
} satisfies Record<Banner["tone"], unknown>;

export interface OrderBannerProps {
  banner: Banner;
  actions?: ReactNode;
}

/** Why the order stands still or has failed, and what to do. */
export function OrderBanner({ banner, actions }: OrderBannerProps) {
  const { icon: Icon, frame } = LOOK[banner.tone];
  return (
    <section
      aria-label={`About the state: ${banner.title}`}
      className={cx("flex flex-wrap gap-3 rounded-lg border px-4 py-3", frame)}
    >
      <Icon aria-hidden className={cx("mt-0.5 size-5 shrink-0", TONE_TEXT[banner.tone])} />
      <div className="min-w-0 flex-1 basis-56">
        <h2 className={cx("font-semibold break-words", TONE_TEXT[banner.tone])}>
          <SafeText text={banner.title} max={300} />
        </h2>
        {banner.what && (
          <p className="mt-0.5 max-h-40 overflow-y-auto">
            <SafeText text={banner.what} max={4000} lines />
          </p>
        )}
        {banner.until && (
          <p className="mt-0.5">
            Until <RelativeTime value={banner.until} />
          </p>
        )}
        <Steps steps={banner.steps} />
        {banner.code && (
          <p className="mt-1.5 text-xs text-ink-soft">
            Code <SafeText className="font-mono" text={banner.code} max={100} />
          </p>
        )}
      </div>
      {actions && <div className="flex flex-wrap items-start gap-2">{actions}</div>}
    </section>
  );
}

function Steps({ steps }: { steps: readonly string[] }) {
  const [only] = steps;
  if (only === undefined) return null;
  if (steps.length === 1) {
    return (
      <p className="mt-0.5 break-words">
        <SafeText text={only} max={2000} />
      </p>
    );
  }
  return (
    <ol className="mt-1.5 list-decimal space-y-0.5 pl-5 marker:text-ink-faint">
      {steps.map((step, index) => (
        <li key={index} className="break-words">
          <SafeText text={step} max={2000} />
        </li>
      ))}
    </ol>
  );
}

/** Failures that were tolerated, and prompts that nobody was left to get. */
export function OrderWarnings({ warnings }: { warnings: readonly string[] }) {
  if (warnings.length === 0) return null;
  return (
    <section
      aria-label="Warnings"
      className="rounded-lg border border-attention/40 bg-attention-wash px-4 py-2.5"
    >
      <ul className="space-y-1">
        {warnings.slice(0, 20).map((warning, index) => (
          <li key={index} className="flex gap-2">
            <TriangleAlert aria-hidden className="mt-0.5 size-4 shrink-0 text-attention" />
            <span className="min-w-0 break-words">
              <SafeText text={warning} max={1000} />
            </span>
          </li>
        ))}
      </ul>
      {warnings.length > 20 && (
        <p className="mt-1 text-ink-soft">And {warnings.length - 20} more.</p>
      )}
    </section>
  );
}
