import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { ArrowRight, Keyboard, Plus, type LucideIcon } from "lucide-react";

import { orderPageQuery } from "@/api/orders";
import { useMay } from "@/api/roles";
import { THEME_CHOICES } from "@/app/account-menu";
import { NAV } from "@/app/nav";
import { search, type Command } from "@/app/palette-model";
import { setTheme } from "@/app/theme";
import { useDebounced } from "@/app/use-debounced";
import { orderTitle } from "@/lib/inbox";
import { clean } from "@/lib/text";
import { ORDER_LOOK } from "@/ui/status";

export interface Runnable extends Command {
  icon: LucideIcon;
  /** Shown at the right. */
  detail?: string;
  keys?: string;
  run: () => void;
}

const ORDERS_SHOWN = 8;
const DEBOUNCE_MS = 180;

/** What can be done or opened for what is typed. */
export function useCommands(query: string, onShortcuts: () => void) {
  const navigate = useNavigate();
  const { allowed: mayOperate } = useMay("operate");
  const q = useDebounced(query.trim(), DEBOUNCE_MS);
  const orders = useQuery({
    ...orderPageQuery({ q }, 0, ORDERS_SHOWN),
    enabled: q !== "",
    staleTime: 10_000,
    placeholderData: keepPreviousData,
  });
  const begin: Runnable = {
    id: "new",
    label: "New work order",
    words: "create start run agent",
    group: "Do",
    icon: Plus,
    keys: "n",
    run: () => void navigate({ to: "/new" }),
  };
  const fixed: Runnable[] = [
    ...(mayOperate ? [begin] : []),
    ...NAV.map((item) => ({
      id: `go${item.to}`,
      label: item.label,
      words: "go to open page",
      group: "Go to",
      icon: item.icon,
      keys: item.keys,
      run: () => void navigate({ to: item.to }),
    })),
    ...THEME_CHOICES.map((choice) => ({
      id: `theme-${choice.value}`,
      label: `Theme: ${choice.label.toLowerCase()}`,
      words: "colour color mode appearance",
      group: "Settings",
      icon: choice.icon,
      run: () => setTheme(choice.value),
    })),
    {
      id: "shortcuts",
      label: "Keyboard shortcuts",
      words: "help keys",
      group: "Settings",
      icon: Keyboard,
      keys: "?",
      run: onShortcuts,
    },
  ];
  const found = q === "" || query.trim() === "" ? [] : (orders.data?.agent_work_orders ?? []);
  const opened: Runnable[] = found.map((order) => ({
    id: order.agent_work_order_id,
    label: clean(orderTitle(order)),
    group: "Work orders",
    icon: ORDER_LOOK[order.status].icon,
    detail: `${ORDER_LOOK[order.status].label} · ${order.agent_work_order_id}`,
    run: () =>
      void navigate({ to: "/orders/$orderId", params: { orderId: order.agent_work_order_id } }),
  }));
  const all: Runnable[] = query.trim()
    ? [
        {
          id: "search-all",
          label: `Search all work orders for “${clean(query.trim())}”`,
          group: "Work orders",
          icon: ArrowRight,
          run: () => void navigate({ to: "/orders", search: { q: query.trim() } }),
        },
      ]
    : [];
  return {
    commands: [...search(fixed, query), ...opened, ...all],
    searching: q !== query.trim() || (q !== "" && orders.isFetching),
    error: orders.error,
  };
}
