// Adapter of @ringo380/innodb-utils: node innodb_utils.mjs DIRECTORY, where DIRECTORY has the node_modules.
// Rows are those of export_records for all pages; schema and tables' names are those that its own extract_sdi gives.
import { readFileSync, writeSync } from "node:fs";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import { join } from "node:path";

const [directory] = process.argv.slice(2);
const place = join(directory, "node_modules", "@ringo380/innodb-utils");
const { version } = JSON.parse(readFileSync(join(place, "package.json"), "utf8"));
const module = pathToFileURL(join(place, "pkg/idb_bg.js")).href;
const code = new WebAssembly.Module(readFileSync(join(place, "pkg/idb_bg.wasm")));
console.log = console.error; // what a library prints is no answer

const TYPES = { Table: 1, Tablespace: 2 };
const ALL_PAGES = -1n;
const NUMBER = "\u0001number:"; // in front of the text of a number, which JavaScript would round

let library = null;
let starts = 0;

// One that has trapped is not to be used again: then the module is loaded anew.
async function start() {
  library = await import(`${module}?${(starts += 1)}`);
  const instance = new WebAssembly.Instance(code, { "./idb_bg.js": library });
  library.__wbg_set_wasm(instance.exports);
  instance.exports.__wbindgen_start?.();
}

const token = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
const parse = (text) => JSON.parse(text.replace(token, (found) => (found[0] === '"' ? found : `"\\u0001number:${found}"`)));
const written = (value) => JSON.stringify(value).replace(/"\\u0001number:([-+.0-9eE]+)"/g, "$1");

function entries(data) {
  return parse(library.extract_sdi(data)).map((object) => ({ type: TYPES[object.dd_object_type] ?? 0, object }));
}

// Bytes, and text that the library does not decode, are given as hexadecimal digits behind 0x.
function valueOf(value, type) {
  if (typeof value === "string" && /^0x(?:[0-9a-fA-F]{2})*$/.test(value)) return { hex: value.slice(2) };
  return type === "json" && typeof value === "string" && !value.startsWith(NUMBER) ? { json_text: value } : value;
}

function rows(data) {
  const found = parse(library.export_records(data, ALL_PAGES, false, false));
  if (found === null) throw new Error("export_records gives null: no SDI metadata");
  const tables = entries(data).filter((entry) => entry.type === TYPES.Table).map((entry) => entry.object.dd_object);
  const table = tables.find((one) => one.name === found.table_name);
  const types = Object.fromEntries((table?.columns ?? []).map((column) => [column.name, column.column_type_utf8]));
  return found.rows.map((row) => ({
    schema: table?.schema_ref ?? "", table: found.table_name,
    values: Object.fromEntries(found.columns.map((name, place) => [name, valueOf(row[place] ?? null, types[name])])),
  }));
}

const methods = { sdi: entries, rows };

async function answer(request) {
  if (request.method === "hello") {
    return { result: { name: "innodb-utils", version, roles: ["rows", "sdi"], capabilities: [] } };
  }
  const method = methods[request.method];
  if (!method) return { result: {} };
  try {
    if (library === null) await start();
    return { result: { [request.method]: method(new Uint8Array(readFileSync(request.path))) } };
  } catch (error) {
    console.error(error);
    if (error instanceof WebAssembly.RuntimeError) library = null;
    return { error: { code: error?.name ?? "error", message: String(error?.message ?? error) } };
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const request = JSON.parse(line);
  writeSync(1, `${written({ ...(await answer(request)), id: request.id })}\n`);
  if (request.method === "bye") break;
}
