"""Content of a data file by @ringo380/innodb-utils alone. Usage: show.py NODE DIRECTORY, with its node_modules."""

import json
import subprocess
import sys
import tempfile
from decimal import Decimal
from pathlib import Path

NODE = r"""
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [directory, file, role] = process.argv.slice(2);
const place = join(directory, "node_modules", "@ringo380/innodb-utils", "pkg");
const library = await import(pathToFileURL(join(place, "idb_bg.js")).href); // as its idb.js starts it
const code = new WebAssembly.Module(readFileSync(join(place, "idb_bg.wasm")));
const { exports } = new WebAssembly.Instance(code, { "./idb_bg.js": library });
library.__wbg_set_wasm(exports);
exports.__wbindgen_start?.();
const data = new Uint8Array(readFileSync(file));
try {
  const found = role === "sdi" ? library.extract_sdi(data) : library.export_records(data, -1n, false, false);
  process.stdout.write(found);
} catch (error) {
  console.error(String(error?.message ?? error));
  process.exit(1);
}
"""


def plain(value):
    """A value; bytes are digits behind 0x."""
    if isinstance(value, str) and value.startswith("0x"):
        return bytes.fromhex(value[2:])
    return value


def rows(data):
    node, directory = sys.argv[1:]
    place = Path(tempfile.mkdtemp())
    (place / "read.mjs").write_text(NODE)
    (place / "t.ibd").write_bytes(data)
    words = [node, place / "read.mjs", directory, place / "t.ibd", ROLE]
    done = subprocess.run(words, capture_output=True, timeout=50, check=False)
    if done.returncode:
        raise ValueError(done.stderr.decode().strip().splitlines()[-1])
    found = json.loads(done.stdout, parse_float=Decimal)
    if found is None:
        raise ValueError("null: no SDI metadata")
    if ROLE == "sdi":
        for entry in found:
            yield "insert", None, {"name": entry["dd_object"].get("name"), "object": entry}
        return
    for row in found["rows"]:
        yield "insert", None, {name: plain(value) for name, value in zip(found["columns"], row)}
