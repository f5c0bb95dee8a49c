import { createLink, type LinkComponent } from "@tanstack/react-router";
import type { ComponentProps } from "react";

import { safeHref } from "@/lib/text";
import { buttonClass, type ButtonSize, type ButtonVariant } from "@/ui/button";
import { cx } from "@/ui/cx";

const TEXT =
  "rounded-sm text-accent underline decoration-accent/40 underline-offset-2 hover:decoration-accent";

function TextAnchor({ className, ...rest }: ComponentProps<"a">) {
  return <a className={cx(TEXT, className)} {...rest} />;
}

const RoutedText = createLink(TextAnchor);

/** A link to another page of the dashboard, inside text. */
export const Link: LinkComponent<typeof TextAnchor> = (props) => <RoutedText {...props} />;

function PlainAnchor(props: ComponentProps<"a">) {
  return <a {...props} />;
}

const RoutedPlain = createLink(PlainAnchor);

/** A link without looks of its own: rows, cards, navigation. */
export const PlainLink: LinkComponent<typeof PlainAnchor> = (props) => <RoutedPlain {...props} />;

interface ButtonAnchorProps extends ComponentProps<"a"> {
  variant?: ButtonVariant;
  size?: ButtonSize;
}

function ButtonAnchor({ variant, size, className, ...rest }: ButtonAnchorProps) {
  return <a className={buttonClass(variant, size, className)} {...rest} />;
}

const RoutedButton = createLink(ButtonAnchor);

/** A link that looks like a button, since it begins something. */
export const ButtonLink: LinkComponent<typeof ButtonAnchor> = (props) => (
  <RoutedButton {...props} />
);

export interface OutsideLinkProps extends Omit<ComponentProps<"a">, "href"> {
  href: string | null | undefined;
}

/** A link out of the dashboard, from data: only http and https are links, all else is text. */
export function OutsideLink({ href, className, children, ...rest }: OutsideLinkProps) {
  const safe = safeHref(href);
  if (safe === null) return <span className={className}>{children}</span>;
  return (
    <a
      {...rest}
      href={safe}
      target="_blank"
      rel="noopener noreferrer"
      className={cx(TEXT, className)}
    >
      {children}
    </a>
  );
}
