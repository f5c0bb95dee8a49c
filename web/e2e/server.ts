/**
 * The real server: `awo up` on a free port of loopback, with a data directory of its own.
 *
 * Every process that is started here is written into a list, and `after.ts` looks whether any of
 * them is left.
 */

import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, createWriteStream, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BIN, output } from "./paths";

export const STARTED = "started-processes.txt";
export const MADE = "made-folders.txt";
const READY_MS = 60_000;
const STOP_MS = 15_000;

interface Announcement {
  url: string;
  link: string;
}

export interface OrderRequest {
  repository_url: string;
  workflow_type?: string;
  workflow_source?: string;
  base_branch?: string;
  initial_prompt?: string;
  title?: string;
  inputs?: Record<string, unknown>;
  agent?: Record<string, unknown>;
}

export interface OrderState {
  agent_work_order_id: string;
  status: string;
  waiting_reason: string | null;
  error_code: string | null;
  git_branch_name: string;
  current_phase: string | null;
}

/** Goes away at the end of the run. */
export function temporaryFolder(name: string): string {
  const folder = mkdtempSync(join(tmpdir(), `awo-e2e-${name}-`));
  appendFileSync(output(MADE), `${folder}\n`);
  return folder;
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const address = probe.address();
  probe.close();
  await once(probe, "close");
  if (address === null || typeof address === "string") throw new Error("no free port");
  return address.port;
}

export class Server {
  private child: ChildProcess | null = null;
  private said: Announcement | null = null;

  private constructor(
    readonly home: string,
    readonly port: number,
    private readonly ownsHome: boolean,
  ) {}

  /** With the given data directory, or with an empty one that goes away at the end. */
  static async start(options: { home?: string; workflows?: Record<string, string> } = {}) {
    const home = options.home ?? temporaryFolder("home");
    const server = new Server(home, await freePort(), options.home === undefined);
    server.addWorkflows(options.workflows ?? {});
    await server.up();
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  get pid(): number {
    const pid = this.child?.pid;
    if (pid === undefined) throw new Error("the server does not run");
    return pid;
  }

  /** The one-time link that `awo up` printed. */
  get link(): string {
    if (this.said === null) throw new Error("the server has not said where it is");
    return this.said.link;
  }

  addWorkflows(files: Record<string, string>): void {
    const folder = join(this.home, "workflows");
    mkdirSync(folder, { recursive: true });
    for (const [name, source] of Object.entries(files)) {
      writeFileSync(join(folder, `${name}.yaml`), source);
    }
  }

  async up(): Promise<void> {
    const child = spawn(
      join(BIN, "awo"),
      ["up", "--home", this.home, "--port", String(this.port), "--no-open", "--json"],
      {
        stdio: ["ignore", "pipe", "pipe"],
        env: {
          PATH: process.env["PATH"],
          HOME: this.home,
          LC_ALL: "C.UTF-8",
          AWO_DRAIN_S: "1",
          AWO_ORDERS_PER_REPOSITORY: "0",
        },
      },
    );
    this.child = child;
    if (child.pid !== undefined) appendFileSync(output(STARTED), `${child.pid}\t${this.home}\n`);
    child.stderr?.pipe(createWriteStream(output(`server-${this.port}.log`), { flags: "a" }));
    this.said = await announcement(child);
  }

  /** As a power cut would: no signal handler runs. */
  async kill(): Promise<void> {
    await this.end("SIGKILL");
  }

  /** Killed, and started again at the same place. */
  async restart(): Promise<void> {
    await this.kill();
    await this.up();
  }

  async stop(): Promise<void> {
    if (!(await this.end("SIGTERM", STOP_MS))) await this.end("SIGKILL");
    if (this.ownsHome) rmSync(this.home, { recursive: true, force: true });
  }

  /** Whether it is gone; true at once when it was gone before. */
  private async end(signal: NodeJS.Signals, limit_ms = READY_MS): Promise<boolean> {
    const child = this.child;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return true;
    const gone = once(child, "exit").then(() => true);
    child.kill(signal);
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<boolean>((resolve) => {
      timer = setTimeout(() => resolve(false), limit_ms);
    });
    const ended = await Promise.race([gone, late]);
    clearTimeout(timer);
    return ended;
  }

  /** Ask the API with the local key, as the command line does: to prepare, and to look behind. */
  async ask<Answer>(method: string, path: string, body?: unknown): Promise<Answer> {
    const response = await fetch(this.url + path, {
      method,
      headers: {
        "X-API-Key": readFileSync(join(this.home, "local.key"), "utf8").trim(),
        ...(body === undefined ? {} : { "Content-Type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return JSON.parse(text) as Answer;
  }

  async create(request: OrderRequest): Promise<string> {
    const made = await this.ask<{ agent_work_order: OrderState }>(
      "POST",
      "/api/agent-work-orders",
      request,
    );
    return made.agent_work_order.agent_work_order_id;
  }

  async order(id: string): Promise<OrderState> {
    const answer = await this.ask<{ agent_work_order: OrderState }>(
      "GET",
      `/api/agent-work-orders/${id}`,
    );
    return answer.agent_work_order;
  }

  /** Wait until the order is in one of these states. */
  async reaches(id: string, ...wanted: string[]): Promise<OrderState> {
    const until = Date.now() + 45_000;
    for (;;) {
      const order = await this.order(id);
      if (wanted.includes(order.status)) return order;
      if (Date.now() > until) {
        throw new Error(`${id} is ${order.status} (${order.error_code}), not ${wanted.join("/")}`);
      }
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }

  /** A further one-time link: `awo open`. */
  async freshLink(): Promise<string> {
    const made = await this.ask<{ path: string }>("POST", "/api/session/links");
    return this.url + made.path;
  }
}

async function announcement(child: ChildProcess): Promise<Announcement> {
  let text = "";
  const read = new Promise<Announcement>((resolve, reject) => {
    child.stdout?.on("data", (chunk: Buffer) => {
      text += chunk.toString();
      try {
        resolve(JSON.parse(text) as Announcement);
      } catch {
        // The document is not whole yet.
      }
    });
    child.once("exit", (code) => reject(new Error(`awo up ended with ${code}: ${text}`)));
  });
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error("awo up did not become ready")), READY_MS);
  });
  try {
    return await Promise.race([read, late]);
  } finally {
    clearTimeout(timer);
  }
}
