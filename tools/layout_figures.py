"""Prints figures of the layout of the code: `python -m tools.layout_figures [FOLDER…]`, or esr and webui."""

from __future__ import annotations

import ast
import re
import statistics
import sys
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

MAX_LINES = 700
MAX_FILES = 16
MAX_SAME_NAMES = 2
MAX_BANNERS = 2
CONTRACT = Path("esr/index/contract.py"), "Index"
"""The file and the class of the contract of both engines."""
PERIPHERY = (
    "esr/alerts/commands",
    "esr/bridges",
    "esr/corpus",
    "esr/dossiers/commands",
    "esr/evidence",
    "esr/lab",
    "esr/loaders/archives",
    "esr/loaders/office",
    "esr/loaders/press",
    "esr/sources",
)
"""Folders that are no part of the core."""
MAX_FUNCTION_LINES = 60
"""The longest function, without its docstring, which is the help of a command."""
MAX_PARAMETERS = 8
VAGUE_NAMES = (
    *("asked", "each", "elsewhere", "every", "found", "given", "here", "it", "kept", "made", "meant", "one"),
    *("own", "said", "seen", "spent", "taken", "that", "thing", "things", "told", "what", "which"),
)
"""Words that say nothing of the value that they would name."""
OPTION_CALLS = frozenset({"click.option", "click.argument", "option", "argument"})
BUILDER = Path("esr/cli/arguments.py")
"""The file that makes the options and arguments of commands of rows."""
TABLE = "esr/arguments"
"""The folder of the tables of arguments."""
ROW_CALLS = frozenset({"Argument", "_filter", "_ranking", "_row"})
PLUGIN_ROW_CALLS = frozenset({"ArgumentRow", "_positional"})
"""Rows of the plug-ins of esr itself, which are for their commands only."""
PROCESS_MODULES = frozenset(
    {"fcntl", "filelock", "multiprocessing", "portalocker", "signal", "subprocess", "threading"}
)
PROCESS_NAMES = frozenset({"fork", "register_at_fork", "kill", "waitpid"})
FOREIGN_PRIVATE = re.compile(
    r"\b(?:click|flask|gunicorn|granian|jinja2|werkzeug|concurrent|elasticsearch|elastic_transport|numba|numpy|spacy|uvicorn)"
    r"(?:\.\w+)*\._[a-z]\w*"
)
BANNER = re.compile(r"(?:\A|\n)\n# [A-Z][^\n]*(?<!\.)\n\n")
"""A comment of one line between blank lines, which names a section of a file."""


def is_import(node: ast.AST) -> bool:
    """Whether a statement imports something."""
    return isinstance(node, ast.Import | ast.ImportFrom)


def count_import_lines(tree: ast.Module) -> int:
    """The number of lines of all import statements."""
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    return sum((node.end_lineno or node.lineno) - node.lineno + 1 for node in nodes)


def count_inner_imports(tree: ast.Module) -> int:
    """The number of import statements inside functions."""
    functions = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
    return len({id(node) for function in functions for node in ast.walk(function) if is_import(node)})


def count_lazy_imports(tree: ast.Module) -> int:
    """The number of modules that are declared with `import_lazily`."""
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return sum(ast.unparse(call.func) == "import_lazily" for call in calls)


def count_methods(tree: ast.Module, name: str) -> int:
    """The number of public methods that a class declares for others to implement."""
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == name]
    methods = [node for node in classes[0].body if isinstance(node, ast.FunctionDef)] if classes else []
    declared = {method.name for method in methods if all(isinstance(part, ast.Expr) for part in method.body)}
    return sum(not name.startswith("_") for name in declared)


def find_wrappers(trees: Mapping[Path, ast.Module]) -> list[str]:
    """Classes that hold an index and are named as one."""
    return [
        node.name
        for tree in trees.values()
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
        and node.name.endswith("Index")
        and node.name != "AsyncIndex"  # of the library
        and _holds_index(node)
    ]


def _holds_index(node: ast.ClassDef) -> bool:
    return any(isinstance(part, ast.Attribute) and part.attr == "_index" for part in ast.walk(node))


