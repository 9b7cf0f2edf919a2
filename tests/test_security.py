"""The list in docs/asvs.md names tests that there are, and each finding that is left has its reason."""

from __future__ import annotations

import ast
import re
import ssl
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "asvs.md"
SECTIONS = {
    **{"1.1": 2, "1.2": 9, "1.3": 11, "1.4": 3, "1.5": 2},
    **{"2.1": 3, "2.2": 3, "2.3": 4, "2.4": 1},
    **{"3.2": 2, "3.3": 4, "3.4": 6, "3.5": 5, "3.7": 2},
    **{"4.1": 3, "4.2": 1, "4.3": 2, "4.4": 4},
    **{"5.1": 1, "5.2": 3, "5.3": 2, "5.4": 3},
    **{"6.1": 3, "6.2": 12, "6.3": 4, "6.4": 4, "6.5": 5, "6.6": 3, "6.8": 4},
    **{"7.1": 3, "7.2": 4, "7.3": 2, "7.4": 5, "7.5": 2, "7.6": 2},
    **{"8.1": 2, "8.2": 3, "8.3": 1, "8.4": 1},
    **{"9.1": 3, "9.2": 4},
    **{"10.1": 2, "10.2": 2, "10.3": 4, "10.4": 11, "10.5": 5, "10.6": 2, "10.7": 3},
    **{"11.1": 2, "11.2": 3, "11.3": 3, "11.4": 4, "11.5": 1, "11.6": 1},
    **{"12.1": 3, "12.2": 2, "12.3": 4},
    **{"13.1": 1, "13.2": 5, "13.3": 2, "13.4": 5},
    **{"14.1": 2, "14.2": 4, "14.3": 3},
    **{"15.1": 3, "15.2": 3, "15.3": 7},
    **{"16.1": 1, "16.2": 5, "16.3": 4, "16.4": 3, "16.5": 3},
    **{"17.1": 1, "17.2": 4, "17.3": 2},
}
"""The number of requirements of levels 1 and 2 by section of ASVS 5.0; they are the first of each section."""


class Row(NamedTuple):
    """A row of the table: the numbers of its requirements, what they ask, and the answer."""

    numbers: tuple[str, ...]
    wording: str
    answer: str


def read_rows() -> list[Row]:
    rows = []
    for line in PAGE.read_text("utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if not re.fullmatch(r"\d+\.\d+\.\d+(–\d+)?", cells[0]):
            continue
        assert len(cells) == 3, line
        first, _, last = cells[0].partition("–")
        section, number = first.rsplit(".", 1)
        numbers = range(int(number), int(last or number) + 1)
        rows.append(Row(tuple(f"{section}.{n}" for n in numbers), *cells[1:]))
    return rows


@cache
def find_tests(path: Path) -> frozenset[str]:
    tree = ast.parse(path.read_text("utf-8"))
    return frozenset(node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


def test_the_list_has_each_requirement_of_level_2_once() -> None:
    listed = [number for row in read_rows() for number in row.numbers]
    assert listed == [f"{section}.{n + 1}" for section, most in SECTIONS.items() for n in range(most)]


def test_each_row_names_tests_that_there_are_or_says_why_not() -> None:
    for row in read_rows():
        tests = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", row.answer)
        for path, name in tests:
            assert (ROOT / path).is_file(), f"{row.numbers[0]}: {path} is not there"
            assert name in find_tests(ROOT / path), f"{row.numbers[0]}: {path} has no {name}"
        assert row.answer.count("tests/") == len(tests), row.numbers
        assert tests or re.match(r"\*(not applicable|open|documented)\*: \S", row.answer), row.numbers
        assert len(row.numbers) == 1 or row.answer.startswith("*not applicable*"), row.numbers
        for page in re.findall(r"\]\(([\w-]+\.md)", row.answer):
            assert (ROOT / "docs" / page).is_file(), f"{row.numbers[0]}: {page}"


def test_the_page_counts_its_rows() -> None:
    counts = dict.fromkeys(("tested", "documented", "not applicable", "open"), 0)
    for row in read_rows():
        kind = re.match(r"\*([\w ]+)\*", row.answer)
        counts[kind[1] if kind else "tested"] += len(row.numbers)
    wanted = ", ".join(f"{number} {kind}" for kind, number in counts.items())
    assert wanted in PAGE.read_text("utf-8"), f"say: {wanted}"


def test_each_finding_of_bandit_that_is_left_has_its_reason() -> None:
    pieces = [
        f"{path.relative_to(ROOT)}: {line.strip()}"
        for folder in ("esr", "webui", "clients", "tools")
        for path in sorted((ROOT / folder).rglob("*.py"))
        for line in path.read_text("utf-8").splitlines()
        if "# nosec" in line
    ]
    assert len(pieces) > 20
    assert not [piece for piece in pieces if not re.search(r"# nosec B\d{3}(, B\d{3})*  # \w+", piece)]


def test_no_secret_comes_from_predictable_numbers() -> None:
    makers = [
        path
        for folder in ("esr/access", "esr/alerts", "esr/dossiers", "webui/access", "webui/dossiers")
        for path in sorted((ROOT / folder).rglob("*.py"))
    ]
    assert len([path for path in makers if "secrets.token" in path.read_text("utf-8")]) > 4
    assert not [
        path for path in makers if re.search(r"^(import|from) random\b", path.read_text("utf-8"), re.M)
    ]


def test_connections_use_tls_1_2_or_later_and_nothing_lowers_it() -> None:
    # Debian builds Python without this limit. OpenSSL 3 has it at all levels of security but 0.
    is_limited = ssl.create_default_context().minimum_version >= ssl.TLSVersion.TLSv1_2
    assert is_limited or ssl.OPENSSL_VERSION_INFO >= (3,)
    lowered = r"minimum_version|set_ciphers|SECLEVEL|PROTOCOL_TLS|PROTOCOL_SSL|_create_unverified_context"
    files = [path for folder in ("esr", "webui") for path in (ROOT / folder).rglob("*.py")]
    assert not [path for path in files if re.search(lowered, path.read_text("utf-8"))]


def test_no_script_assigns_to_a_computed_name_of_an_object() -> None:
    """A name such as `__proto__` would change all objects."""
    scripts = sorted((ROOT / "webui" / "static").glob("*.js"))
    assert len(scripts) > 5
    for path in scripts:
        text = path.read_text("utf-8")
        assert not re.search(r"[\w)\]]\[[^\]\n]*\]\s*(=(?![=>])|\+=)|__proto__", text), path.name
        assert not re.search(r"Object\.assign\((?![^\n]*, \{ )", text), path.name  # names are written there
