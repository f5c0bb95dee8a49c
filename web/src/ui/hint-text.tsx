import { Code } from "@/ui/code";
import { SafeText } from "@/ui/safe-text";

const MOST_PARTS = 40;

/** A sentence of the server, in which `commands` stand between backticks. */
export function HintText({ text }: { text: string }) {
  const parts = text.split("`");
  // An odd backtick is only a sign.
  if (parts.length % 2 === 0 || parts.length > MOST_PARTS) return <SafeText text={text} />;
  return (
    <>
      {parts.map((part, index) =>
        index % 2 === 1 ? <Code key={index}>{part}</Code> : <SafeText key={index} text={part} />,
      )}
    </>
  );
}
