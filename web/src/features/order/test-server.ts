import { vi } from "vitest";

export interface Sent {
  method: string;
  path: string;
  body: unknown;
}

type Answer = { status?: number; body: unknown };

/** Puts a server in the place of the network; answers what was asked of it. */
export function serve(answer: (sent: Sent) => Answer | Promise<Answer>): Sent[] {
  const asked: Sent[] = [];
  vi.stubGlobal("fetch", async (request: Request) => {
    const text = await request.clone().text();
    const sent: Sent = {
      method: request.method,
      path: new URL(request.url).pathname,
      body: text === "" ? null : (JSON.parse(text) as unknown),
    };
    asked.push(sent);
    const { status = 200, body } = await answer(sent);
    return new Response(JSON.stringify(body), {
      status,
      headers: { "Content-Type": status < 400 ? "application/json" : "application/problem+json" },
    });
  });
  return asked;
}
