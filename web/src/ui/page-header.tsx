import { useRouterState } from "@tanstack/react-router";
import { ChevronRight } from "lucide-react";
import { useEffect, useRef, type ReactNode } from "react";

export const PRODUCT = "Agent Work Orders";

export interface PageHeaderProps {
  title: ReactNode;
  /** The name in the browser's tab, when the title is not plain text. */
  documentTitle?: string;
  description?: ReactNode;
  actions?: ReactNode;
  /** Links to the pages above this one, outermost first. */
  breadcrumbs?: readonly ReactNode[];
}

// The page that a reader is on. The first one is announced by the browser itself.
let announced = typeof window === "undefined" ? "" : window.location.pathname;

/** Somebody who already types in the new page keeps typing. */
function isTyping(): boolean {
  const active = document.activeElement;
  return active !== null && active.matches("main input, main textarea, [role=dialog] *");
}

export function PageHeader({
  title,
  documentTitle,
  description,
  actions,
  breadcrumbs,
}: PageHeaderProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  const name = documentTitle ?? (typeof title === "string" ? title : null);
  // Not the address, which may be that of a page that is still on its way.
  const path = useRouterState({ select: (state) => state.resolvedLocation?.pathname });

  // Outside system: the browser's tab.
  useEffect(() => {
    document.title = name ? `${name} · ${PRODUCT}` : PRODUCT;
  }, [name]);

  // Outside system: the focus. After a navigation, it begins where the new page begins.
  useEffect(() => {
    if (path === undefined || announced === path) return;
    announced = path;
    if (!isTyping()) heading.current?.focus({ preventScroll: true });
  }, [path]);

  return (
    <header className="mb-5 flex flex-wrap items-start justify-between gap-x-6 gap-y-3">
      <div className="min-w-0 flex-1 basis-72">
        {breadcrumbs && breadcrumbs.length > 0 && (
          <nav aria-label="Breadcrumbs" className="mb-1">
            <ol className="flex flex-wrap items-center gap-1 text-[13px] text-ink-faint">
              {breadcrumbs.map((crumb, index) => (
                <li key={index} className="flex min-w-0 items-center gap-1">
                  {index > 0 && <ChevronRight aria-hidden className="size-3.5" />}
                  {crumb}
                </li>
              ))}
            </ol>
          </nav>
        )}
        <h1
          ref={heading}
          tabIndex={-1}
          className="text-xl leading-7 font-semibold tracking-tight break-words outline-none"
        >
          {title}
        </h1>
        {description && <div className="mt-0.5 text-ink-soft">{description}</div>}
      </div>
      {actions && <div className="flex flex-wrap items-center gap-2">{actions}</div>}
    </header>
  );
}
