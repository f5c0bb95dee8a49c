/** Work orders: what pages import. */

export {
  LOG_PAGE_SIZE,
  PAGE_SIZE,
  orderKeys,
  type LogFilter,
  type OrderFilter,
} from "./order-keys";
export * from "./order-queries";
export { useCreateOrder, useSteer, type Override, type Steering } from "./steering";
export { useLogWindow, useOrderWindow, type Window } from "./windows";
