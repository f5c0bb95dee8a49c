import { getRouteApi, useRouter } from "@tanstack/react-router";
import { KeyRound, LoaderCircle, LogIn } from "lucide-react";
import { useEffect, useState, type FormEvent } from "react";

import { useSignedInElsewhere, useSignIn } from "@/api/session";
import { returnPath, tokenOf } from "@/features/sign-in/model";
import { Button } from "@/ui/button";
import { Card } from "@/ui/card";
import { Code } from "@/ui/code";
import { ErrorState } from "@/ui/error-state";
import { Field } from "@/ui/field";
import { PageHeader } from "@/ui/page-header";
import { TextInput } from "@/ui/text-input";

const route = getRouteApi("/sign-in");

/** Reads the token once, and takes it out of the address and the history. */
function takeToken(): string | null {
  const { hash, pathname, search } = window.location;
  if (hash === "") return null;
  window.history.replaceState(window.history.state, "", `${pathname}${search}`);
  return tokenOf(hash);
}

export function SignInPage() {
  const { from } = route.useSearch();
  const router = useRouter();
  const signIn = useSignIn();
  const [key, setKey] = useState("");
  const go = () => router.history.replace(returnPath(from, window.location.origin));

  // Outside system: the address. A link works once, so it is used as soon as the page opens.
  useEffect(() => {
    const use = () => {
      const token = takeToken();
      if (token !== null) signIn.mutate({ token }, { onSuccess: go });
    };
    use();
    // Another link pasted into the same tab only changes the fragment.
    window.addEventListener("hashchange", use);
    return () => window.removeEventListener("hashchange", use);
    // eslint-disable-next-line react-hooks/exhaustive-deps -- the address is read once per arrival
  }, []);

  useSignedInElsewhere(go);

  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (key.trim() !== "" && !signIn.isPending) {
      signIn.mutate({ key: key.trim() }, { onSuccess: go });
    }
  };
  const byLink = signIn.isPending && signIn.variables !== undefined && "token" in signIn.variables;

  return (
    <main className="mx-auto flex min-h-dvh w-full max-w-md flex-col justify-center px-4 py-10">
      <PageHeader
        title="Sign in to Agent Work Orders"
        documentTitle="Sign in"
        description={
          <>
            The easiest way: run <Code>awo open</Code> in a terminal on the computer where the
            server runs. It opens this page with a link that signs you in.
          </>
        }
      />
      {byLink ? (
        <div role="status" className="flex items-center gap-2 py-6 text-ink-soft">
          <LoaderCircle aria-hidden className="size-4 motion-safe:animate-spin" />
          Signing you in…
        </div>
      ) : (
        <>
          {signIn.error && <ErrorState error={signIn.error} className="mb-4" />}
          <Card>
            <form onSubmit={submit} className="flex flex-col gap-4">
              <Field
                label="API key"
                required
                hint={
                  <>
                    From <Code>awo key create</Code>, or from whoever runs this server. It is sent
                    once and not kept in the browser.
                  </>
                }
              >
                <TextInput
                  type="password"
                  name="key"
                  autoComplete="current-password"
                  mono
                  icon={KeyRound}
                  value={key}
                  onChange={(event) => setKey(event.target.value)}
                />
              </Field>
              <Button type="submit" variant="primary" icon={LogIn} busy={signIn.isPending}>
                Sign in
              </Button>
            </form>
          </Card>
        </>
      )}
    </main>
  );
}
