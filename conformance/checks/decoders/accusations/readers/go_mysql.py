"""Rows of a log by go-mysql's own parser of files, without the npm program around it.

Usage: show.py DIRECTORY, a Go module where `go get github.com/go-mysql-org/go-mysql@v1.11.0` was done.
"""

import json
import subprocess
import sys
import tempfile
from decimal import Decimal
from pathlib import Path

GO = r"""
package main

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/go-mysql-org/go-mysql/replication"
)

// A value with the name of its Go type; the text of a JSON column is "json".
func typed(value any, code byte) any {
	if text, ok := value.([]byte); ok && code == 245 {
		return []string{"json", string(text)}
	}
	if text, ok := value.(string); ok && code == 245 {
		return []string{"json", text}
	}
	switch v := value.(type) {
	case nil:
		return nil
	case []byte:
		return []string{"bytes", hex.EncodeToString(v)}
	case string:
		return []string{"string", hex.EncodeToString([]byte(v))}
	}
	return []string{fmt.Sprintf("%T", value), fmt.Sprint(value)}
}

func image(table *replication.TableMapEvent, row []any, skipped []int) map[string]any {
	out, absent := map[string]any{}, map[int]bool{}
	for _, place := range skipped {
		absent[place] = true
	}
	for place, value := range row {
		name := fmt.Sprintf("@%d", place+1)
		if place < len(table.ColumnName) {
			name = string(table.ColumnName[place])
		}
		if !absent[place] {
			out[name] = typed(value, table.ColumnType[place])
		}
	}
	return out
}

func show(event *replication.BinlogEvent) error {
	switch body := event.Event.(type) {
	case *replication.TransactionPayloadEvent:
		for _, inner := range body.Events {
			if err := show(inner); err != nil {
				return err
			}
		}
	case *replication.RowsEvent:
		kind, operation := event.Header.EventType.String(), "update"
		if strings.HasPrefix(kind, "Write") {
			operation = "insert"
		} else if strings.HasPrefix(kind, "Delete") {
			operation = "delete"
		}
		for number, row := range body.Rows {
			line, _ := json.Marshal([]any{operation, image(body.Table, row, body.SkippedColumns[number])})
			fmt.Println(string(line))
		}
	}
	return nil
}

func main() {
	if err := replication.NewBinlogParser().ParseFile(os.Args[1], 0, show); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
"""


class NoJson(str):
    """A text that stands in the place of a document, and is no JSON."""


class Number(Decimal):
    """A number of a JSON text, with its digits: the text does not say whether it is a DECIMAL or a DOUBLE."""


def plain(value):
    """Go's value as Python has it."""
    if value is None:
        return None
    kind, text = value
    if kind == "json":
        try:
            return json.loads(text, parse_float=Number)
        except ValueError:  # what it gives is no JSON, and no error of the library either
            return NoJson(text)
    if kind in ("bytes", "string"):
        data = bytes.fromhex(text)
        return data if kind == "bytes" else data.decode("utf-8", "surrogateescape")
    return float(text) if kind.startswith("float") else int(text) if "int" in kind else f"{kind} {text}"


def rows(log):
    module = Path(sys.argv[1])
    program = module / "rows"
    if not program.exists():
        (module / "main.go").write_text(GO)
        subprocess.run(["go", "build", "-o", "rows", "."], cwd=module, check=True)
    place = Path(tempfile.mkdtemp()) / "log.binlog"
    place.write_bytes(log)
    done = subprocess.run([program, place], capture_output=True, timeout=50, check=False)
    before = None
    for line in done.stdout.decode().splitlines():
        operation, image = json.loads(line)
        image = {name: plain(value) for name, value in image.items()}
        if operation == "update" and before is None:
            before = image
            continue
        yield operation, *((None, image) if operation == "insert" else (before or image, before and image))
        before = None
    if done.returncode:
        raise ValueError(done.stderr.decode("utf-8", "replace").strip())
