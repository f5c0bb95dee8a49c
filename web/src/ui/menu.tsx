import { Check, type LucideIcon } from "lucide-react";
import { DropdownMenu as Radix } from "radix-ui";
import { useState, type ComponentProps, type ReactNode } from "react";

import { cx } from "@/ui/cx";

export interface MenuProps {
  trigger: ReactNode;
  align?: "start" | "center" | "end";
  side?: "top" | "right" | "bottom" | "left";
  children: ReactNode;
}

export function Menu({ trigger, align = "end", side, children }: MenuProps) {
  const [open, setOpen] = useState(false);
  // Inside the page's main part: what stands in no landmark is passed over by who goes by these.
  const landmark = open ? document.getElementById("main") : null;
  return (
    <Radix.Root modal={false} open={open} onOpenChange={setOpen}>
      <Radix.Trigger asChild>{trigger}</Radix.Trigger>
      <Radix.Portal container={landmark}>
        <Radix.Content
          align={align}
          side={side}
          sideOffset={4}
          collisionPadding={8}
          className="z-50 max-h-(--radix-dropdown-menu-content-available-height) min-w-44 overflow-y-auto rounded-lg border border-line bg-raised p-1 shadow-float motion-safe:animate-fade"
        >
          {children}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

const ITEM =
  "flex min-h-8 cursor-pointer items-center gap-2 rounded-md px-2 py-1 outline-none select-none data-highlighted:bg-hover data-disabled:cursor-not-allowed data-disabled:opacity-55";

export interface MenuItemProps extends ComponentProps<typeof Radix.Item> {
  icon?: LucideIcon;
  danger?: boolean;
}

export function MenuItem({
  icon: Icon,
  danger = false,
  className,
  children,
  ...rest
}: MenuItemProps) {
  return (
    <Radix.Item className={cx(ITEM, danger && "text-bad", className)} {...rest}>
      {Icon && <Icon aria-hidden className="size-4 shrink-0 opacity-80" />}
      {children}
    </Radix.Item>
  );
}

export interface MenuChoicesProps<T extends string> {
  label: string;
  value: T;
  onChange: (value: T) => void;
  choices: ReadonlyArray<{ value: T; label: string; icon?: LucideIcon }>;
}

/** One of several, inside a menu. */
export function MenuChoices<T extends string>({
  label,
  value,
  onChange,
  choices,
}: MenuChoicesProps<T>) {
  return (
    <Radix.RadioGroup
      aria-label={label}
      value={value}
      onValueChange={(next) => onChange(next as T)}
    >
      <MenuLabel>{label}</MenuLabel>
      {choices.map((choice) => (
        <Radix.RadioItem key={choice.value} value={choice.value} className={ITEM}>
          {choice.icon && <choice.icon aria-hidden className="size-4 shrink-0 opacity-80" />}
          <span className="flex-1">{choice.label}</span>
          <Radix.ItemIndicator>
            <Check aria-hidden className="size-4 text-accent" />
          </Radix.ItemIndicator>
        </Radix.RadioItem>
      ))}
    </Radix.RadioGroup>
  );
}

export interface MenuCheckProps {
  checked: boolean;
  onCheckedChange: (checked: boolean) => void;
  disabled?: boolean;
  children: ReactNode;
}

/** On or off; the menu stays open for the next one. */
export function MenuCheck({ checked, onCheckedChange, disabled, children }: MenuCheckProps) {
  return (
    <Radix.CheckboxItem
      checked={checked}
      disabled={disabled}
      onCheckedChange={onCheckedChange}
      onSelect={(event) => event.preventDefault()}
      className={ITEM}
    >
      <span className="flex size-4 shrink-0 items-center justify-center">
        <Radix.ItemIndicator>
          <Check aria-hidden className="size-4 text-accent" />
        </Radix.ItemIndicator>
      </span>
      {children}
    </Radix.CheckboxItem>
  );
}

export function MenuLabel({ children }: { children: ReactNode }) {
  return <Radix.Label className="px-2 pt-1.5 pb-1 text-xs text-ink-faint">{children}</Radix.Label>;
}

export function MenuSeparator() {
  return <Radix.Separator className="-mx-1 my-1 h-px bg-line" />;
}
