"""The size and the order of the house in figures: ``python -m tests.house [DIRECTORY]``, for this tree or another one.

DIRECTORY is a checkout, so that two commits can be compared (``git worktree add``). Packages: ``grimp`` (group
``test``) and ``import-linter`` (group ``lint``). Folders with more than twenty modules are listed; ``__init__`` does
not count. A circle is a set of modules, or of neighbours in a package, that import each other in a ring. Imports inside
functions count; imports for type checkers alone do not. A repeated pair is two places of six equal lines or more;
comments and imports are left out.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Final

import grimp

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

SOURCE: Final = ("conformance", "fuzz", "generators", "scenarios", "docker")
MANY: Final = 20
SIBLINGS: Final = ("conformance/cli", "fuzz/targets")  # flat lists: one file a command, one file a target
_RUN: Final = 6

Graph = dict[str, set[str]]


def modules(root: Path, tops: Iterable[str]) -> list[Path]:
    """All modules below these folders, those of environments and caches left out."""
    return [path for top in tops for path in sorted((root / top).rglob("*.py")) if ".venv" not in path.parts]


def folders(root: Path, tops: Iterable[str] = SOURCE) -> dict[str, int]:
    """The number of modules in each folder."""
    counts: dict[str, int] = defaultdict(int)
    for path in modules(root, tops):
        counts[str(path.parent.relative_to(root))] += path.name != "__init__.py"
    return dict(counts)


def lines(root: Path, tops: Iterable[str]) -> int:
    """Lines of all modules."""
    return sum(len(path.read_text("utf-8").splitlines()) for path in modules(root, tops))


def lines_of_code(root: Path, tops: Iterable[str]) -> int:
    """Lines of all modules without docstrings, comments and empty lines."""
    count = 0
    for path in modules(root, tops):
        text = path.read_text("utf-8")
        prose = {
            line
            for node in ast.walk(ast.parse(text))
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
            for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
        }
        count += sum(
            number not in prose and bool(line.strip()) and not line.lstrip().startswith("#")
            for number, line in enumerate(text.splitlines(), 1)
        )
    return count


def imports(root: Path) -> Graph:
    """Who imports whom, function-level imports included."""
    sys.path.insert(0, str(root))
    try:
        graph = grimp.build_graph(
            *(top for top in SOURCE if (root / top / "__init__.py").exists()),
            exclude_type_checking_imports=True, cache_dir=None,
        )  # fmt: skip
    finally:
        sys.path.remove(str(root))
    return {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}


def between_neighbours(graph: Graph) -> Iterator[Graph]:
    """For each package: which of its direct children imports which other one, through anything below them."""
    found: dict[str, Graph] = defaultdict(lambda: defaultdict(set))
    for importer, imported in ((a, b) for a, names in graph.items() for b in names):
        one, other = importer.split("."), imported.split(".")
        shared = next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), None)
        if shared:
            package = ".".join(one[:shared])
            found[package][".".join(one[: shared + 1])].add(".".join(other[: shared + 1]))
    yield from found.values()


def circles(graph: Mapping[str, set[str]]) -> list[list[str]]:
    """The strongly connected components with more than one member (Tarjan)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(node: str) -> None:
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in sorted(graph.get(node, ())):
            if other not in index:
                visit(other)
            if other in stack:
                low[node] = min(low[node], low[other])
        if low[node] == index[node]:
            place = stack.index(node)
            members = stack[place:]
            del stack[place:]
            if len(members) > 1:
                found.append(sorted(members))

    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(10 * len(graph) + limit)
    try:
        for node in sorted(graph):
            if node not in index:
                visit(node)
    finally:
        sys.setrecursionlimit(limit)
    return found


def repeated(paths: Iterable[Path]) -> int:
    """How many pairs of places repeat each other."""
    places: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for number, path in enumerate(paths):
        text = path.read_text("utf-8")
        skipped = {
            line
            for node in ast.walk(ast.parse(text))
            if isinstance(node, ast.Import | ast.ImportFrom)
            for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
        }
        kept = [
            line.strip()
            for count, line in enumerate(text.splitlines(), 1)
            if count not in skipped and re.search(r"\w", line) and not line.lstrip().startswith("#")
        ]
        for start in range(len(kept) - _RUN + 1):
            places[hash(tuple(kept[start : start + _RUN]))].append((number, start))
    pairs = {(a, b) for equal in places.values() for i, a in enumerate(equal) for b in equal[i + 1 :]}
    # Of a longer run only its first place counts.
    return sum(((a[0], a[1] - 1), (b[0], b[1] - 1)) not in pairs for a, b in pairs)


def report(root: Path) -> Iterator[str]:
    """The figures, line by line."""
    counts = folders(root)
    large = {name: count for name, count in counts.items() if count > MANY and name not in SIBLINGS}
    yield f"folders of the source: {len(counts)}, most modules in one: {max(counts.values())}"
    yield f"folders with more than {MANY} modules: {len(large)}"
    yield from (f"  {count:4} {name}" for name, count in sorted(large.items(), key=lambda item: -item[1]))
    graph = imports(root)
    rings = circles(graph)
    neighbours = [ring for package in between_neighbours(graph) for ring in circles(package)]
    yield f"circles of modules: {len(rings)}"
    yield from (f"  {', '.join(ring)}" for ring in rings)
    yield f"circles of neighbours in a package: {len(neighbours)}"
    yield from (f"  {', '.join(ring)}" for ring in neighbours)
    done = subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), "--no-cache"],
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
    )
    contracts = re.search(r"Contracts: .*", done.stdout)
    yield contracts[0] if contracts else f"import contracts cannot be checked: {done.stdout or done.stderr}"
    for name, tops in (("source", SOURCE), ("tests", ("tests",))):
        yield f"lines of {name}: {lines(root, tops):,}, of code alone: {lines_of_code(root, tops):,}"
    yield f"repeated pairs of six lines, source: {repeated(modules(root, SOURCE))}"
    yield f"repeated pairs of six lines, tests: {repeated(modules(root, ('tests',)))}"
    yield f"words of the README: {len((root / 'README.md').read_text('utf-8').split()):,}"


def main() -> None:
    """Print the figures of a tree."""
    root = Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    for line in report(root):
        print(line)  # noqa: T201


if __name__ == "__main__":
    main()
