// Adapter of the zongji family: node zongji.mjs DIRECTORY PACKAGE, where DIRECTORY has the node_modules.
// An 'error' event that the stream survives is a mark; an `Unknown` event names nothing, so it is none.
import { readFileSync, writeSync } from "node:fs";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import { join } from "node:path";

const [directory, packageName] = process.argv.slice(2);
const place = join(directory, "node_modules", packageName);
const { version } = JSON.parse(readFileSync(join(place, "package.json"), "utf8"));
const ZongJi = (await import(pathToFileURL(join(place, "index.js")).href)).default;
console.log = console.error; // what a library prints is no answer

const JSON_TYPE = 245;
const GEOMETRY_TYPE = 255;
const STALLED = 1500; // milliseconds without an event, after an error

// Points and lists of points, as the library gives them, in WKB behind SRID 0, which it does not give.
function geometry(value, declared) {
  const kinds = ["point", "linestring", "polygon", "multipoint", "multilinestring", "multipolygon", "geomcollection"];
  const all = (v, test) => Array.isArray(v) && v.length > 0 && v.every(test);
  const isLine = (v) => all(v, (p) => p && "x" in p);
  const isPolygon = (v) => all(v, isLine);
  // What the library gives of LINESTRING and MULTIPOINT is the same, and so on: the first is taken.
  const guess = (v) => (v && "x" in v ? 1 : isLine(v) ? 2 : isPolygon(v) ? 3 : all(v, isPolygon) ? 6 : 7);
  const kind = kinds.includes(declared) ? 1 + kinds.indexOf(declared) : guess(value);
  const uint = (n) => { const b = Buffer.alloc(4); b.writeUInt32LE(n); return b; };
  const point = (p) => { const b = Buffer.alloc(16); b.writeDoubleLE(p.x, 0); b.writeDoubleLE(p.y, 8); return b; };
  const list = (items, one) => Buffer.concat([uint(items.length), ...items.map(one)]);
  const shape = (k, v) => {
    const points = (items) => list(items, point);
    const body = [null, point, points, (rings) => list(rings, points)][k];
    const bytes = body ? body(v) : list(v, (item) => shape(k === 7 ? guess(item) : k - 3, item));
    return Buffer.concat([Buffer.from([1]), uint(k), bytes]);
  };
  return Buffer.concat([uint(0), shape(kind, value)]).toString("hex");
}

