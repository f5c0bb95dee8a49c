import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";

import { createQueryClient } from "@/app/query-client";
import { router } from "@/app/router";

/** To the sign-in page, and back here afterwards. */
function askToSignIn(): void {
  const { pathname, href } = router.state.location;
  if (pathname === "/sign-in") return;
  void router.navigate({
    to: "/sign-in",
    search: href === "/" ? {} : { from: href },
    replace: true,
  });
}

const queryClient = createQueryClient(askToSignIn);

export function Providers() {
  return (
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  );
}
