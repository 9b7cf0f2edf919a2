"""Mutants are found where a test could notice them, and tried. Coverage is reported by folder."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.runs import need

need("cosmic_ray")
need("coverage")

from tools.coverage_folders import main as report_coverage  # noqa: E402
from tools.mutation import __main__ as program  # noqa: E402
from tools.mutation import mutants as module  # noqa: E402
from tools.mutation.mutants import Mutant, changed_lines, find_mutants, read_equivalents, sample  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent.parent
CODE = '''
"""A module: 1 + 1."""
from __future__ import annotations
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    SIZE = 3 + 4

LIMIT: int | None = 10

def is_small(number: int | None) -> int | None:
    assert number != 7
    return number < LIMIT

def unused(number):
    return number + 1
'''
TESTS = """
from esr.sizes.small import is_small

def test_small():
    assert is_small(3) and not is_small(11)
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for path, text in {
        "esr/__init__.py": "",
        "esr/sizes/__init__.py": "",
        "esr/sizes/small.py": CODE,
        "tests/__init__.py": "",
        "tests/conftest.py": 'from hypothesis import settings\nsettings.register_profile("quick")\n',
        "tests/sizes/__init__.py": "",
        "tests/sizes/test_small.py": TESTS,
        "pytest.ini": "[pytest]\nmarkers =\n    elasticsearch\n    browser\n    endurance\n    slow\n",
    }.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def mutate(project: Path, path: str, *start: str) -> list[str]:
    """The lines that the tool prints. `start`: starts it otherwise than by its name."""
    command = [sys.executable, *(start or ("-m", "tools.mutation")), path, "--seed", "1", "--jobs", "2"]
    environment = {"PYTHONPATH": f"{project}:{ROOT}", "PATH": "", "ESR_MEANING": "no"}
    done = subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.splitlines()


def described(mutants: list[Mutant]) -> set[tuple[str, str]]:
    return {mutant.lines() for mutant in mutants}


def test_mutants_are_in_code_that_runs_and_not_in_annotations_or_assertions(project: Path) -> None:
    found = find_mutants("esr/sizes/small.py")
    assert {mutant.line for mutant in found} == {9, 13, 16}
    assert {before for before, _ in described(found)} == {
        "LIMIT: int | None = 10",
        "return number < LIMIT",
        "return number + 1",
    }
    assert ("return number < LIMIT", "return number <= LIMIT") in described(found)
    assert {mutant.in_function for mutant in found if mutant.line == 9} == {False}


def test_what_says_what_holds_anyway_is_not_mutated(project: Path) -> None:
    path = project / "esr/sizes/small.py"
    path.write_text(
        "class Size(Struct, frozen=True, kw_only=True, order=True):\n    pass\n\n"
        "@lru_cache(maxsize=8)\ndef pair(a):\n    return zip(a, a[1:], strict=True)\n"
    )
    assert {before for before, _ in described(find_mutants("esr/sizes/small.py"))} == {
        "class Size(Struct, frozen=True, kw_only=True, order=True):",
        "return zip(a, a[1:], strict=True)",
    }
    for kept in ("frozen=False", "kw_only=False", "strict=False"):
        assert not [after for _, after in described(find_mutants("esr/sizes/small.py")) if kept in after]


def test_a_star_between_parameters_is_no_operator(project: Path) -> None:
    path = project / "esr/sizes/small.py"
    path.write_text("def size(a, /, b, *, c):\n    return a * b\n")
    assert {mutant.line for mutant in find_mutants("esr/sizes/small.py")} == {2}


def test_a_sample_is_that_of_its_seed_and_has_a_change_of_each_line_first(project: Path) -> None:
    found = find_mutants("esr/sizes/small.py")
    assert sample(found, 3, seed=5) == sample(found, 3, seed=5)
    assert {mutant.line for mutant in sample(found, 3, seed=5)} == {9, 13, 16}
    assert len(sample(found, 100, seed=5)) == len(found)