// The text of a document as the library gives it; JSON.stringify would write 0 for -0.
function textOf(value) {
  if (Object.is(value, -0)) return "-0.0";
  if (Array.isArray(value)) return `[${value.map((item) => textOf(item ?? null)).join(",")}]`;
  if (value === null || typeof value !== "object" || typeof value.toJSON === "function") return JSON.stringify(value);
  return `{${Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}:${textOf(item ?? null)}`).join(",")}}`;
}

function valueOf(value, column, schema) {
  if (value === null || value === undefined) return null;
  if (column.type === JSON_TYPE) return { json_text: typeof value === "string" ? value : textOf(value) };
  if (Buffer.isBuffer(value)) return { hex: value.toString("hex") };
  if (value instanceof Date) return value.toISOString().replace("T", " ").replace("Z", "");
  if (typeof value === "number") return Number.isFinite(value) && !Object.is(value, -0) ? value : String(Object.is(value, -0) ? "-0" : value);
  if (typeof value === "bigint") return String(value);
  if (column.type === GEOMETRY_TYPE && typeof value === "object") return { hex: geometry(value, schema?.COLUMN_TYPE) };
  return Array.isArray(value) ? value.join(",") : value;
}

function imageOf(row, table) {
  const image = {};
  table.columns.forEach((column, i) => {
    if (column.name in row) image[column.name] = valueOf(row[column.name], column, table.columnSchemas?.[i]);
  });
  return image;
}

function changesOf(event) {
  const operation = { WriteRows: "insert", UpdateRows: "update", DeleteRows: "delete" }[event.getTypeName()];
  const table = event.tableMap?.[event.tableId];
  if (!operation || !table || !event.rows) return [];
  return event.rows.map((row) => ({
    schema: table.parentSchema,
    table: table.tableName,
    operation,
    before: operation === "insert" ? null : imageOf(operation === "update" ? row.before : row, table),
    after: operation === "delete" ? null : imageOf(operation === "update" ? row.after : row, table),
  }));
}

let clients = 0;

function decode({ server }) {
  return new Promise((resolve) => {
    const changes = [];
    const marks = [];
    let timer = null;
    let done = false;
    let stop = server.stop_after ?? null;
    let restarts = server.restarts ?? 0; // how often a lost connection is followed by a new client
    const finish = (client, answer) => {
      if (done) return;
      done = true;
      clearTimeout(timer);
      try { client.stop(); } catch { /* it may never have connected */ }
      resolve(answer);
    };
    // A client from a position, or from the set of GTIDs of the client before it.
    const read = (place) => {
      let over = false;
      const client = new ZongJi({
        host: server.host, port: server.port, user: server.user, password: server.password, charset: "utf8mb4",
        dateStrings: true, timezone: "Z", supportBigNumbers: true, bigNumberStrings: false, jsonStrings: true,
      });
      const again = () => {
        over = true;
        const { filename, position } = client.options;
        const next = server.by === "gtid" ? { gtidSet: client.gtidSet ?? "" } : { filename, position };
        try { client.stop(); } catch { /* its connection is gone */ }
        read(next);
      };
      const stalled = () => {
        const last = marks.pop();
        const message = last ? last.message : "the client reads nothing more";
        finish(client, { error: { code: last ? "error-event" : "timed-out", message, position: null }, changes, marks });
      };
      const wait = () => {
        clearTimeout(timer);
        timer = setTimeout(stalled, marks.length ? STALLED : server.timeout * 1000);
      };
      client.on("error", (error) => {
        if (done || over) return;
        const unsupported = /([A-Z][A-Z_]+_EVENT)/.exec(error.message ?? "");
        if (restarts > 0 && !unsupported) {
          restarts -= 1;
          return again();
        }
        marks.push({ message: String(error.message ?? error), event: unsupported ? unsupported[1] : "", position: null });
        wait();
      });
      client.on("binlog", (event) => {
        if (done || over) return;
        wait();
        try {
          for (const change of changesOf(event)) {
            const lab = change.schema === server.marker?.schema && change.table === server.marker?.table;
            if (lab && change.after?.word === server.marker.end) return finish(client, { result: { changes, marks } });
            if (!lab) changes.push(change);
          }
        } catch (error) {
          marks.push({ message: `${error.name}: ${error.message}`, event: "", position: null });
          return stalled();
        }
        if (stop !== null && changes.length >= stop) {
          stop = null;
          again();
        }
      });
      client.start({ serverId: 1080 + (clients++ % 100), ...place });
      wait();
    };
    const atStart = server.by === "gtid" ? { gtidSet: server.gtids } : { filename: server.file, position: server.position };
    read(atStart);
  });
}

const hello = { name: packageName, version, roles: ["decode"], capabilities: ["server", "position", "stop", ...(packageName === "@vlasky/zongji" ? ["gtid"] : [])], input: "path" };
// Errors outside of the stream (a late packet of a stopped client) belong to no request.
process.on("uncaughtException", (error) => {
  console.error(error);
  process.exit(70);
});

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, ...request } = JSON.parse(line);
  let answer;
  if (method === "hello") answer = { result: hello };
  else if (method === "bye") answer = { result: {} };
  else if (method === "decode") answer = await decode(request);
  else answer = { error: { code: "unknown-method", message: `no method '${method}'`, position: null } };
  writeSync(1, JSON.stringify({ id, ...answer }) + "\n");
  if (method === "bye") process.exit(0);
}
