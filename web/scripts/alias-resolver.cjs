/* Tells the linter where `@/x` and relative imports lead, for the rules about layers. */
"use strict";

const fs = require("node:fs");
const path = require("node:path");

const SRC = path.join(__dirname, "..", "src");
const ENDINGS = ["", ".ts", ".tsx", ".d.ts", ".css"];

exports.interfaceVersion = 2;

exports.resolve = (source, file) => {
  const base = source.startsWith("@/")
    ? path.join(SRC, source.slice(2))
    : source.startsWith(".")
      ? path.resolve(path.dirname(file), source)
      : null;
  if (base === null) return { found: true, path: null };
  const found = ENDINGS.map((ending) => base + ending).find(
    (name) => fs.existsSync(name) && fs.statSync(name).isFile(),
  );
  return found ? { found: true, path: found } : { found: false };
};
