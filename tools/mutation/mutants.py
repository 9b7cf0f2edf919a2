"""Mutants: which there are in a file, which are left out, and which are equivalent.

The operators are those of cosmic-ray. It replaces each operator by each other one; here only the replacements
are taken that a person could have typed by mistake, so that a sample is not mostly of absurd ones.
"""

from __future__ import annotations

import ast
import json
import random
import re
import subprocess
from collections.abc import Collection, Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.operators.provider import OperatorProvider

EQUIVALENTS = Path(__file__).with_name("equivalents.json")
OPERATORS = (
    *(f"ReplaceBinaryOperator_{change}" for change in (
        "Add_Sub", "Sub_Add", "Mul_Div", "Div_Mul", "FloorDiv_Mul", "Mod_Mul", "Pow_Mul",
        "LShift_RShift", "RShift_LShift", "BitOr_BitAnd", "BitAnd_BitOr", "BitXor_BitAnd",
    )),
    *(f"ReplaceComparisonOperator_{change}" for change in (
        "Eq_NotEq", "NotEq_Eq", "Lt_LtE", "Lt_Gt", "LtE_Lt", "LtE_GtE", "Gt_GtE", "Gt_Lt", "GtE_Gt",
        "GtE_LtE", "Is_IsNot", "IsNot_Is",
    )),
    "ReplaceUnaryOperator_USub_UAdd", "ReplaceUnaryOperator_Delete_Not", "ReplaceUnaryOperator_Delete_Invert",
    "AddNot", "ReplaceTrueWithFalse", "ReplaceFalseWithTrue", "ReplaceAndWithOr", "ReplaceOrWithAnd",
    "ReplaceBreakWithContinue", "ReplaceContinueWithBreak", "ExceptionReplacer", "NumberReplacer",
    "ZeroIterationForLoop",
)  # fmt: skip

_SEPARATOR = re.compile(r"[*/]\s*[,)]")
"""What separates parameters, as in `def find(text, *, limit)`, which cosmic-ray takes for an operator."""


class Mutant(NamedTuple):
    """One change of one file, in a line that is counted from 1."""

    path: str
    line: int
    operator: str
    occurrence: int
    in_function: bool
    """Whether the change is in a function, which a loaded module can be given."""

    @cache  # noqa: B019  # each is asked for three times
    def source(self) -> str:
        """The text of the whole file with the change."""
        changed = mutate_code(_text(self.path), _operator(self.operator), self.occurrence)
        assert changed is not None, self
        return str(changed)

    def lines(self) -> tuple[str, str]:
        """The line before and after."""
        # The number that replaces another has a blank before it.
        blanks = r"(?<=\w=) +(?=-?\d)|(?<=[\[({]) +(?=-?\d)|(?<= ) +"
        return (
            _text(self.path).splitlines()[self.line - 1].strip(),
            re.sub(blanks, "", self.source().splitlines()[self.line - 1].strip()),
        )


def _text(path: str) -> str:
    return Path(path).read_text("utf-8")


def _operator(name: str) -> Any:
    return OperatorProvider()[name]()


def find_mutants(path: str, lines: Collection[int] | None = None) -> list[Mutant]:
    """All mutants of a file, or of these lines of it.

    Left out are what only mypy reads, the sizes of caches, and what says what holds anyway: annotations,
    assertions, `frozen` and `kw_only` of classes, and `strict` of `zip`.
    """
    text = _text(path)
    rows = text.splitlines()
    tree = ast.parse(text)
    skipped = {span for node in ast.walk(tree) for span in _unchecked(node)}
    functions = [
        (node.body[0].lineno, node.end_lineno or 0)
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    nodes = list(ast_nodes(get_ast(text)))
    mutants = []
    for name in OPERATORS:
        operator = _operator(name)
        positions = (position for node in nodes for position in operator.mutation_positions(node))
        for occurrence, (start, _) in enumerate(positions):
            line = start[0]
            if lines is not None and line not in lines:
                continue
            is_separator = _SEPARATOR.match(rows[line - 1], start[1])
            if is_separator or any(low <= start <= high for low, high in skipped):
                continue
            in_function = any(low <= line <= high for low, high in functions)
            mutants.append(Mutant(path, line, name, occurrence, in_function))
    return mutants


def _unchecked(node: ast.AST) -> Iterable[tuple[tuple[int, int], tuple[int, int]]]:
    """The spans in a statement that no test can notice."""
    found: list[ast.AST | None] = []
    if isinstance(node, ast.Assert):
        found = [node]
    elif isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
        found = [node.test, *node.body]
    elif isinstance(node, ast.ClassDef):
        found = [keyword.value for keyword in node.keywords if keyword.arg in ("frozen", "kw_only")]
    elif isinstance(node, ast.Call) and ast.unparse(node.func) == "zip":
        found = [keyword.value for keyword in node.keywords if keyword.arg == "strict"]
    elif isinstance(node, ast.Call) and ast.unparse(node.func) == "lru_cache":
        found = [*node.args, *(keyword.value for keyword in node.keywords)]
    elif isinstance(node, ast.AnnAssign | ast.arg):
        found = [node.annotation]
    elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        found = [node.returns]
    for part in found:
        if part is not None:
            low, high = (part.lineno, part.col_offset), (part.end_lineno or 0, part.end_col_offset or 0)  # type: ignore[attr-defined]
            yield low, high


def is_program(mutant: Mutant) -> bool:
    """Whether the operator can make the change, and Python accepts it."""
    try:
        ast.parse(mutant.source())
    except (
        SyntaxError,
        AttributeError,
    ):  # ExceptionReplacer knows no exceptions of modules: `errors.Missing`
        return False
    return True


def sample(
    mutants: list[Mutant], size: int, seed: int, equivalents: Collection[tuple[str, str, str]] = ()
) -> list[Mutant]:
    """So many mutants, at random: first a line and then a change of it, so that no long formula fills it."""
    source = random.Random(seed)
    by_line: dict[tuple[str, int], list[Mutant]] = {}
    for mutant in mutants:
        by_line.setdefault((mutant.path, mutant.line), []).append(mutant)
    sampled: list[Mutant] = []
    rounds = [source.sample(changes, len(changes)) for changes in by_line.values()]
    while rounds and len(sampled) < size:
        source.shuffle(rounds)
        for changes in rounds:
            mutant = changes.pop()
            if (
                len(sampled) < size
                and is_program(mutant)
                and (mutant.path, *mutant.lines()) not in equivalents
            ):
                sampled.append(mutant)
        rounds = [changes for changes in rounds if changes]
    return sampled


def read_equivalents(path: Path = EQUIVALENTS) -> Mapping[tuple[str, str, str], str]:
    """Why a change makes no difference that a test should notice, by file, line before and line after."""
    rows = json.loads(path.read_text("utf-8"))
    return {(file, row["line"], row["mutant"]): row["why"] for file in rows for row in rows[file]}


def changed_lines(since: str) -> dict[str, set[int]]:
    """The lines of each Python file that were added or changed since a commit."""
    command = ["git", "diff", "--unified=0", "--diff-filter=d", "--no-color", since, "--", "*.py"]
    diff = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    lines: dict[str, set[int]] = {}
    path = ""
    for row in diff.splitlines():
        if row.startswith("+++ b/"):
            path = row[len("+++ b/") :]
        elif hunk := re.match(r"@@ \S+ \+(\d+)(?:,(\d+))? @@", row):
            first, count = int(hunk[1]), int(hunk[2] or 1)
            lines.setdefault(path, set()).update(range(first, first + count))
    return lines
