/** Who may do what: the server's table of roles. The server has the last word; this only keeps
 * away what it would refuse. */

export type Role = "viewer" | "operator" | "approver" | "admin";

/** `operate`: create and steer orders, check a repository. `approve`: answer what is asked. */
export type Action = "operate" | "approve";

const ALLOWED = {
  viewer: [],
  operator: ["operate"],
  approver: ["operate", "approve"],
  admin: ["operate", "approve"],
} satisfies Record<Role, readonly Action[]>;

/** Of somebody who is not known yet nothing is kept away. */
export function may(role: Role | undefined, action: Action): boolean {
  const allowed: readonly Action[] | undefined = role && ALLOWED[role];
  return allowed === undefined || allowed.includes(action);
}

const LOWEST = { operate: "operator", approve: "approver" } satisfies Record<Action, Role>;

/** Why something is not offered, and what to do about it. */
export function whyNot(role: Role | undefined, action: Action): string {
  const key = `Ask an administrator for a key with the role ${LOWEST[action]}.`;
  return role === undefined ? key : `You are signed in as ${role}. ${key}`;
}
