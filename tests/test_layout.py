"""The folders import one another in one direction: each only what stands in its row."""

from __future__ import annotations

import ast
import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from functools import cache
from importlib.metadata import entry_points
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.conftest import LONGEST, is_left_out
from tools.layout_figures import (
    MAX_FUNCTION_LINES,
    MAX_PARAMETERS,
    count_function_lines,
    count_parameters,
    find_functions,
    find_vague_names,
)

ROOT = Path(__file__).resolve().parent.parent

BASE = (
    "deprecation disk_errors downloads errors extras installed_plugins locks processes progress registry "
    "resources stdlib tables threads worker_processes wording"
)
"""Modules of `esr` itself that know nothing of the rest: every folder may import them."""
MAY_IMPORT = {
    "esr/plans": "",
    "esr/text": "text/analysis text/splitting",
    "esr/text/analysis": "",
    "esr/text/splitting": "text",
    "esr/query": "plans text",
    "esr/dependency": "text",
    "esr/models": "dependency plans",
    "esr/features": "text text/analysis",
    "esr/encoders": "text",
    "esr/enrichment": "encoders enrichment/quotations features text",
    "esr/enrichment/quotations": "features text",
    "esr/loaders": "text",
    "esr/loaders/archives": "plugin plugin/provisional",
    "esr/loaders/office": "plugin plugin/provisional",
    "esr/loaders/press": "plugin plugin/provisional",
    "esr/index": "enrichment plans text text/analysis",
    "esr/index/runs": "enrichment index text",
    "esr/arguments": "index query text",
    "esr/arguments/tables": "alerts arguments corpus encoders enrichment evidence features following index "
    "index/runs loaders models plans ranking text",
    "esr/folder/format": "index plans text text/analysis",
    "esr/folder/kernel": "",
    "esr/folder/search": "folder/format folder/kernel index plans text",
    "esr/folder/write": "dependency enrichment features folder/format index index/runs text text/analysis",
    "esr/folder": "folder/format folder/search folder/write index plans text",
    "esr/elastic": "elastic/search elastic/write enrichment index plans text",
    "esr/elastic/search": "elastic index plans text",
    "esr/elastic/write": "dependency elastic enrichment features folder/format folder/write index index/runs "
    "plans text",
    "esr/ranking": "arguments dependency encoders index models plans query text",
    "esr/ranking/explanation": "dependency index models plans ranking text",
    "esr/following": "index models plans query ranking text",
    "esr/following/alerts": "arguments index query ranking text",
    "esr/corpus": "plugin plugin/provisional",
    "esr/corpus/commands": "corpus plugin plugin/provisional",
    "esr/evidence": "plugin plugin/provisional",
    "esr/evidence/commands": "esr evidence plugin plugin/provisional",
    "esr/access": "plans query text",
    "esr/dossiers": "folder/format plugin plugin/provisional",
    "esr/alerts": "arguments arguments/tables dossiers following/alerts index plans plugin query "
    "ranking text",
    "esr/alerts/commands": "access alerts arguments/tables dossiers following/alerts plugin "
    "plugin/provisional",
    "esr/dossiers/exports": "dossiers following index text",
    "esr/dossiers/commands": "access esr dossiers dossiers/exports plugin plugin/provisional",
    "esr/bridges": "esr plugin plugin/provisional",
    "esr/sources": "esr plugin plugin/provisional",
    "esr/library": "esr arguments arguments/tables corpus enrichment evidence features following index "
    "index/runs loaders models query ranking ranking/explanation text",
    "esr/topics": "index loaders",
    "esr/lab": "plugin plugin/provisional",
    "esr/lab/report": "esr lab plugin plugin/provisional",
    "esr/lab/reproduce": "esr lab plugin plugin/provisional",
    "esr/lab/commands": "esr lab lab/report lab/reproduce plugin plugin/provisional",
    "webui/translations": "text",
    "webui/running": "access arguments dossiers index ranking webui/translations",
    "webui/arguments": "arguments arguments/tables corpus features following index models plans query "
    "ranking text webui/running webui/translations",
    "webui/answers": "topics corpus evidence following following/alerts index plans query ranking "
    "ranking/explanation text webui/arguments webui/running",
    "webui/pages": "arguments arguments/tables topics corpus dependency dossiers evidence following "
    "following/alerts index models plans query ranking ranking/explanation text webui/answers "
    "webui/arguments webui/running webui/translations",
    "webui/api": "esr alerts arguments arguments/tables corpus dependency dossiers evidence features "
    "following following/alerts index models plans query ranking text webui/answers webui/arguments "
    "webui/running",
    "webui/dossiers": "alerts arguments arguments/tables dossiers dossiers/exports following "
    "following/alerts index text webui/api webui/arguments webui/pages webui/running webui/translations",
    "webui/access": "access dossiers index webui/pages webui/running webui/translations",
    "webui": "arguments index library plans plugin ranking webui/access webui/api webui/arguments "
    "webui/dossiers webui/pages webui/running webui/translations",
    "esr/cli": "esr access arguments arguments/tables dossiers encoders enrichment features following "
    "following/alerts index index/runs library loaders models plans query ranking ranking/explanation text "
    "text/analysis webui webui/running",
}
"""By folder, what it may import beside itself and `BASE`. `esr` is the Python API, `esr.open`."""
ROOMS = {"esr/elastic": "search|write", "esr/folder": "format|kernel search|write"}
"""Rooms of an engine that know those before them and none behind; a bar separates rooms that do not know each
other. Of the files beside the rooms, only `index.py` knows them."""
DOOR = "esr/index/factory.py"
"""The file through which the rest reaches the rooms of the engines."""
DRAWN_WHOLE = (
    "esr/alerts",
    "esr/arguments",
    "esr/corpus",
    "esr/dossiers",
    "esr/elastic",
    "esr/enrichment",
    "esr/evidence",
    "esr/folder",
    "esr/following",
    "esr/index",
    "esr/lab",
    "esr/ranking",
    "esr/text",
    "webui",
)
"""Folders that the picture shows with all that is in them."""
PAGE_FROM = {"esr/cli/keys.py", "esr/cli/operate.py"}
"""The commands that know the page."""


