import type { LucideIcon } from "lucide-react";

import { Button, type ButtonProps } from "@/ui/button";
import { cx } from "@/ui/cx";
import { Tooltip } from "@/ui/tooltip";

export interface IconButtonProps extends Omit<ButtonProps, "children" | "icon" | "aria-label"> {
  /** Read out, and shown as a tip. */
  label: string;
  icon: LucideIcon;
  tipSide?: "top" | "right" | "bottom" | "left";
}

export function IconButton({
  label,
  icon,
  variant = "ghost",
  size = "md",
  tipSide,
  className,
  ...rest
}: IconButtonProps) {
  return (
    <Tooltip content={label} side={tipSide}>
      <Button
        {...rest}
        aria-label={label}
        icon={icon}
        variant={variant}
        size={size}
        className={cx("px-0!", size === "sm" ? "w-7" : "w-8.5", className)}
      />
    </Tooltip>
  );
}
