/** Random numbers for tests, the same ones at every run (mulberry32). */
export interface Random {
  /** An integer from `low` to `high`, both included. */
  int(low: number, high: number): number;
  pick<T>(from: readonly T[]): T;
  text(pieces: readonly string[], atMost: number): string;
}

export function seeded(seed: number): Random {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
  const int = (low: number, high: number) => low + Math.floor(next() * (high - low + 1));
  const pick = <T>(from: readonly T[]): T => {
    const one = from[int(0, from.length - 1)];
    if (one === undefined) throw new Error("nothing to pick from");
    return one;
  };
  return {
    int,
    pick,
    text: (pieces, atMost) => Array.from({ length: int(0, atMost) }, () => pick(pieces)).join(""),
  };
}