@cache
def files() -> dict[str, frozenset[str]]:
    """By path, the modules that a file imports, wherever in it, as paths without their ending."""
    return {
        str(path.relative_to(ROOT)): frozenset(_imports(path))
        for folder in ("esr", "webui")
        for path in sorted((ROOT / folder).rglob("*.py"))
    }


def _statements(tree: ast.Module) -> Iterator[ast.AST]:
    """All statements, also nested ones. Their expressions are most of a tree, and import nothing."""
    rest: list[ast.AST] = [tree]
    while rest:
        node = rest.pop()
        for field in ("body", "orelse", "finalbody", "handlers", "cases"):
            nested = getattr(node, field, None)
            rest += nested if isinstance(nested, list) else []
        yield node


def _imports(path: Path) -> Iterator[str]:
    for node in _statements(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path} imports relatively"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in names:
            target = name.replace(".", "/")
            while target and not (ROOT / f"{target}.py").exists() and not (ROOT / target).is_dir():
                target = target.rpartition("/")[0]
            if target.split("/")[0] in ("esr", "webui"):
                yield target


def folder_of(path: str) -> str | None:
    """The row that a file or a module belongs to, the deepest; None for the files of `esr` itself."""
    return max(
        (row for row in MAY_IMPORT if f"{path.removesuffix('.py')}/".startswith(f"{row}/")),
        key=len,
        default=None,
    )


def full_names(row: str) -> set[str]:
    """What a row names, as paths."""
    names = MAY_IMPORT[row].split()
    return {name if name.split("/")[0] in ("esr", "webui") else f"esr/{name}" for name in names}


def allowed(row: str) -> set[str]:
    """The rows whose modules a folder may import."""
    return {row, *full_names(row)}


PERIPHERY_ROOMS = tuple(row for row in MAY_IMPORT if "plugin/provisional" in MAY_IMPORT[row].split())
"""Folders that use esr as a plug-in of another package does: they do not import `BASE` either."""


def test_a_folder_imports_only_what_stands_in_its_row() -> None:
    assert {*MAY_IMPORT} <= {folder_of(path) for path in files() if path != DOOR}
    wrong = [
        f"{path} imports {target}"
        for path in files()
        if path != DOOR and (row := folder_of(path)) in MAY_IMPORT
        for target in files()[path]
        if not _may_import(row, target)
    ]
    assert wrong == []


