import { X } from "lucide-react";
import { Dialog as Radix } from "radix-ui";
import type { ReactNode } from "react";

import { Button } from "@/ui/button";
import { cx } from "@/ui/cx";
import { useFocusReturn } from "@/ui/use-focus-return";

export const OVERLAY = "fixed inset-0 z-40 bg-black/45 motion-safe:animate-fade";
export const PANEL =
  "fixed left-1/2 z-50 flex max-h-[85dvh] w-[calc(100vw-2rem)] -translate-x-1/2 flex-col rounded-xl border border-line bg-raised shadow-float outline-none motion-safe:animate-rise";

export interface DialogProps {
  open?: boolean;
  onOpenChange?: (open: boolean) => void;
  /** The element that opens it; focus comes back to it. */
  trigger?: ReactNode;
  title: ReactNode;
  description?: ReactNode;
  size?: "sm" | "md" | "lg";
  footer?: ReactNode;
  children?: ReactNode;
}

const WIDTH = { sm: "max-w-md", md: "max-w-xl", lg: "max-w-3xl" };

/** The focus begins in the first field, or else on the dialog itself, not on its way out. */
function beginInside(event: Event) {
  const panel = event.currentTarget as HTMLElement;
  if (panel.contains(document.activeElement)) return event.preventDefault();
  const field = panel.querySelector<HTMLElement>("input, textarea, select, [role=radio]");
  event.preventDefault();
  (field ?? panel).focus();
}

export function Dialog({
  open,
  onOpenChange,
  trigger,
  title,
  description,
  size = "md",
  footer,
  children,
}: DialogProps) {
  const giveFocusBack = useFocusReturn(open ?? false);
  return (
    <Radix.Root open={open} onOpenChange={onOpenChange}>
      {trigger && <Radix.Trigger asChild>{trigger}</Radix.Trigger>}
      <Radix.Portal>
        <Radix.Overlay className={OVERLAY} />
        <Radix.Content
          className={cx(PANEL, "top-[8dvh]", WIDTH[size])}
          onOpenAutoFocus={beginInside}
          onCloseAutoFocus={trigger ? undefined : giveFocusBack}
          {...(description ? {} : { "aria-describedby": undefined })}
        >
          <div className="flex items-start gap-4 px-5 pt-4">
            <div className="min-w-0 flex-1">
              <Radix.Title className="text-base font-semibold break-words">{title}</Radix.Title>
              {description && (
                <Radix.Description asChild>
                  <div className="mt-0.5 text-ink-soft">{description}</div>
                </Radix.Description>
              )}
            </div>
            <Radix.Close asChild>
              <Button
                aria-label="Close"
                icon={X}
                size="sm"
                variant="ghost"
                className="-mr-1.5 w-7 px-0!"
              />
            </Radix.Close>
          </div>
          <div className="min-h-0 flex-1 overflow-y-auto px-5 py-4">{children}</div>
          {footer && (
            <div className="flex flex-wrap justify-end gap-2 border-t border-line px-5 py-3">
              {footer}
            </div>
          )}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

/** Closes the dialog around it, for a button in the footer. */
export function DialogClose({ children }: { children: ReactNode }) {
  return <Radix.Close asChild>{children}</Radix.Close>;
}