def count_options(tree: ast.Module) -> int:
    """The number of arguments of commands that a module defines by itself."""
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return sum(ast.unparse(call.func) in OPTION_CALLS for call in calls)


def count_plugin_rows(tree: ast.Module) -> int:
    """The number of arguments that a module of a plug-in declares as rows."""
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return sum(ast.unparse(call.func) in PLUGIN_ROW_CALLS for call in calls)


def find_names(tree: ast.Module, calls: Collection[str]) -> list[str]:
    """The names of the options or rows that calls of these functions define, as of keywords."""
    names = []
    for call in ast.walk(tree):
        if isinstance(call, ast.Call) and ast.unparse(call.func) in calls:
            texts = [part.value for part in call.args if isinstance(part, ast.Constant)]
            first = next((text for text in texts if isinstance(text, str)), "")
            names.append(first.split("/")[0].lstrip("-").replace("-", "_"))
    return names


def count_repeated(trees: Mapping[Path, ast.Module]) -> int:
    """The number of options that commands define themselves, although the table has an argument of the name.

    These are arguments of several doors that are outside of the table, unless only the name is the same.
    """
    rows = {
        name
        for path, tree in trees.items()
        if str(path).startswith(TABLE)
        for name in find_names(tree, ROW_CALLS)
    }
    options = (name for tree in trees.values() for name in find_names(tree, OPTION_CALLS))
    return sum(name in rows for name in options)


Function = ast.FunctionDef | ast.AsyncFunctionDef


def find_functions(tree: ast.AST) -> list[Function]:
    """All functions and methods, also those inside of others."""
    return [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]


def count_function_lines(function: Function) -> int:
    """The number of lines of a function without its decorators and its docstring."""
    first = function.body[0]
    is_docstring = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    docstring = (first.end_lineno or first.lineno) - first.lineno + 1 if is_docstring else 0
    return (function.end_lineno or function.lineno) - function.lineno + 1 - docstring


def count_parameters(function: Function) -> int:
    """The number of named parameters of a function, without `self` and `cls`."""
    parameters = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    return sum(parameter.arg not in ("self", "cls") for parameter in parameters)


def find_vague_names(tree: ast.AST, words: Collection[str] = VAGUE_NAMES) -> set[tuple[str, str]]:
    """Parameters and local variables with such a name, as pairs of the function and the name.

    Functions are named with those that they are in: `Class.method.inner`.
    """
    names = set[tuple[str, str]]()

    def visit(node: ast.AST, scope: tuple[str, ...]) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                visit(child, (*scope, child.name))
                continue
            name = child.arg if isinstance(child, ast.arg) else ""
            if isinstance(child, ast.Name) and isinstance(child.ctx, ast.Store):
                name = child.id
            if name in words:
                names.add((".".join(scope), name))
            visit(child, scope)

    visit(tree, ())
    return names


def count_broad_handlers(source: str) -> tuple[int, int]:
    """The number of handlers of any exception, and of those among them without a comment that says why.

    Those that clean up and raise the exception again do not count.
    """
    lines = source.split("\n")
    broad = [
        node.lineno - 1
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.ExceptHandler)
        and (node.type is None or ast.unparse(node.type) in ("Exception", "BaseException"))
        and not _raises_again(node)
    ]
    unexplained = [n for n in broad if not any("# " in line for line in lines[n - 1 : n + 2])]
    return len(broad), len(unexplained)


def _raises_again(handler: ast.ExceptHandler) -> bool:
    last = handler.body[-1]
    return isinstance(last, ast.Raise) and last.exc is None


