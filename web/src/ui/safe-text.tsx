import { clean, truncate } from "@/lib/text";

export interface SafeTextProps {
  text: string | null | undefined;
  /** Cut after so many characters, with an ellipsis. */
  max?: number;
  /** Keep line breaks. */
  lines?: boolean;
  className?: string;
  title?: string;
}

/**
 * Text that somebody else wrote: control characters are gone, characters that turn the direction
 * of text are visible, and its direction does not reach what stands around it.
 */
export function SafeText({ text, max, lines = false, className, title }: SafeTextProps) {
  const cleaned = clean(text ?? "");
  return (
    <bdi
      title={title}
      className={[lines && "break-words whitespace-pre-wrap", className].filter(Boolean).join(" ")}
    >
      {max === undefined ? cleaned : truncate(cleaned, max)}
    </bdi>
  );
}
