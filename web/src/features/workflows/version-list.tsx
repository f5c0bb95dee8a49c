import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";

import type { WorkflowVersion } from "@/api/types";
import { workflowVersionsQuery } from "@/api/workflows";
import { Card } from "@/ui/card";
import { cx } from "@/ui/cx";
import { ErrorState } from "@/ui/error-state";
import { Link } from "@/ui/link";
import { PatchLine } from "@/ui/patch-line";
import { SafeText } from "@/ui/safe-text";
import { SkeletonText } from "@/ui/skeleton";
import { RelativeTime } from "@/ui/time";

import { sourceChanges, versionNamed } from "./model";

interface VersionListProps {
  name: string;
  /** What runs now. */
  source: string;
  hash: string;
  wanted: string | undefined;
}

/** The versions that orders ran with; choosing one shows how it differs from today's. */
export function VersionList({ name, source, hash, wanted }: VersionListProps) {
  const versions = useQuery(workflowVersionsQuery(name));
  const chosen = versionNamed(versions.data ?? [], wanted);
  return (
    <Card
      title="Versions"
      description="A version never changes. Orders keep the one they began with."
      flush
    >
      {versions.isPending && <SkeletonText className="p-4" lines={3} />}
      {versions.isError && (
        <ErrorState
          className="m-4"
          error={versions.error}
          onRetry={() => void versions.refetch()}
        />
      )}
      {versions.data?.length === 0 && (
        <p className="p-4 text-ink-soft">
          None is kept yet: the first order that runs this workflow keeps one.
        </p>
      )}
      <ul className="divide-y divide-line">
        {versions.data?.map((one) => (
          <li key={one.hash} className={cx("px-4 py-2", one === chosen && "bg-accent-wash")}>
            <Row name={name} version={one} isNow={one.hash === hash} isChosen={one === chosen} />
          </li>
        ))}
      </ul>
      {chosen && <Changes version={chosen} source={source} />}
    </Card>
  );
}

interface RowProps {
  name: string;
  version: WorkflowVersion;
  isNow: boolean;
  isChosen: boolean;
}

function Row({ name, version, isNow, isChosen }: RowProps) {
  return (
    <div className="flex flex-wrap items-center gap-x-3 gap-y-0.5">
      <Link
        to="/workflows/$name"
        params={{ name }}
        search={isChosen ? {} : { version: String(version.version) }}
        aria-current={isChosen || undefined}
      >
        Version {version.version}
      </Link>
      {isNow && <span className="text-[13px] text-good">current</span>}
      <span className="font-mono text-[13px] text-ink-soft">{version.hash.slice(0, 12)}</span>
      <span className="text-[13px] text-ink-faint">
        <RelativeTime value={version.created_at} /> by{" "}
        <SafeText text={version.created_by} max={60} />
      </span>
    </div>
  );
}

function Changes({ version, source }: { version: WorkflowVersion; source: string }) {
  const changes = useMemo(() => sourceChanges(version.source, source), [version.source, source]);
  const isSame = changes.every((one) => one.kind === "context");
  return (
    <div className="border-t border-line">
      <p className="px-4 py-2 text-[13px] text-ink-soft">
        {isSame
          ? `Version ${version.version} has the same source as today's workflow.`
          : `From version ${version.version} to today's workflow:`}
      </p>
      {!isSame && (
        <pre
          tabIndex={0}
          role="region"
          aria-label={`Changes since version ${version.version}`}
          className="max-h-96 overflow-auto bg-sunken py-2 font-mono text-[12.5px] leading-5"
        >
          {changes.map((one, index) => (
            <PatchLine key={index} kind={one.kind} text={one.text} />
          ))}
        </pre>
      )}
    </div>
  );
}
