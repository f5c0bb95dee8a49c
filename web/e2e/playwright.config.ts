import { defineConfig } from "@playwright/test";
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { TIME_SLACK } from "./measures";
import { OUTPUT } from "./paths";

const NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/** The system's Chromium: nothing is downloaded. `CHROMIUM` names another one. */
function findChromium(): string {
  const folders = [...(process.env["PATH"] ?? "").split(delimiter), "/usr/bin"];
  const places = folders.flatMap((folder) => NAMES.map((name) => join(folder, name)));
  const found = [process.env["CHROMIUM"] ?? "", ...places].find((path) => path && existsSync(path));
  if (!found) throw new Error("Chromium is missing. On Debian: apt-get install chromium");
  return found;
}

// Headless, and silent: the browser itself must talk to nobody either.
const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--host-resolver-rules=MAP evil.test 127.0.0.1, EXCLUDE localhost, EXCLUDE 127.0.0.1",
];

export default defineConfig({
  testDir: "specs",
  outputDir: join(OUTPUT, "traces"),
  fullyParallel: false,
  workers: 2,
  // What passes only the second time is reported as flaky.
  retries: Number(process.env["E2E_RETRIES"] ?? "0"),
  // A whole flow, on a machine that may be busy with others.
  timeout: 60_000 * Math.min(TIME_SLACK, 3),
  expect: { timeout: 10_000 },
  globalSetup: "./before.ts",
  globalTeardown: "./after.ts",
  reporter: [["list"], ["./measures-reporter.ts"]],
  forbidOnly: !!process.env["CI"],
  use: {
    browserName: "chromium",
    headless: true,
    viewport: { width: 1280, height: 800 },
    locale: "en-GB",
    timezoneId: "UTC",
    trace: "retain-on-failure",
    screenshot: "only-on-failure",
    launchOptions: { executablePath: findChromium(), args: FLAGS },
  },
  projects: [
    // Run alone (`scripts/e2e` does): a browser at work on the same cores would be measured too.
    // A trace would be measured as well.
    {
      name: "measures",
      testMatch: /(scale|performance)\.spec\.ts$/,
      workers: 1,
      use: { trace: "off" },
    },
    { name: "flows", testIgnore: /(scale|performance)\.spec\.ts$/ },
  ],
});
