import { Download } from "lucide-react";
import { useState } from "react";

import { readArtifact } from "@/api/artifact-download";
import type { Artifact } from "@/api/types";
import { describeFailure } from "@/lib/failure";
import { saveFile } from "./save-file";
import { clean } from "@/lib/text";
import { Button } from "@/ui/button";
import { toast } from "@/ui/toast";

import { downloadName } from "./artifact-kind";

/** Gives one artifact to the browser's downloads, under a harmless name. */
export function ArtifactDownload({ orderId, artifact }: { orderId: string; artifact: Artifact }) {
  const [isBusy, setBusy] = useState(false);
  const download = async () => {
    setBusy(true);
    try {
      saveFile(await readArtifact(orderId, artifact.sha256), downloadName(artifact.name));
    } catch (error) {
      const { title, hint } = describeFailure(error);
      toast({ tone: "bad", title: "The file could not be downloaded", description: hint ?? title });
    } finally {
      setBusy(false);
    }
  };
  return (
    <Button size="sm" icon={Download} busy={isBusy} onClick={() => void download()}>
      <span className="max-sm:sr-only">Download</span>
      <span className="sr-only">{clean(artifact.name)}</span>
    </Button>
  );
}
