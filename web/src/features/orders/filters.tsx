import { useQuery } from "@tanstack/react-query";
import { X } from "lucide-react";

import { orderPageQuery } from "@/api/orders";
import { workflowsQuery } from "@/api/workflows";
import { repositoryName, repositoryNames } from "@/lib/repository";
import { ORDER_STATUSES } from "@/lib/states";
import { clean } from "@/lib/text";
import { Button } from "@/ui/button";
import { cx } from "@/ui/cx";
import { SearchBox } from "@/ui/search-box";
import { Select } from "@/ui/select";
import { ORDER_LOOK } from "@/ui/status";
import { TONE_TEXT } from "@/ui/tone";
import {
  choices,
  cleared,
  isFiltered,
  LONGEST,
  SORTINGS,
  sortingFrom,
  sortingOf,
  withSorting,
  withStatus,
  withText,
  type OrdersSearch,
} from "./model";

interface FiltersProps {
  search: OrdersSearch;
  onChange: (next: OrdersSearch) => void;
}

export function Filters({ search, onChange }: FiltersProps) {
  // What can be chosen: of the newest orders. Links lead to any other.
  const recent = useQuery(orderPageQuery({}, 0)).data?.agent_work_orders ?? [];
  const workflows = useQuery(workflowsQuery()).data ?? [];
  const { by, direction } = sortingOf(search);
  const repositories = choices(
    recent.map((order) => order.repository),
    search.repository,
  );
  const repositoryLabels = repositoryNames(recent);
  const names = choices(
    [...workflows.map((one) => one.name), ...recent.map((order) => order.workflow_type)],
    search.workflow,
  );
  return (
    <search className="mb-3 flex flex-col gap-2.5">
      <div className="flex flex-wrap items-center gap-2">
        <div className="min-w-0 flex-1 basis-64 max-sm:basis-full">
          <SearchBox
            label="Search work orders"
            placeholder="Search title, prompt, id, branch, issue"
            maxLength={LONGEST.q}
            value={search.q ?? ""}
            onSearch={(text) => onChange(withText(search, "q", text))}
          />
        </div>
        <Select
          aria-label="Repository"
          className="flex-1 basis-32 sm:max-w-52"
          value={search.repository ?? ""}
          onValueChange={(value) => onChange(withText(search, "repository", value))}
          options={[
            { value: "", label: "All repositories" },
            ...repositories.map((value) => ({
              value,
              label: clean(repositoryLabels.get(value) ?? unseen(value)),
            })),
          ]}
        />
        <Select
          aria-label="Workflow"
          className="flex-1 basis-32 sm:max-w-60"
          value={search.workflow ?? ""}
          onValueChange={(value) => onChange(withText(search, "workflow", value))}
          options={[
            { value: "", label: "All workflows" },
            ...names.map((value) => ({ value, label: clean(value) })),
          ]}
        />
        {/* A table has this in its header; cards have none. */}
        <Select
          aria-label="Sort"
          className="flex-1 basis-full sm:basis-32 md:hidden"
          value={`${by} ${direction}`}
          onValueChange={(value) => onChange(withSorting(search, sortingFrom(value)))}
          options={SORTINGS}
        />
      </div>
      <div className="flex flex-wrap items-center gap-2">
        <StatusChips search={search} onChange={onChange} />
        {isFiltered(search) && (
          <Button size="sm" variant="ghost" icon={X} onClick={() => onChange(cleared(search))}>
            Clear filters
          </Button>
        )}
      </div>
    </search>
  );
}

/** A link may lead to a repository of older orders. */
const unseen = (repository: string) => repositoryName({ repository, repository_url: "" });

/** On a phone, one line that is pushed sideways. */
const CHIPS =
  "flex min-w-0 gap-1.5 max-sm:-mx-4 max-sm:overflow-x-auto max-sm:px-4 max-sm:py-1 max-sm:[scrollbar-width:none] sm:flex-wrap";

function StatusChips({ search, onChange }: FiltersProps) {
  return (
    <div role="group" aria-label="Status" className={CHIPS}>
      {ORDER_STATUSES.map((status) => {
        const { label, icon: Icon, tone } = ORDER_LOOK[status];
        const on = search.status?.includes(status) ?? false;
        return (
          <button
            key={status}
            type="button"
            aria-pressed={on}
            onClick={() => onChange(withStatus(search, status, !on))}
            className={cx(
              "inline-flex h-7 shrink-0 cursor-pointer items-center gap-1.5 rounded-full border px-2.5 text-[13px] transition-colors",
              on
                ? "border-accent bg-accent-wash font-medium text-ink"
                : "border-line bg-surface text-ink-soft hover:bg-hover",
            )}
          >
            <Icon aria-hidden className={cx("size-3.5", TONE_TEXT[tone])} />
            {label}
          </button>
        );
      })}
    </div>
  );
}
