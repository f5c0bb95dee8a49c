// Fails when the first page needs more JavaScript than the budget, or code that belongs to
// later. Run after `vite build`: node scripts/bundle-budget.mjs [folder of the build]
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const BUDGET_KB = 250;
/** Code for one page only: by what its modules are called. */
const LATER = [/node_modules\/@xyflow\//, /src\/lib\/(word-)?diff/, /src\/features\/(?!sign-in)/];

const dist =
  process.argv[2] ??
  fileURLToPath(new URL("../../src/agent_work_orders/api/dashboard", import.meta.url));
const manifest = JSON.parse(readFileSync(join(dist, ".vite/manifest.json"), "utf8"));
const modules = JSON.parse(readFileSync(join(dist, ".vite/modules.json"), "utf8"));

/** A chunk and all that it imports at once. */
function closure(name, seen = new Set()) {
  if (seen.has(name)) return seen;
  seen.add(name);
  for (const next of manifest[name].imports ?? []) closure(next, seen);
  return seen;
}

const size = (file) => gzipSync(readFileSync(join(dist, file)), { level: 9 }).length;
const kb = (bytes) => `${(bytes / 1000).toFixed(1)} kB`;

const entries = Object.keys(manifest).filter((name) => manifest[name].isEntry);
const initial = [...new Set(entries.flatMap((name) => [...closure(name)]))];
const files = initial.map((name) => manifest[name].file).filter((file) => file.endsWith(".js"));
const total = files.reduce((sum, file) => sum + size(file), 0);
const problems = [];

console.log(`Initial JavaScript, gzip: ${kb(total)} of ${BUDGET_KB} kB`);
for (const file of files) console.log(`  ${kb(size(file)).padStart(10)}  ${file}`);
if (total > BUDGET_KB * 1000) problems.push(`more than ${BUDGET_KB} kB`);

for (const file of files) {
  for (const module of modules[file] ?? []) {
    if (LATER.some((pattern) => pattern.test(module))) {
      problems.push(`${module} is loaded at once with ${file}`);
    }
  }
}

const routes = Object.keys(manifest).filter((name) => /^src\/features\/.*-page\.tsx$/.test(name));
console.log("\nEach page, gzip, beyond that:");
for (const name of routes.sort()) {
  const more = [...closure(name)].filter((one) => !initial.includes(one));
  const bytes = more.map((one) => manifest[one].file).reduce((sum, file) => sum + size(file), 0);
  console.log(`  ${kb(bytes).padStart(10)}  ${name.replace(/^src\/features\//, "")}`);
}

if (entries.length === 0) problems.push("the build has no entry");
for (const problem of problems) console.error(`Bundle budget: ${problem}`);
process.exit(problems.length > 0 ? 1 : 0);
