import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { ChevronsUpDown, Keyboard, LogOut, Monitor, Moon, Sun, UserRound } from "lucide-react";

import { sessionQuery, useSignOut } from "@/api/session";
import { setTheme, useTheme, type Theme } from "@/app/theme";
import { Menu, MenuChoices, MenuItem, MenuSeparator } from "@/ui/menu";
import { SafeText } from "@/ui/safe-text";

export const THEME_CHOICES = [
  { value: "system", label: "Like the system", icon: Monitor },
  { value: "light", label: "Light", icon: Sun },
  { value: "dark", label: "Dark", icon: Moon },
] as const satisfies ReadonlyArray<{ value: Theme; label: string; icon: typeof Sun }>;

/** Who is signed in, the theme, and the way out. */
export function AccountMenu({
  compact = false,
  onShortcuts,
}: {
  compact?: boolean;
  onShortcuts: () => void;
}) {
  const session = useQuery(sessionQuery()).data;
  const theme = useTheme();
  const signOut = useSignOut();
  const navigate = useNavigate();
  const name = session?.name ?? "…";
  const leave = () => {
    signOut.mutate(undefined, { onSuccess: () => void navigate({ to: "/sign-in" }) });
  };
  return (
    <Menu
      align={compact ? "end" : "start"}
      side={compact ? "bottom" : "top"}
      trigger={
        <button
          type="button"
          aria-label={compact ? `Account and theme: signed in as ${name}` : undefined}
          className="flex min-h-9 w-full min-w-0 cursor-pointer items-center gap-2 rounded-md px-2 text-left hover:bg-hover"
        >
          <UserRound aria-hidden className="size-4 shrink-0 text-ink-soft" />
          {!compact && (
            <>
              <span className="min-w-0 flex-1 truncate">
                <span className="sr-only">Account and theme: signed in as </span>
                <SafeText text={name} />
                {session && <span className="text-xs text-ink-faint"> · {session.role}</span>}
              </span>
              <ChevronsUpDown aria-hidden className="size-3.5 shrink-0 text-ink-faint" />
            </>
          )}
        </button>
      }
    >
      {compact && session && (
        <div className="px-2 py-1 text-[13px] text-ink-soft">
          <SafeText text={name} /> · {session.role}
        </div>
      )}
      <MenuChoices label="Theme" value={theme} onChange={setTheme} choices={THEME_CHOICES} />
      <MenuSeparator />
      <MenuItem icon={Keyboard} onSelect={onShortcuts}>
        Keyboard shortcuts
      </MenuItem>
      <MenuItem icon={LogOut} onSelect={leave}>
        Sign out
      </MenuItem>
    </Menu>
  );
}
