import { Outlet, useLocation } from "@tanstack/react-router";

import { Shell } from "@/app/shell";
import { Toaster } from "@/ui/toast";

/** Every page stands in the shell, but the one for those who are not signed in. */
export function Root() {
  const signingIn = useLocation({ select: (location) => location.pathname === "/sign-in" });
  return (
    <>
      {signingIn ? <Outlet /> : <Shell />}
      <Toaster />
    </>
  );
}
