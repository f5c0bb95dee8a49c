import { CloudOff, OctagonAlert, RefreshCw } from "lucide-react";
import type { ReactNode } from "react";

import { describeFailure } from "@/lib/failure";
import { Button } from "@/ui/button";
import { CopyButton } from "@/ui/copy-button";
import { cx } from "@/ui/cx";
import { HintText } from "@/ui/hint-text";
import { SafeText } from "@/ui/safe-text";

export interface ErrorStateProps {
  error: unknown;
  onRetry?: () => void;
  retrying?: boolean;
  action?: ReactNode;
  className?: string;
}

/** What went wrong, what to do, and what to quote when asking for help. */
export function ErrorState({ error, onRetry, retrying, action, className }: ErrorStateProps) {
  const failure = describeFailure(error);
  const Icon = failure.offline ? CloudOff : OctagonAlert;
  return (
    <div
      role="alert"
      className={cx("flex gap-3 rounded-lg border border-bad/40 bg-bad-wash px-4 py-3", className)}
    >
      <Icon aria-hidden className="mt-0.5 size-5 shrink-0 text-bad" />
      <div className="min-w-0 flex-1">
        <p className="font-semibold break-words text-bad">
          <SafeText text={failure.title} />
        </p>
        {failure.hint && (
          <p className="mt-0.5 break-words text-ink">
            <HintText text={failure.hint} />
          </p>
        )}
        {(onRetry || action) && (
          <div className="mt-3 flex flex-wrap gap-2">
            {onRetry && (
              <Button size="sm" icon={RefreshCw} busy={retrying} onClick={onRetry}>
                Try again
              </Button>
            )}
            {action}
          </div>
        )}
        {(failure.code || failure.requestId) && (
          <p className="mt-2 flex flex-wrap items-center gap-x-3 text-xs text-ink-soft">
            {failure.code && (
              <span>
                Code <SafeText className="font-mono" text={failure.code} />
              </span>
            )}
            {failure.requestId && (
              <span className="inline-flex min-w-0 items-center gap-1">
                Request <SafeText className="truncate font-mono" text={failure.requestId} />
                <CopyButton text={failure.requestId} label="Copy the request id" />
              </span>
            )}
          </p>
        )}
      </div>
    </div>
  );
}
