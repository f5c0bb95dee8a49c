import { useMemo } from "react";

import { highlightYaml, type TokenKind } from "@/lib/highlight";
import { clean } from "@/lib/text";

const LOOK = {
  plain: "",
  comment: "text-ink-faint italic",
  key: "text-accent",
  string: "text-good",
  number: "text-active",
  punctuation: "text-ink-faint",
} satisfies Record<TokenKind, string>;

/** A workflow's source, to read: numbered lines, coloured by meaning. */
export function YamlSource({ source, label }: { source: string; label: string }) {
  const lines = useMemo(() => highlightYaml(source), [source]);
  return (
    <pre
      tabIndex={0}
      role="region"
      aria-label={label}
      className="max-h-[36rem] overflow-auto bg-sunken py-3 font-mono text-[12.5px] leading-5"
    >
      {lines.map((tokens, index) => (
        <div key={index} className="flex min-w-max pr-4">
          <span aria-hidden className="w-12 shrink-0 pr-3 text-right text-ink-faint select-none">
            {index + 1}
          </span>
          <code className="whitespace-pre">
            {tokens.map((token, at) => (
              <span key={at} className={LOOK[token.kind]}>
                {clean(token.text)}
              </span>
            ))}
          </code>
        </div>
      ))}
    </pre>
  );
}
