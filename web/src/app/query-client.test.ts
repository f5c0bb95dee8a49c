import { MutationObserver } from "@tanstack/react-query";
import { render, screen } from "@testing-library/react";
import { createElement } from "react";
import { afterEach, describe, expect, it } from "vitest";

import { Problem } from "@/api/problem";
import { createQueryClient, mayRetry } from "@/app/query-client";
import { dismissToasts, Toaster } from "@/ui/toast";

const problem = (status: number, more: object = {}) =>
  new Problem({
    status,
    code: status === 0 ? "offline" : "some_code",
    detail: "It broke",
    ...more,
  });

afterEach(() => dismissToasts());

describe("asking again", () => {
  it("only helps when the server is away or in trouble, and not forever", () => {
    expect(mayRetry(0, problem(0))).toBe(true);
    expect(mayRetry(1, problem(503))).toBe(true);
    expect(mayRetry(2, problem(503))).toBe(false);
    expect(mayRetry(0, problem(404))).toBe(false);
    expect(mayRetry(0, new TypeError("a bug"))).toBe(false);
  });
});

describe("a failed mutation", () => {
  const fail = async (error: Problem, quiet = false) => {
    let signedOut = 0;
    const client = createQueryClient(() => (signedOut += 1));
    render(createElement(Toaster));
    const mutation = new MutationObserver(client, {
      mutationFn: () => Promise.reject(error),
      meta: { quiet },
    });
    await mutation.mutate().catch(() => {});
    return signedOut;
  };

  it("is told with its hint", async () => {
    await fail(problem(409, { hint: "Wait for the task to end." }));
    expect(await screen.findByText("It broke")).toBeInTheDocument();
    expect(screen.getByText("Wait for the task to end.")).toBeInTheDocument();
  });

  it("is told also when it names a field: not every button stands in a form", async () => {
    await fail(problem(404, { field: "task" }));
    expect(await screen.findByText("It broke")).toBeInTheDocument();
  });

  it("is left to whoever says to show it", async () => {
    await fail(problem(409), true);
    await fail(problem(422, { field: "repository_url" }), true);
    expect(screen.queryByText("It broke")).not.toBeInTheDocument();
  });

  it("leads to the sign-in page when the session is over", async () => {
    expect(await fail(problem(401))).toBe(1);
    expect(screen.queryByText("It broke")).not.toBeInTheDocument();
  });
});
