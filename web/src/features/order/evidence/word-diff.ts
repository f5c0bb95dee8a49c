/** Which words of a changed line differ. Bounded: long lines are compared by their ends only. */

export interface WordSpan {
  text: string;
  changed: boolean;
}

export interface WordDiff {
  before: WordSpan[];
  after: WordSpan[];
}

const MAX_CHARS = 4000;
const MAX_CELLS = 60_000;

export function wordDiff(before: string, after: string): WordDiff {
  const isLong = before.length > MAX_CHARS || after.length > MAX_CHARS;
  const a = isLong ? [before] : words(before);
  const b = isLong ? [after] : words(after);
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let end = 0;
  const most = Math.min(a.length, b.length) - start;
  while (end < most && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;

  const middleA = a.slice(start, a.length - end);
  const middleB = b.slice(start, b.length - end);
  const [keptA, keptB] = common(middleA, middleB);
  return {
    before: spans(a, (at) => isKept(at, start, a.length - end, keptA)),
    after: spans(b, (at) => isKept(at, start, b.length - end, keptB)),
  };
}

function words(text: string): string[] {
  return text.match(/[\p{L}\p{N}_]+|\s+|[^\p{L}\p{N}_\s]/gu) ?? [];
}

function isKept(at: number, start: number, end: number, kept: ReadonlySet<number>): boolean {
  return at < start || at >= end || kept.has(at - start);
}

/** The longest common subsequence, as indexes of both; nothing if it would cost too much. */
function common(a: readonly string[], b: readonly string[]): [Set<number>, Set<number>] {
  const keptA = new Set<number>();
  const keptB = new Set<number>();
  const width = b.length + 1;
  if (a.length * b.length === 0 || a.length * b.length > MAX_CELLS) return [keptA, keptB];
  const lengths = new Uint16Array((a.length + 1) * width);
  const cell = (row: number, column: number) => lengths[row * width + column] ?? 0;
  for (let row = a.length - 1; row >= 0; row--) {
    for (let column = b.length - 1; column >= 0; column--) {
      lengths[row * width + column] =
        a[row] === b[column]
          ? cell(row + 1, column + 1) + 1
          : Math.max(cell(row + 1, column), cell(row, column + 1));
    }
  }
  let row = 0;
  let column = 0;
  while (row < a.length && column < b.length) {
    if (a[row] === b[column]) {
      keptA.add(row++);
      keptB.add(column++);
    } else if (cell(row + 1, column) >= cell(row, column + 1)) row++;
    else column++;
  }
  return [keptA, keptB];
}

function spans(tokens: readonly string[], kept: (at: number) => boolean): WordSpan[] {
  const found: WordSpan[] = [];
  tokens.forEach((text, at) => {
    const changed = !kept(at);
    const last = found[found.length - 1];
    if (last && last.changed === changed) last.text += text;
    else found.push({ text, changed });
  });
  return found;
}
