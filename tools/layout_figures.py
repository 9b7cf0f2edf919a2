"""Prints figures of the layout of the code: `python -m tools.layout_figures [FOLDER…]`, or esr and webui."""

from __future__ import annotations

import ast
import statistics
import sys
from collections import Counter
from pathlib import Path

MAX_LINES = 700
MAX_FILES = 16
MAX_SAME_NAMES = 2


def count_import_lines(source: str) -> int:
    """The number of lines of all import statements."""
    nodes = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Import | ast.ImportFrom)]
    return sum((node.end_lineno or node.lineno) - node.lineno + 1 for node in nodes)


def describe(folders: list[str]) -> list[tuple[str, str]]:
    """Pairs of a name and a figure for all Python files in the folders."""
    paths = sorted(path for folder in folders for path in Path(folder).rglob("*.py"))
    sources = {path: path.read_text("utf-8") for path in paths}
    lines = {path: source.count("\n") for path, source in sources.items()}
    total = sum(lines.values())
    imports = sum(map(count_import_lines, sources.values()))
    names = Counter(path.name for path in paths if path.name != "__init__.py")
    repeated = [f"{name} ({n})" for name, n in sorted(names.items()) if n > MAX_SAME_NAMES]
    by_folder = Counter(str(path.parent) for path in paths if path.name != "__init__.py")
    full = [f"{folder} ({n})" for folder, n in sorted(by_folder.items()) if n > MAX_FILES]
    long = [f"{path} ({n})" for path, n in lines.items() if n > MAX_LINES]
    return [
        ("files", f"{len(paths)}"),
        ("lines", f"{total}"),
        ("lines a file, median", f"{statistics.median(lines.values()):.0f}"),
        ("lines that import", f"{imports} ({imports / total:.1%})"),
        (f"file names in more than {MAX_SAME_NAMES} places", ", ".join(repeated) or "none"),
        (f"folders of more than {MAX_FILES} files", ", ".join(full) or "none"),
        (f"files of more than {MAX_LINES} lines", ", ".join(long) or "none"),
    ]


if __name__ == "__main__":
    for name, figure in describe(sys.argv[1:] or ["esr", "webui"]):
        print(f"{name}: {figure}")