def _may_import(row: str, target: str) -> bool:
    folder = folder_of(target)
    base = folder is None and target.removeprefix("esr/") in BASE.split() and row not in PERIPHERY_ROOMS
    return base or (folder or target) in allowed(row)


def test_what_a_row_allows_is_used() -> None:
    used: dict[str | None, set[str]] = {}
    for path, targets in files().items():
        used.setdefault(folder_of(path), set()).update(folder_of(target) or target for target in targets)
    unused = [
        f"{row}: {name}"
        for row in MAY_IMPORT
        for name in full_names(row)
        if not any(f"{folder}/".startswith(f"{name}/") for folder in used[row])
    ]
    assert unused == []


@pytest.mark.parametrize("engine", ROOMS)
def test_the_rooms_of_an_engine_know_only_those_before_them(engine: str) -> None:
    steps = [step.split("|") for step in ROOMS[engine].split()]
    rooms = tuple(f"{engine}/{room}" for room in chain(*steps))
    for path, targets in files().items():
        if path.rpartition("/")[0] == engine and path != f"{engine}/index.py":
            assert not [t for t in targets if t.startswith(rooms)], path
    for number, step in enumerate(steps):
        for room in step:
            others = [name for name in (*step, *chain(*steps[number + 1 :]), "index") if name != room]
            unknown = tuple(f"{engine}/{name}" for name in others)
            for path, targets in files().items():
                if path.startswith(f"{engine}/{room}/"):
                    assert not [t for t in targets if t.startswith(unknown)], path


def test_the_product_does_not_know_the_laboratory() -> None:
    for path, targets in files().items():
        if not path.startswith("esr/lab/"):
            assert not [target for target in targets if target.startswith("esr/lab")], path


def test_no_file_imports_itself_by_way_of_others() -> None:
    graph = {path.removesuffix(".py").removesuffix("/__init__"): targets for path, targets in files().items()}
    # Its names are imported when they are first used. Only checks of types see the imports.
    graph["esr/plugin"] = frozenset({"esr/errors", "esr/installed_plugins"})
    open_: list[str] = []
    done: set[str] = set()

    def visit(module: str) -> None:
        assert module not in open_, " -> ".join([*open_[open_.index(module) :], module])
        if module in done or module not in graph:
            return
        open_.append(module)
        for target in sorted(graph[module] - {module}):
            visit(target)
        done.add(open_.pop())

    for module in graph:
        visit(module)


def test_only_one_command_and_the_reference_know_the_page() -> None:
    assert {
        p for p, ts in files().items() if p.startswith("esr/") and any(t.startswith("webui") for t in ts)
    } == (PAGE_FROM)


def test_only_the_elasticsearch_engine_knows_the_client_of_elasticsearch() -> None:
    for path in files():
        if not path.startswith("esr/elastic/"):
            names = (ROOT / path).read_text("utf-8")
            assert "import elasticsearch" not in names and "from elasticsearch" not in names, path


def test_the_picture_shows_every_folder() -> None:
    picture = (ROOT / "docs" / "pictures" / "architecture.svg").read_text("utf-8")
    for row in MAY_IMPORT:
        folder = next((whole for whole in DRAWN_WHOLE if row.startswith(whole)), row)
        assert f">{folder}<" in picture, folder


@pytest.mark.parametrize("file", LONGEST)
def test_the_files_that_begin_have_tests_of_endurance_or_start_servers(file: str) -> None:
    text = (ROOT / file).read_text("utf-8")
    assert "mark.endurance" in text or "start_server(" in text


# CI and the checks before a commit run what the Makefile and pyproject.toml say, and repeat none of it.


MAKEFILE = (ROOT / "Makefile").read_text("utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
JOBS = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text("utf-8"))["jobs"]
(HOOKS,) = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text("utf-8"))["repos"]


def steps(job: dict[str, Any], key: str) -> list[Any]:
    return [step[key] for step in job["steps"] if key in step]


