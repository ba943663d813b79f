"""Rows by zongji alone, as its README starts it. Usage: show.py NODE DIRECTORY PACKAGE, with its node_modules."""

import json
import subprocess
import sys
import tempfile
from decimal import Decimal
from pathlib import Path

NODE = r"""
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [directory, name, server] = process.argv.slice(2);
const { host, port, user, password, file, position, schema } = JSON.parse(server);
const { default: ZongJi } = await import(pathToFileURL(join(directory, "node_modules", name, "index.js")).href);
const say = (line) => process.stdout.write(JSON.stringify(line) + "\n");
console.log = console.error;

// JSON.stringify would write 0 for -0.
function text(value) {
  if (Object.is(value, -0)) return "-0.0";
  if (Array.isArray(value)) return `[${value.map((item) => text(item ?? null)).join(",")}]`;
  if (value === null || typeof value !== "object" || typeof value.toJSON === "function") return JSON.stringify(value);
  return `{${Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}:${text(item ?? null)}`).join(",")}}`;
}

// A value with the name of its type; the value of a JSON column is "json".
function typed(value, column) {
  if (value === null || value === undefined) return null;
  if (column.type === 245) return ["json", typeof value === "string" ? value : text(value)];
  if (Buffer.isBuffer(value)) return ["bytes", value.toString("hex")];
  if (value instanceof Date) return ["date", value.toISOString()];
  if (Array.isArray(value) && value.every((one) => typeof one === "string")) return ["set", value];
  if (typeof value === "object") return ["object", JSON.stringify(value)];
  return [typeof value, Object.is(value, -0) ? "-0" : String(value)];
}

const image = (row, table) =>
  row && Object.fromEntries(table.columns.filter((c) => c.name in row).map((c) => [c.name, typed(row[c.name], c)]));

let said = false;
let timer;
function wait() { // an error may be one event's only, and more may follow
  clearTimeout(timer);
  timer = setTimeout(() => { if (!said) say({ error: "nothing more comes" }); process.exit(0); }, said ? 1500 : 20000);
}
const zongji = new ZongJi({
  host, port, user, password, charset: "utf8mb4", dateStrings: true, timezone: "Z", supportBigNumbers: true,
  jsonStrings: true,
});
zongji.on("error", (error) => { said = true; say({ error: String(error.message ?? error) }); wait(); });
zongji.on("binlog", (event) => {
  wait();
  const operation = { WriteRows: "insert", UpdateRows: "update", DeleteRows: "delete" }[event.getTypeName()];
  const table = event.tableMap?.[event.tableId];
  if (!operation || !table || !event.rows) return;
  if (table.parentSchema === schema) process.exit(0); // a row of another table, behind the log
  for (const row of event.rows) {
    const [before, after] = operation === "update" ? [row.before, row.after] : [row, row];
    say({ row: [operation, operation === "insert" ? null : image(before, table),
                operation === "delete" ? null : image(after, table)] });
  }
});
process.on("uncaughtException", (error) => { say({ error: `${error.name}: ${error.message}` }); process.exit(0); });
zongji.start({ serverId: 100, filename: file, position });
wait();
"""


class Number(Decimal):
    """A number of a JSON text, with its digits: the text does not say whether it is a DECIMAL or a DOUBLE."""


def plain(value):
    """JavaScript's value as Python has it. Its numbers do not say whether they are integers."""
    if value is None:
        return None
    kind, text = value
    if kind == "number":
        return int(text) if text.lstrip("-").isdigit() and text != "-0" else float(text)
    if kind == "json":
        return json.loads(text, parse_float=Number)
    known = {"bytes": bytes.fromhex, "bigint": int, "object": json.loads, "set": set}
    return known.get(kind, str)(text)


def rows(log):
    node, directory, package = sys.argv[1:]
    program = Path(tempfile.mkdtemp()) / "rows.mjs"
    program.write_text(NODE)
    words = [node, program, directory, package, json.dumps(SERVER)]
    done = subprocess.run(words, stdout=subprocess.PIPE, timeout=50, check=False)
    said = None
    for line in map(json.loads, done.stdout.decode().splitlines()):
        said = said or line.get("error")
        if "row" in line:
            operation, *images = line["row"]
            yield operation, *(image and {name: plain(value) for name, value in image.items()} for image in images)
    if done.returncode or said:
        raise ValueError(said or f"exit status {done.returncode}")
