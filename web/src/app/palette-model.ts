export interface Command {
  id: string;
  label: string;
  /** Words it is found by, beside its label. */
  words?: string;
  group: string;
}

function plain(text: string): string {
  return text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
}

/** Lower is better; null when it does not match. Every word must be found somewhere. */
export function rank(command: Command, query: string): number | null {
  const label = plain(command.label);
  const all = `${label} ${plain(command.words ?? "")}`;
  let total = 0;
  for (const word of plain(query).split(/\s+/).filter(Boolean)) {
    const at = all.indexOf(word);
    if (at === -1) return null;
    const begins = at === 0 || all[at - 1] === " ";
    total += (label.includes(word) ? 0 : 2) + (begins ? 0 : 1);
  }
  return total;
}

/** Those that match, best first; in the given order when they are equal. */
export function search<C extends Command>(commands: readonly C[], query: string): C[] {
  return commands
    .map((command, index) => ({ command, index, rank: rank(command, query) }))
    .filter((one): one is typeof one & { rank: number } => one.rank !== null)
    .sort((a, b) => a.rank - b.rank || a.index - b.index)
    .map((one) => one.command);
}

/** The next choice for an arrow, Home or End; it goes round. Null for other keys. */
export function move(key: string, at: number, count: number): number | null {
  if (count === 0) return null;
  if (key === "ArrowDown") return (at + 1) % count;
  if (key === "ArrowUp") return (at - 1 + count) % count;
  if (key === "Home") return 0;
  if (key === "End") return count - 1;
  return null;
}
