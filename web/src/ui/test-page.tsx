/** For tests: pages inside of a router and a query cache, as the app has them. */

import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import {
  createMemoryHistory,
  createRootRoute,
  createRoute,
  createRouter,
  RouterProvider,
  type AnyRouter,
} from "@tanstack/react-router";
import { render } from "@testing-library/react";
import type { ReactNode } from "react";

import { Toaster } from "@/ui/toast";

export interface Place {
  /** The address that is open at first. */
  at?: string;
  queryClient?: QueryClient;
}

/** Renders the page of an address; `pages` are those that can be gone to. */
export async function renderPages(
  pages: Record<string, () => ReactNode>,
  { at = "/", queryClient = new QueryClient() }: Place = {},
) {
  const root = createRootRoute();
  const routes = Object.entries(pages).map(([path, component]) =>
    createRoute({ getParentRoute: () => root, path, component }),
  );
  const router: AnyRouter = createRouter({
    routeTree: root.addChildren(routes),
    history: createMemoryHistory({ initialEntries: [at] }),
  });
  await router.load();
  render(
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router} />
      <Toaster />
    </QueryClientProvider>,
  );
  return { router, queryClient };
}

/** Renders something that stays, wherever one goes. */
export function renderPage(children: ReactNode, queryClient?: QueryClient) {
  return renderPages({ "/$": () => children }, { queryClient });
}
