import { Check, Copy } from "lucide-react";
import { useEffect, useState } from "react";

import { IconButton } from "@/ui/icon-button";
import { toast } from "@/ui/toast";

export interface CopyButtonProps {
  text: string | (() => string);
  label?: string;
  className?: string;
}

const SHOWN_MS = 1500;

export function CopyButton({ text, label = "Copy", className }: CopyButtonProps) {
  const [copied, setCopied] = useState(false);

  // Outside system: a timer that ends the acknowledgement.
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [copied]);

  const copy = async () => {
    try {
      await navigator.clipboard.writeText(typeof text === "function" ? text() : text);
      setCopied(true);
    } catch {
      toast({
        tone: "bad",
        title: "The browser did not allow copying",
        description: "Select the text and copy it with the keyboard.",
      });
    }
  };
  return (
    <>
      <IconButton
        label={label}
        icon={copied ? Check : Copy}
        size="sm"
        className={className}
        onClick={() => void copy()}
      />
      <span role="status" className="sr-only">
        {copied ? "Copied" : ""}
      </span>
    </>
  );
}
