/** The key under which the server recognises the same submission.
 *
 * A form that is sent again unchanged, because no answer came, must not make a second order; one
 * that was changed is another submission. */
export class Submission {
  private body = "";
  private key = "";

  constructor(private readonly newKey: () => string = randomKey) {}

  keyFor(body: unknown): string {
    const text = JSON.stringify(body);
    if (this.key === "" || text !== this.body) {
      this.body = text;
      this.key = this.newKey();
    }
    return this.key;
  }

  /** It has arrived: whatever comes next is new. */
  done(): void {
    this.key = "";
  }
}

/** Unlike `randomUUID` this works on pages that did not come over https. */
function randomKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
