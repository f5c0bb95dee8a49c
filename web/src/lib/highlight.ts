/** Colours for YAML that is only read, and marks for a search. One pass, no library, no HTML. */

export type TokenKind = "plain" | "comment" | "key" | "string" | "number" | "punctuation";

export interface Token {
  text: string;
  kind: TokenKind;
}

/** Longer lines are shown without colours. */
const MAX_LINE = 20_000;
const NUMBER =
  /^(?:[-+]?(?:\d[\d_]*(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?|0x[\da-f]+|true|false|null|~|yes|no)$/i;
const BLOCK = /^[|>](?:[+-]?[1-9]?|[1-9][+-])$/;

/** What a line leaves open for the next one. */
interface State {
  /** Lines that stand further right are the text of a block scalar. */
  blockIndent: number | null;
  quote: '"' | "'" | null;
  flowDepth: number;
}

/** A list of tokens per line; the texts of a line joined are the line. */
export function highlightYaml(source: string): Token[][] {
  const state: State = { blockIndent: null, quote: null, flowDepth: 0 };
  return source.split("\n").map((line) => {
    if (line.length > MAX_LINE) return [{ text: line, kind: "plain" }];
    return new Line(line, state).tokens();
  });
}

class Line {
  private readonly found: Token[] = [];
  private at = 0;
  /** Where the innermost key or dash of this line stands. */
  private column = 0;
  private isStart = true;

  constructor(
    private readonly text: string,
    private readonly state: State,
  ) {}

  tokens(): Token[] {
    const { text, state } = this;
    const indent = text.length - text.trimStart().length;
    this.column = indent;
    if (state.blockIndent !== null) {
      if (text.trim() === "" || indent > state.blockIndent) return this.whole("string");
      state.blockIndent = null;
    }
    if (state.quote !== null) this.finishQuote(state.quote, 0);
    else if (/^(?:---|\.\.\.)\s*$/.test(text)) return this.whole("punctuation");
    else if (text.startsWith("%") && state.flowDepth === 0) return this.whole("comment");
    while (this.at < text.length) this.step();
    return this.found;
  }

  private whole(kind: TokenKind): Token[] {
    return this.text === "" ? [] : [{ text: this.text, kind }];
  }

  private step(): void {
    const char = this.text.charAt(this.at);
    if (isSpace(char)) return this.take(this.spaceEnd(this.at), "plain");
    const afterSpace = this.at === 0 || isSpace(this.text.charAt(this.at - 1));
    if (char === "#" && afterSpace) return this.take(this.text.length, "comment");
    if (this.isStart && (char === "-" || char === "?") && this.isGap(this.at + 1)) {
      this.column = this.at;
      return this.take(this.at + 1, "punctuation");
    }
    const isStart = this.isStart;
    this.isStart = false;
    if (char === '"' || char === "'") return this.finishQuote(char, this.at + 1);
    if ("{[".includes(char)) {
      this.state.flowDepth++;
      return this.take(this.at + 1, "punctuation");
    }
    if ("]}".includes(char) && this.state.flowDepth > 0) {
      this.state.flowDepth--;
      return this.take(this.at + 1, "punctuation");
    }
    if (char === "," && this.state.flowDepth > 0) return this.take(this.at + 1, "punctuation");
    if (char === ":" && this.isGap(this.at + 1)) return this.take(this.at + 1, "punctuation");
    this.scalar(isStart);
  }

  private scalar(isStart: boolean): void {
    const end = this.scalarEnd();
    const text = this.text.slice(this.at, end);
    const start = this.at;
    if (this.isKey(end)) {
      if (isStart) this.column = start;
      return this.take(end, "key");
    }
    if (this.state.flowDepth === 0 && BLOCK.test(text) && this.isLast(end)) {
      this.state.blockIndent = this.column;
      return this.take(end, "punctuation");
    }
    this.take(end, NUMBER.test(text) ? "number" : "string");
  }

  private scalarEnd(): number {
    const { text } = this;
    let end = this.at + 1;
    for (let at = this.at; at < text.length; at++) {
      const char = text.charAt(at);
      if (char === ":" && at > this.at && this.isGap(at + 1)) break;
      if (char === "#" && isSpace(text.charAt(at - 1))) break;
      if (this.state.flowDepth > 0 && ",[]{}".includes(char)) break;
      if (!isSpace(char)) end = at + 1;
    }
    return end;
  }

  private finishQuote(quote: '"' | "'", from: number): void {
    const { text } = this;
    for (let at = from; at < text.length; at++) {
      const char = text.charAt(at);
      if (quote === '"' && char === "\\") at++;
      else if (char === quote && quote === "'" && text.charAt(at + 1) === "'") at++;
      else if (char === quote) {
        this.state.quote = null;
        this.isStart = false;
        return this.take(at + 1, this.isKey(at + 1) ? "key" : "string");
      }
    }
    this.state.quote = quote;
    this.take(text.length, "string");
  }

  private isKey(end: number): boolean {
    const at = this.spaceEnd(end);
    return this.text.charAt(at) === ":" && this.isGap(at + 1);
  }

  private isLast(end: number): boolean {
    const at = this.spaceEnd(end);
    return at >= this.text.length || (at > end && this.text.charAt(at) === "#");
  }

  /** Whether a sign before this place is one of structure. */
  private isGap(at: number): boolean {
    const char = this.text.charAt(at);
    return char === "" || isSpace(char) || (this.state.flowDepth > 0 && ",[]{}".includes(char));
  }

  private spaceEnd(from: number): number {
    let at = from;
    while (at < this.text.length && isSpace(this.text.charAt(at))) at++;
    return at;
  }

  private take(end: number, kind: TokenKind): void {
    if (end <= this.at) return;
    this.found.push({ text: this.text.slice(this.at, end), kind });
    this.at = end;
  }
}

function isSpace(char: string): boolean {
  return char === " " || char === "\t" || char === "\r";
}

export interface Marked {
  text: string;
  match: boolean;
}

const MAX_MATCHES = 1000;
const MAX_QUERY = 200;

/** The text in pieces, those that match the query marked. Case does not matter. */
export function markMatches(text: string, query: string): Marked[] {
  const wanted = query.trim();
  if (text === "") return [];
  if (wanted === "" || wanted.length > MAX_QUERY) return [{ text, match: false }];
  const pattern = new RegExp(wanted.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&"), "giu");
  const pieces: Marked[] = [];
  let from = 0;
  let count = 0;
  for (const found of text.matchAll(pattern)) {
    if (found.index > from) pieces.push({ text: text.slice(from, found.index), match: false });
    pieces.push({ text: found[0], match: true });
    from = found.index + found[0].length;
    if (++count >= MAX_MATCHES) break;
  }
  if (from < text.length) pieces.push({ text: text.slice(from), match: false });
  return pieces;
}
