import { Download } from "lucide-react";
import { useState } from "react";

import { readLogAsJsonLines } from "@/api/log-download";
import type { LogFilter } from "@/api/orders";
import { describeFailure } from "@/lib/failure";
import { saveFile } from "./save-file";
import { Button } from "@/ui/button";
import { toast } from "@/ui/toast";

export interface LogDownloadProps {
  orderId: string;
  filter: LogFilter;
  disabled: boolean;
}

/** The lines that match, as a file of JSON lines. */
export function LogDownload({ orderId, filter, disabled }: LogDownloadProps) {
  const [progress, setProgress] = useState<number | null>(null);
  const download = async () => {
    setProgress(0);
    try {
      const parts = await readLogAsJsonLines(orderId, filter, (lines, total) =>
        setProgress(total > 0 ? Math.min(99, Math.floor((lines / total) * 100)) : 0),
      );
      saveFile(new Blob(parts, { type: "application/x-ndjson" }), `${orderId}.log.jsonl`);
    } catch (error) {
      const { title, hint } = describeFailure(error);
      toast({ tone: "bad", title: "The log could not be downloaded", description: hint ?? title });
    } finally {
      setProgress(null);
    }
  };
  return (
    <Button
      icon={Download}
      busy={progress !== null}
      disabled={disabled}
      onClick={() => void download()}
    >
      {progress === null ? "JSONL" : `${progress} %`}
      <span className="sr-only">Download the log as JSON lines</span>
    </Button>
  );
}
