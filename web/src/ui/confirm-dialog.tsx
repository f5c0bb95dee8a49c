import { AlertDialog as Radix } from "radix-ui";
import { useState, type ReactNode } from "react";

import { Button } from "@/ui/button";
import { cx } from "@/ui/cx";
import { OVERLAY, PANEL } from "@/ui/dialog";
import { useFocusReturn } from "@/ui/use-focus-return";

export interface ConfirmDialogProps {
  open?: boolean;
  onOpenChange?: (open: boolean) => void;
  trigger?: ReactNode;
  title: ReactNode;
  description: ReactNode;
  confirmLabel: string;
  cancelLabel?: string;
  danger?: boolean;
  /** If it returns a promise, the dialog stays, busy, until it settles; it closes if that is fine. */
  onConfirm: () => unknown;
  /** More to decide, such as a reason. */
  children?: ReactNode;
}

/** Asks before something that cannot simply be undone. The focus begins on the safe answer. */
export function ConfirmDialog({
  open: controlled,
  onOpenChange,
  trigger,
  title,
  description,
  confirmLabel,
  cancelLabel = "Keep as it is",
  danger = false,
  onConfirm,
  children,
}: ConfirmDialogProps) {
  const [own, setOwn] = useState(false);
  const [busy, setBusy] = useState(false);
  const open = controlled ?? own;
  const giveFocusBack = useFocusReturn(open);
  const setOpen = (next: boolean) => {
    if (busy && !next) return;
    setOwn(next);
    onOpenChange?.(next);
  };
  const confirm = async () => {
    setBusy(true);
    try {
      await onConfirm();
      setOwn(false);
      onOpenChange?.(false);
    } catch {
      // Whoever began the action says what went wrong; the question stays open.
    } finally {
      setBusy(false);
    }
  };
  return (
    <Radix.Root open={open} onOpenChange={setOpen}>
      {trigger && <Radix.Trigger asChild>{trigger}</Radix.Trigger>}
      <Radix.Portal>
        <Radix.Overlay className={OVERLAY} />
        <Radix.Content
          className={cx(PANEL, "top-[18dvh] max-w-md")}
          onCloseAutoFocus={trigger ? undefined : giveFocusBack}
        >
          <div className="min-h-0 overflow-y-auto px-5 pt-4 pb-4">
            <Radix.Title className="text-base font-semibold break-words">{title}</Radix.Title>
            <Radix.Description asChild>
              <div className="mt-1 break-words text-ink-soft">{description}</div>
            </Radix.Description>
            {children && <div className="mt-4">{children}</div>}
          </div>
          <div className="flex flex-wrap justify-end gap-2 border-t border-line px-5 py-3">
            <Radix.Cancel asChild>
              <Button>{cancelLabel}</Button>
            </Radix.Cancel>
            <Button
              variant={danger ? "danger" : "primary"}
              busy={busy}
              onClick={() => void confirm()}
            >
              {confirmLabel}
            </Button>
          </div>
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}