@pytest.mark.parametrize("name", JOBS)
def test_a_job_of_ci_runs_the_target_of_make_that_it_is_called_after(name: str) -> None:
    assert steps(JOBS[name], "run") == [f"make {name}"]
    assert re.search(rf"^{name}:", MAKEFILE, re.MULTILINE)
    assert JOBS[name]["timeout-minutes"]


@pytest.mark.parametrize(
    ("marks", "line", "is_out"),
    [
        ("not slow and not browser", "pytestmark = pytest.mark.slow", True),
        (
            "not slow",
            'pytestmark = [\n    pytest.mark.skipif(True, reason=""),\n    pytest.mark.slow,\n]',
            True,
        ),
        ("not slow", "pytestmark = pytest.mark.endurance", False),
        ("not slow", "    pytestmark = pytest.mark.slow", False),
        ("not slow or browser", "pytestmark = pytest.mark.slow", False),
        ("slow", "pytestmark = pytest.mark.slow", False),
        ("", "pytestmark = pytest.mark.slow", False),
    ],
)
def test_a_file_is_not_imported_only_if_its_mark_leaves_out_all_its_tests(
    marks: str, line: str, is_out: bool
) -> None:
    assert is_left_out(f"import pytest\n\n{line}\n\n\ndef test_it() -> None: ...\n", marks) is is_out


def test_ci_tests_the_versions_of_python_that_the_package_says() -> None:
    of_package = re.findall(r"Python :: (3\.\d+)", "\n".join(PROJECT["classifiers"]))
    *promised, next_one = JOBS["quick"]["strategy"]["matrix"]["python"]
    assert promised == of_package
    assert JOBS["quick"]["continue-on-error"] == f"${{{{ matrix.python == '{next_one}' }}}}"
    assert PROJECT["requires-python"] == f">={of_package[0]}"
    versions = [options.get("python-version") for job in JOBS.values() for options in steps(job, "with")]
    assert {version for version in versions if version} == {of_package[0], "${{ matrix.python }}"}


@pytest.mark.parametrize("hook", HOOKS["hooks"], ids=lambda hook: hook["id"])
def test_a_check_before_a_commit_is_a_program_of_the_development_environment(hook: dict[str, str]) -> None:
    assert HOOKS["repo"] == "local" and hook["language"] == "system"
    folder, _, program = hook["entry"].split()[0].rpartition("/")
    assert folder == ".venv/bin"
    scripts = {script.name for script in entry_points(group="console_scripts")}
    assert program in scripts | {"ruff"}  # which is no Python


def test_no_file_of_the_product_has_the_marks_of_a_merge() -> None:
    marks = re.compile(r"^(<<<<<<<|>>>>>>>) ", re.MULTILINE)
    for folder in ("clients", "docs", "esr", "index_templates", "webui"):
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in (".css", ".html", ".js", ".json", ".md", ".painless", ".po", ".py", ".toml"):
                assert not marks.search(path.read_text("utf-8")), path


# Tests replace and read only public names: what is private may change without them.

PUBLIC_BY_CONVENTION = {"_asdict", "_exit", "_fields", "_make", "_replace", "_repr_html_"}
"""Names that begin with an underscore and are documented: of named tuples, of `os`, and of notebooks."""
PRODUCT = {"esr", "webui"}
REPLACING = {"delattr", "getattr", "hasattr", "object", "patch", "setattr"}
"""Functions, of `monkeypatch` and `mock` too, whose arguments name an attribute."""


def is_private(name: str) -> bool:
    return (
        name.startswith("_")
        and not name.startswith("__")
        and name != "_"
        and name not in PUBLIC_BY_CONVENTION
    )


def defined_names(tree: ast.AST) -> Iterator[str]:
    """The names that a file itself defines, with the attributes of its own objects."""
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.Name(id=name, ctx=ast.Store()):
                yield name
            case ast.Attribute(value=ast.Name(id="self"), attr=name, ctx=ast.Store()):
                yield name


def used_names(tree: ast.AST) -> Iterator[str]:
    """The names of attributes that a file reads, imports from the product, or replaces by a string."""
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value=ast.Name(id="self" | "cls")):
                pass
            case ast.Attribute(attr=name):
                yield name
            case ast.ImportFrom(module=str(module), names=imported) if module.split(".")[0] in PRODUCT:
                yield from chain(module.split("."), (each.name for each in imported))
            case ast.Call(func=ast.Attribute(attr=function) | ast.Name(id=function), args=arguments):
                for argument in arguments if function in REPLACING else ():
                    if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
                        yield from argument.value.split(".")


