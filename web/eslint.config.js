import boundaries from "eslint-plugin-boundaries";
import reactHooks from "eslint-plugin-react-hooks";
import { fileURLToPath } from "node:url";
import tseslint from "typescript-eslint";

const resolver = fileURLToPath(new URL("./scripts/alias-resolver.cjs", import.meta.url));

/** Who may import whom. Features are strangers to each other: shared things move down. */
const LAYERS = {
  app: ["app", "features", "ui", "api", "lib", "theme"],
  features: ["ui", "api", "lib"],
  ui: ["ui", "lib", "theme"],
  api: ["api", "lib"],
  lib: ["lib"],
};

const onlyInApi = [
  { name: "fetch", message: "Ask the server through src/api." },
  { name: "EventSource", message: "Events come through src/api/live." },
  { name: "XMLHttpRequest", message: "Ask the server through src/api." },
  { name: "WebSocket", message: "Events come through src/api/live." },
];

const forbiddenSyntax = [
  {
    selector: "JSXAttribute[name.name='dangerouslySetInnerHTML']",
    message: "What orders contain is text, never markup.",
  },
  {
    selector: "Property[key.name='dangerouslySetInnerHTML']",
    message: "What orders contain is text, never markup.",
  },
  {
    selector: "AssignmentExpression[left.property.name=/^(innerHTML|outerHTML)$/]",
    message: "What orders contain is text, never markup.",
  },
  { selector: "ExportDefaultDeclaration", message: "Export by name." },
];

export default tseslint.config(
  { ignores: ["node_modules", "e2e/output", "src/api/schema.d.ts", "public"] },
  ...tseslint.configs.strict,
  {
    rules: {
      "no-restricted-syntax": ["error", ...forbiddenSyntax],
      eqeqeq: "error",
      "no-console": "error",
      "@typescript-eslint/consistent-type-imports": ["error", { fixStyle: "inline-type-imports" }],
      "@typescript-eslint/no-unused-vars": [
        "error",
        { argsIgnorePattern: "^_", varsIgnorePattern: "^_", caughtErrors: "none" },
      ],
      "@typescript-eslint/no-empty-function": "off",
      "@typescript-eslint/no-invalid-void-type": "off",
    },
  },
  {
    files: ["src/**/*.{ts,tsx}"],
    plugins: { boundaries, "react-hooks": reactHooks },
    settings: {
      "import/resolver": { [resolver]: {} },
      "boundaries/include": ["src/**/*"],
      "boundaries/elements": [
        { type: "app", pattern: "src/app" },
        { type: "features", pattern: "src/features/*", capture: ["feature"] },
        { type: "ui", pattern: "src/ui" },
        { type: "api", pattern: "src/api" },
        { type: "lib", pattern: "src/lib" },
        { type: "theme", pattern: "src/theme" },
      ],
    },
    rules: {
      ...reactHooks.configs.recommended.rules,
      "react-hooks/exhaustive-deps": "error",
      // There is no React compiler here that could skip something.
      "react-hooks/incompatible-library": "off",
      "boundaries/dependencies": [
        "error",
        {
          default: "disallow",
          policies: [
            ...Object.entries(LAYERS).map(([type, allowed]) => ({
              from: { element: { type } },
              allow: { to: { element: { types: { anyOf: allowed } } } },
            })),
          ],
        },
      ],
      "no-restricted-imports": [
        "error",
        ...Object.entries({ react: "lazy", "@tanstack/react-router": "lazyRouteComponent" }).map(
          ([name, importName]) => ({
            name,
            importNames: [importName],
            message: "Code that comes later comes by src/lib/late-code: it survives an outage.",
          }),
        ),
      ],
      "no-restricted-globals": ["error", ...onlyInApi],
      "no-restricted-properties": [
        "error",
        ...["window", "globalThis", "self"].flatMap((object) =>
          onlyInApi.map(({ name, message }) => ({ object, property: name, message })),
        ),
      ],
    },
  },
  {
    files: ["src/api/**"],
    rules: { "no-restricted-globals": "off", "no-restricted-properties": "off" },
  },
  {
    files: ["**/*.tsx"],
    rules: { "max-lines": ["error", { max: 200, skipBlankLines: false, skipComments: false }] },
  },
  {
    files: ["**/*.test.{ts,tsx}"],
    rules: {
      "max-lines": "off",
      "@typescript-eslint/no-non-null-assertion": "off",
      "no-restricted-globals": "off",
      "no-restricted-properties": "off",
    },
  },
  {
    // Tools ask for default exports.
    files: ["*.config.{js,ts}", "e2e/**", "scripts/**"],
    rules: {
      "no-restricted-syntax": "off",
      "no-console": "off",
      "@typescript-eslint/no-require-imports": "off",
    },
  },
);
