import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import {
  createMemoryHistory,
  createRootRoute,
  createRouter,
  RouterProvider,
  type AnyRouter,
} from "@tanstack/react-router";
import { render } from "@testing-library/react";
import type { ReactNode } from "react";
import { vi } from "vitest";

import { Toaster } from "@/ui/toast";

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

/** Renders something inside of a router and a query cache, as a page is. */
export async function renderPage(children: ReactNode, queryClient = new QueryClient()) {
  const rootRoute = createRootRoute({
    component: () => (
      <>
        {children}
        <Toaster />
      </>
    ),
  });
  const router = createRouter({ routeTree: rootRoute, history: createMemoryHistory() });
  await router.load();
  render(
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router as unknown as AnyRouter} />
    </QueryClientProvider>,
  );
  return { router, queryClient };
}
