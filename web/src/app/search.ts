/**
 * The part of the address after `?`: plain names and texts, repeated for lists, so that a person
 * can read and write it. Values that a page does not know are dropped.
 */

import { isOrderStatus, type OrderStatus } from "@/lib/states";

type Raw = Record<string, unknown>;

export function parseSearch(search: string): Record<string, string | string[]> {
  const found: Record<string, string | string[]> = {};
  const params = new URLSearchParams(search);
  for (const name of new Set(params.keys())) {
    const values = params.getAll(name);
    const [only] = values;
    found[name] = values.length === 1 && only !== undefined ? only : values;
  }
  return found;
}

export function stringifySearch(search: Raw): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(search)) {
    for (const one of Array.isArray(value) ? (value as unknown[]) : [value]) {
      if (typeof one === "string" && one !== "") params.append(name, one);
      else if (typeof one === "number" || typeof one === "boolean")
        params.append(name, String(one));
    }
  }
  const text = params.toString();
  return text === "" ? "" : `?${text}`;
}

function texts<Name extends string>(raw: Raw, names: readonly Name[]): { [K in Name]?: string } {
  const found: { [K in Name]?: string } = {};
  for (const name of names) {
    const value = raw[name];
    // The router lays this over what stands in the address, so what is refused must be named.
    found[name] = typeof value === "string" && value !== "" ? value : undefined;
  }
  return found;
}

export interface OrdersSearch {
  status?: OrderStatus[];
  repository?: string;
  workflow?: string;
  q?: string;
  sort?: "created_at" | "updated_at";
  order?: "asc" | "desc";
}

function oneOf<Value extends string>(given: unknown, known: readonly Value[]): Value | undefined {
  return known.find((value) => value === given);
}

export function ordersSearch(raw: Raw): OrdersSearch {
  const given = Array.isArray(raw["status"]) ? (raw["status"] as unknown[]) : [raw["status"]];
  const status = [...new Set(given.filter(isOrderStatus))];
  return {
    status: status.length > 0 ? status : undefined,
    ...texts(raw, ["repository", "workflow", "q"]),
    sort: oneOf(raw["sort"], ["created_at", "updated_at"]),
    order: oneOf(raw["order"], ["asc", "desc"]),
  };
}

export interface OrderSearch {
  tab?: string;
  task?: string;
  /** Of the log. */
  level?: "debug" | "info" | "warning" | "error";
  q?: string;
  follow?: "off";
}

export const orderSearch = (raw: Raw): OrderSearch => ({
  ...texts(raw, ["tab", "task", "q"]),
  level: oneOf(raw["level"], ["debug", "info", "warning", "error"]),
  follow: oneOf(raw["follow"], ["off"]),
});
export const newOrderSearch = (raw: Raw) =>
  texts(raw, ["repository", "workflow", "prompt", "from"]);
export const workflowSearch = (raw: Raw) => texts(raw, ["version", "task"]);
export const signInSearch = (raw: Raw) => texts(raw, ["from"]);
