import { createRootRoute, createRoute, createRouter } from "@tanstack/react-router";

import { NotFoundPage, PagePending, RouteError } from "@/app/fallbacks";
import {
  newOrderSearch,
  orderSearch,
  ordersSearch,
  parseSearch,
  signInSearch,
  stringifySearch,
  workflowSearch,
} from "@/app/search";
import { Root } from "@/app/root";
import { late } from "@/lib/late-code";

const root = createRootRoute({ component: Root, notFoundComponent: NotFoundPage });
const parent = () => root;

const inbox = createRoute({
  getParentRoute: parent,
  path: "/",
  component: late(async () => (await import("@/features/inbox/inbox-page")).InboxPage),
});

const orders = createRoute({
  getParentRoute: parent,
  path: "/orders",
  validateSearch: ordersSearch,
  component: late(async () => (await import("@/features/orders/orders-page")).OrdersPage),
});

const order = createRoute({
  getParentRoute: parent,
  path: "/orders/$orderId",
  validateSearch: orderSearch,
  component: late(async () => (await import("@/features/order/order-page")).OrderPage),
});

const newOrder = createRoute({
  getParentRoute: parent,
  path: "/new",
  validateSearch: newOrderSearch,
  component: late(async () => (await import("@/features/new-order/new-order-page")).NewOrderPage),
});

const workflows = createRoute({
  getParentRoute: parent,
  path: "/workflows",
  component: late(async () => (await import("@/features/workflows/workflows-page")).WorkflowsPage),
});

const workflow = createRoute({
  getParentRoute: parent,
  path: "/workflows/$name",
  validateSearch: workflowSearch,
  component: late(async () => (await import("@/features/workflows/workflow-page")).WorkflowPage),
});

const approvals = createRoute({
  getParentRoute: parent,
  // With a slash at its end, or the route below would take an empty id.
  path: "/approvals/",
  component: late(async () => (await import("@/features/approvals/approvals-page")).ApprovalsPage),
});

// The id of an approval contains slashes.
const approval = createRoute({
  getParentRoute: parent,
  path: "/approvals/$",
  component: late(async () => (await import("@/features/approvals/approval-page")).ApprovalPage),
});

const about = createRoute({
  getParentRoute: parent,
  path: "/about",
  component: late(async () => (await import("@/features/about/about-page")).AboutPage),
});

const signIn = createRoute({
  getParentRoute: parent,
  path: "/sign-in",
  validateSearch: signInSearch,
  component: late(async () => (await import("@/features/sign-in/sign-in-page")).SignInPage),
});

export const router = createRouter({
  routeTree: root.addChildren([
    inbox,
    orders,
    order,
    newOrder,
    workflows,
    workflow,
    approvals,
    approval,
    about,
    signIn,
  ]),
  parseSearch,
  stringifySearch,
  // What a page's check leaves out is gone, instead of passed on unchecked.
  search: { strict: true },
  defaultPreload: "intent",
  defaultPendingComponent: PagePending,
  defaultPendingMs: 150,
  defaultErrorComponent: RouteError,
  scrollRestoration: true,
});

// The page that is there stays until the next one's code is: during an outage that may be long.
router.subscribe("onResolved", () => {
  router.options.defaultPendingMs = Infinity;
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
