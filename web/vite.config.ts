/// <reference types="vitest/config" />
import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { fileURLToPath } from "node:url";
import { defineConfig, type Plugin } from "vite";

// `npm run dev` serves the sources and sends API calls to a server started with `awo up`.
const SERVER = process.env["AWO_URL"] ?? "http://127.0.0.1:8420";
const ROOT = fileURLToPath(new URL(".", import.meta.url));

/** Writes which sources went into which file, for scripts/bundle-budget.mjs. */
function moduleList(): Plugin {
  return {
    name: "module-list",
    generateBundle(_options, bundle) {
      const modules: Record<string, string[]> = {};
      for (const [file, chunk] of Object.entries(bundle)) {
        if (chunk.type !== "chunk") continue;
        modules[file] = chunk.moduleIds.map((id) => id.replace(ROOT, ""));
      }
      this.emitFile({
        type: "asset",
        fileName: ".vite/modules.json",
        source: JSON.stringify(modules, null, 1),
      });
    },
  };
}

export default defineConfig({
  plugins: [react(), tailwindcss(), moduleList()],
  resolve: { alias: { "@": fileURLToPath(new URL("./src", import.meta.url)) } },
  build: {
    outDir: "../src/agent_work_orders/api/dashboard",
    emptyOutDir: true,
    manifest: true,
    // One file: a style that could not be had with its page would not be asked for again.
    cssCodeSplit: false,
    // Everything comes from files: the content security policy allows nothing inline.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: "es2022",
    chunkSizeWarningLimit: 900,
  },
  server: { proxy: { "/api": SERVER, "/status": SERVER } },
  test: {
    environment: "jsdom",
    // Far beyond what any test needs: a busy machine is not a failure.
    testTimeout: 60_000,
    include: ["src/**/*.test.{ts,tsx}"],
    setupFiles: ["src/test-setup.ts"],
  },
});