def uses_processes(tree: ast.Module) -> bool:
    """Whether a module handles locks, threads, processes, forks or signals."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import) and any(a.name in PROCESS_MODULES for a in node.names):
            return True
        if isinstance(node, ast.ImportFrom) and node.module in PROCESS_MODULES:
            return True
        if isinstance(node, ast.Attribute) and node.attr in PROCESS_NAMES and ast.unparse(node.value) == "os":
            return True
    return False


def describe(folders: list[str]) -> list[tuple[str, str]]:
    """Pairs of a name and a figure for all Python files in the folders."""
    paths = sorted(path for folder in folders for path in Path(folder).rglob("*.py"))
    sources = {path: path.read_text("utf-8") for path in paths}
    trees = {path: ast.parse(source) for path, source in sources.items()}
    lines = {path: source.count("\n") for path, source in sources.items()}
    total = sum(lines.values())
    core = sum(n for path, n in lines.items() if not str(path).startswith(PERIPHERY))
    imports = sum(map(count_import_lines, trees.values()))
    names = Counter(path.name for path in paths if path.name != "__init__.py")
    by_folder = Counter(str(path.parent) for path in paths if path.name != "__init__.py")
    banners = {path: len(BANNER.findall(source)) for path, source in sources.items()}
    lazy = {path: count_lazy_imports(tree) for path, tree in trees.items()}
    inner = {path: count_inner_imports(tree) for path, tree in trees.items()}
    functions = {
        f"{path}:{function.name}": function
        for path, tree in trees.items()
        for function in find_functions(tree)
    }
    sizes = {name: count_function_lines(function) for name, function in functions.items()}
    parameters = {name: count_parameters(function) for name, function in functions.items()}
    handlers = [count_broad_handlers(source) for source in sources.values()]
    options = sum(count_options(tree) for path, tree in trees.items() if path != BUILDER)
    return [
        ("files", f"{len(paths)}"),
        ("lines", f"{total}"),
        ("lines of the core", f"{core}"),
        ("lines a file, median", f"{statistics.median(lines.values()):.0f}"),
        ("lines that import", f"{imports} ({imports / total:.1%})"),
        ("imports inside functions", f"{sum(inner.values())} in {sum(map(bool, inner.values()))} files"),
        (
            "lazy imports at the top of files",
            f"{sum(lazy.values())} in {sum(map(bool, lazy.values()))} files",
        ),
        ("methods of the contract", f"{count_methods(trees[CONTRACT[0]], CONTRACT[1])}")
        if CONTRACT[0] in trees
        else ("methods of the contract", "not among these folders"),
        ("wrappers of an index", ", ".join(find_wrappers(trees)) or "none"),
        ("arguments of commands outside the table", f"{options}"),
        ("of these, with the name of an argument in the table", f"{count_repeated(trees)}"),
        ("arguments of plug-ins, as rows", f"{sum(map(count_plugin_rows, trees.values()))}"),
        ("files with locks, processes or signals", f"{sum(map(uses_processes, trees.values()))}"),
        ("private names of other packages", _list(_foreign_names(sources))),
        (f"file names in more than {MAX_SAME_NAMES} places", _list(_above(names, MAX_SAME_NAMES))),
        (f"folders of more than {MAX_FILES} files", _list(_above(by_folder, MAX_FILES))),
        (f"files of more than {MAX_LINES} lines", _list(_above(lines, MAX_LINES))),
        (f"files of more than {MAX_BANNERS} banners", f"{len(_above(banners, MAX_BANNERS))}"),
        (f"functions of more than {MAX_FUNCTION_LINES} lines", _list(_above(sizes, MAX_FUNCTION_LINES))),
        (f"functions of more than {MAX_PARAMETERS} parameters", _list(_above(parameters, MAX_PARAMETERS))),
        (
            "vague names of parameters and local variables",
            f"{sum(map(len, map(find_vague_names, trees.values())))}",
        ),
        (
            "handlers of any exception",
            f"{sum(n for n, _ in handlers)}, {sum(n for _, n in handlers)} without a reason",
        ),
    ]


def _above(counts: Mapping[str, int] | Mapping[Path, int], most: int) -> list[str]:
    return [f"{name} ({n})" for name, n in sorted(counts.items(), key=lambda item: str(item[0])) if n > most]


def _foreign_names(sources: Mapping[Path, str]) -> list[str]:
    return sorted({match[0] for source in sources.values() for match in FOREIGN_PRIVATE.finditer(source)})


def _list(values: Iterable[str]) -> str:
    return ", ".join(values) or "none"


if __name__ == "__main__":
    for name, figure in describe(sys.argv[1:] or ["esr", "webui"]):
        print(f"{name}: {figure}")