@pytest.mark.slow
def test_tests_use_no_private_name_of_the_product() -> None:
    found = set[tuple[str, str]]()
    for path in sorted((ROOT / "tests").rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        own = set(defined_names(tree))
        found |= {(path.name, name) for name in used_names(tree) if is_private(name) and name not in own}
    assert not found


# Sizes and names: a function is read at once, and a name says what is in it.

MANY_PARAMETERS = {"esr/dossiers/account.py:add"}
"""What is still above the limit; take out what you mend."""
VAGUE = 27
"""At most this many names say nothing of their value; lower it when you rename some."""


@pytest.fixture(scope="module")
def trees() -> Iterator[dict[str, ast.Module]]:
    """Each file of the product, parsed. They are millions of objects, so they do not stay."""
    yield {path: ast.parse((ROOT / path).read_text("utf-8")) for path in files()}


@pytest.mark.slow
def test_a_function_is_at_most_sixty_lines_long(trees: dict[str, ast.Module]) -> None:
    long = {
        f"{path}:{function.name}": count_function_lines(function)
        for path, tree in trees.items()
        for function in find_functions(tree)
        if count_function_lines(function) > MAX_FUNCTION_LINES
    }
    assert not long


@pytest.mark.slow
def test_a_function_has_at_most_eight_parameters(trees: dict[str, ast.Module]) -> None:
    many = {
        f"{path}:{function.name}": count_parameters(function)
        for path, tree in trees.items()
        for function in find_functions(tree)
        if count_parameters(function) > MAX_PARAMETERS
    }
    assert set(many) <= MANY_PARAMETERS, many


@pytest.mark.slow
def test_no_more_names_are_vague(trees: dict[str, ast.Module]) -> None:
    vague = [
        f"{path}:{function}: {name}"
        for path, tree in trees.items()
        for function, name in find_vague_names(tree)
    ]
    assert len(vague) <= VAGUE, sorted(vague)


@pytest.mark.slow
def test_what_a_module_keeps_to_itself_is_used_there(trees: dict[str, ast.Module]) -> None:
    unused = []
    for path, tree in trees.items():
        mentions = Counter(re.findall(r"\b_\w+", (ROOT / path).read_text("utf-8")))
        unused += [f"{path}: {name}" for name in private_names(tree) if mentions[name] == 1]
    assert not unused


@pytest.mark.slow
def test_an_error_of_any_kind_is_caught_only_to_raise_it_again_or_for_a_reason(
    trees: dict[str, ast.Module],
) -> None:
    """The reason is a comment in the line of `except` or in the line before it."""
    without = []
    for path, tree in trees.items():
        lines = (ROOT / path).read_text("utf-8").splitlines()
        for handler in ast.walk(tree):
            if isinstance(handler, ast.ExceptHandler) and catches_all(handler):
                is_raised = any(isinstance(node, ast.Raise) for node in ast.walk(handler))
                before, line = lines[handler.lineno - 2 : handler.lineno]
                if not is_raised and "  # " not in line and not before.strip().startswith("# "):
                    without.append(f"{path}:{handler.lineno}")
    assert without == []


def catches_all(handler: ast.ExceptHandler) -> bool:
    return handler.type is None or ast.unparse(handler.type) in ("Exception", "BaseException")


def private_names(tree: ast.Module) -> Iterator[str]:
    """The private names that a module defines, but for functions that a decorator hands to others."""
    for node in tree.body:
        match node:
            case ast.FunctionDef(name=name, decorator_list=[]) | ast.ClassDef(name=name):
                yield from [name] if is_private(name) else []
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                yield from [name] if is_private(name) else []


def test_a_vague_name_is_found_in_nested_functions() -> None:
    tree = ast.parse("class A:\n def b(self, own):\n  def c():\n   for each in own: x = each\n")
    assert find_vague_names(tree) == {("A.b", "own"), ("A.b.c", "each")}