def test_an_equivalent_mutant_is_left_out(project: Path) -> None:
    equivalent = ("esr/sizes/small.py", "return number < LIMIT", "return number <= LIMIT")
    found = find_mutants("esr/sizes/small.py")
    assert equivalent[1:] not in described(sample(found, 100, 1, {equivalent}))
    assert len(sample(found, 100, 1, {equivalent})) == len(found) - 1


def test_lines_with_equivalent_mutants_alone_miss_no_goal(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    equivalents = {(mutant.path, *mutant.lines()) for mutant in find_mutants("esr/sizes/small.py", {9})}
    monkeypatch.setattr(program, "read_equivalents", lambda: equivalents)
    assert program.main(["esr/sizes/small.py:9", "--least", "75", "--seed", "1"]) == 0
    assert "0 of 2 mutants" in capsys.readouterr().out


def test_a_change_that_its_operator_cannot_make_is_left_out(project: Path) -> None:
    path = project / "esr/sizes/small.py"
    path.write_text(
        "import json\ntry:\n    json.loads('')\nexcept (json.JSONDecodeError, ValueError):\n    pass\n"
    )
    found = find_mutants("esr/sizes/small.py")
    assert {mutant.operator for mutant in found} == {"ExceptionReplacer"}
    assert len(sample(found, 100, 1)) < len(found)


def test_only_changed_lines_are_mutated_since_a_commit(project: Path) -> None:
    git = ["git", "-c", "user.name=Test", "-c", "user.email=test@localhost"]
    for command in (["init", "-q"], ["add", "--all"], ["commit", "-q", "-m", "All"]):
        subprocess.run([*git, *command], check=True, capture_output=True)
    path = project / "esr/sizes/small.py"
    path.write_text(path.read_text().replace("number < LIMIT", "number <= LIMIT") + "\nMORE = 2\n")
    assert changed_lines("HEAD") == {"esr/sizes/small.py": {13, 17, 18}}
    lines = changed_lines("HEAD")["esr/sizes/small.py"]
    assert {mutant.line for mutant in find_mutants("esr/sizes/small.py", lines)} == {13, 18}


@pytest.mark.slow
def test_each_mutant_is_killed_or_survives_or_has_no_test(project: Path) -> None:
    """The limit is read at import, the comparison is in a function that a test calls, the sum in none."""
    lines = mutate(project, "esr/sizes")
    survivors = {
        (lines[at + 1], lines[at + 2]) for at, line in enumerate(lines) if line.startswith("survived:")
    }
    assert survivors == {
        ("  - return number < LIMIT", "  + return number <= LIMIT"),
        ("  - LIMIT: int | None = 10", "  + LIMIT: int | None = 9"),
        ("  - LIMIT: int | None = 10", "  + LIMIT: int | None = 11"),
    }
    assert sum(line.startswith("no test: esr/sizes/small.py:16") for line in lines) == 3
    assert lines[-1] == "esr/sizes: 1 of 7 killed, 14 %"


@pytest.mark.slow
def test_all_folders_are_mutated_if_none_is_named(project: Path) -> None:
    lines = mutate(project, "--slow")
    assert lines[:2] == ["esr: 0 of 0 mutants, --seed 1", "esr/sizes: 7 of 7 mutants, --seed 1"]
    assert lines[-1] == "esr/sizes: 1 of 7 killed, 14 %"


@pytest.mark.slow
def test_the_mutants_of_a_line_are_tried_alone(project: Path) -> None:
    lines = mutate(project, "esr/sizes/small.py:16")
    assert lines[-1] == "esr/sizes/small.py:16: 0 of 3 killed, 0 %"


@pytest.mark.slow
def test_a_test_that_fails_without_a_change_is_left_out(project: Path) -> None:
    path = project / "tests/sizes/test_small.py"
    path.write_text(path.read_text() + "\ndef test_broken():\n    assert is_small(12)\n")
    lines = mutate(project, "esr/sizes")
    assert "  tests/sizes/test_small.py::test_broken" in lines
    assert lines[-1] == "esr/sizes: 1 of 7 killed, 14 %"


HASTY = """
import sys
from tools.mutation import trials
from tools.mutation.__main__ import main
trials.WAITED = 0.2
sys.exit(main())
"""


@pytest.mark.slow
def test_a_mutant_that_only_ran_out_of_time_by_the_clock_is_undecided(project: Path) -> None:
    """On a busy machine, a trial that gets no processor time says nothing about the tests."""
    path = project / "esr/sizes/small.py"
    path.write_text("import time\n\ndef is_small(number):\n    return number < 9 or time.sleep(600)\n")
    (project / "tests/sizes/test_small.py").write_text(
        "from esr.sizes.small import is_small\n\ndef test_small():\n    is_small(3)\n"
    )
    lines = mutate(project, "esr/sizes/small.py:4", "-c", HASTY)
    undecided = [lines[at + 2] for at, line in enumerate(lines) if line.startswith("undecided:")]
    assert "  + return number > 9 or time.sleep(600)" in undecided
    assert f": 0 of {len(lines) // 3 - len(undecided)} killed, 0 %; {len(undecided)} undecided" in lines[-1]


INTERPRETED = """
from tools.mutation.interpreted import interpret_kernel

interpret_kernel()
from types import FunctionType
from pathlib import Path
from sys import argv

from esr.folder.search.kernel_loader import LOADER
from esr.index.filters import NO_FILTERS
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import open_searcher
from tests.support.folder_index import document, load

LOADER.load()
assert type(LOADER.kernel.search) is FunctionType and LOADER.kernel.search.__wrapped__
texts = ["The river rose", "A flood of the river", "The bank is near", "Nobody came", "Flood and bank"]
load(Path(argv[1]), [document(f"d{n}", *texts[n % 5 :], texts[n % 3]) for n in range(20)])
with open_searcher(argv[1]) as searcher:
    hits = [searcher.search(query, 5, model=model).hits for query in argv[2:] for model in ("3mm", "bm25")]
    LOADER.kernel = None
    plain = [searcher.search(query, 5, model=model).hits for query in argv[2:] for model in ("3mm", "bm25")]
assert [[(hit.sentence_id, hit.score) for hit in each] for each in hits] == [
    [(hit.sentence_id, hit.score) for hit in each] for each in plain
]
assert all(plain)
"""


@pytest.mark.slow
def test_the_interpreted_kernel_finds_what_a_search_without_it_finds(tmp_path: Path) -> None:
    command = [sys.executable, "-c", INTERPRETED, str(tmp_path / "index"), "flood", "river bank"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_each_equivalent_mutant_is_one_of_the_code_and_has_a_reason() -> None:
    """A line that has changed since would hide a mutant that a test can kill."""
    for (file, before, after), why in read_equivalents().items():
        lines = {line.strip() for line in (ROOT / file).read_text("utf-8").splitlines()}
        assert before in lines and before != after and why.endswith("."), (file, before)


def test_the_operators_are_those_of_cosmic_ray() -> None:
    known = set(module.OperatorProvider())
    assert not [name for name in module.OPERATORS if name not in known]


def coverage_of(lines: int, missing: list[int], branches: list[list[int]]) -> dict[str, object]:
    return {
        "summary": {
            "covered_lines": lines - len(missing),
            "num_statements": lines,
            "covered_branches": 4 - len(branches),
            "num_branches": 4,
        },
        "missing_lines": missing,
        "missing_branches": branches,
    }


def test_coverage_is_reported_by_folder_and_a_missed_goal_fails(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "coverage.json"
    files = {"esr/query/parser.py": coverage_of(96, [], []), "webui/access/guard.py": coverage_of(96, [], [])}
    path.write_text(json.dumps({"files": files}))
    assert report_coverage([str(path)]) == 0
    files["webui/access/guard.py"] = coverage_of(96, [3, 4, 5], [[8, -1], [3, 4]])
    path.write_text(json.dumps({"files": files}))
    assert report_coverage([str(path)]) == 1
    shown = capsys.readouterr().out.splitlines()
    assert "  95.0 %      5  webui/access" in shown
    assert shown[-1] == "webui/access/guard.py: 3-5, 8->exit"
