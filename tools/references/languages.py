"""The table of docs/languages.md of what esr does in each language, with figures.

    python -m tools.references.languages

What there is comes from the tables of the code, and figures from the tables of the documentation, which the
benchmarks named there have printed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from esr.enrichment.recipe import LANGUAGES
from esr.features.tone import read_classifier
from esr.index.names import read_tables
from esr.text.analyzer_definitions import analyzer_for_language
from esr.wording import format_table

ROOT = Path(__file__).resolve().parents[2]
CODES = (
    "ar", "ca", "cs", "da", "de", "el", "en", "es", "fi", "fr", "he", "hi", "hu", "it", "ja", "ko", "nl",
    "no", "pl", "pt", "ro", "ru", "sv", "sw", "tr", "uk", "vi", "zh",
)  # fmt: skip
"""The languages of the table. Others that have an analyzer are in the table before it."""
NAMES = {
    "ar": "Arabic", "de": "German", "en": "English", "es": "Spanish", "fr": "French", "it": "Italian",
    "pl": "Polish", "pt": "Portuguese", "ru": "Russian", "tr": "Turkish", "zh": "Chinese",
}  # fmt: skip
"""The languages of the table of quotations."""
QUOTE_TABLES = ROOT / "esr" / "enrichment" / "quotations" / "tables"


def build_capabilities() -> str:
    """The table as Markdown. A test compares the page with it."""
    search = _figures("languages", "| language | analyzer | topics | esr, AP |", 3)
    accents = _figures("languages", "| language | analyzer | topics | as written |", 5)
    typed = _figures("languages", "| language | analyzer | queries | among the first five |", 3)
    listed = _figures("features-notes", "| language | names in | names | judged | right |", 4)
    quotes = _rows("quotations", "| language | quotations | recall | precision |")
    tone = _rows("features-notes", "| language | subjective | positive | negative |")
    across = {
        row[0]: row[4] for row in _list_rows("mixed-languages", "| sentences | by words |") if row[3] == "en"
    }
    rows = []
    for code in CODES:
        has_quotes = (QUOTE_TABLES / f"{code}.toml").exists()
        has_tone = code == "en" or code in read_classifier()["languages"]
        rows.append(
            (
                code,
                f"`{analyzer_for_language(code).name}`{_in_brackets(search.get(code))}",
                accents.get(code, ""),
                typed.get(code, ""),
                _with_figures(has_quotes, quotes.get(NAMES.get(code, "")), (2, 3, 5)),
                _with_model(_models(code), listed.get(code)) or _in_lists(listed.get(code)),
                "yes" if code in read_tables()["titles"] else "",
                _with_figures(has_tone, tone.get(code), (1, 2, 3)),
                across.get(code, ""),
            )
        )
    heads = (
        "language",
        "analyzer",
        "accents",
        "typed",
        "quotations",
        "names",
        "titles",
        "tone",
        "in English",
    )
    return format_table(heads, rows)


def _models(code: str) -> str:
    language = LANGUAGES.get("nb" if code == "no" else code)
    if language is None:
        return ""
    return "pip" if language.command.startswith("pip") else "spaCy"


def _with_model(model: str, figure: str | None) -> str:
    return f"{model}{_in_brackets(figure)}" if model else ""


def _in_lists(figure: str | None) -> str:
    return f"lists ({figure})" if figure else ""


def _in_brackets(figure: str | None) -> str:
    return f" ({figure})" if figure else ""


def _with_figures(is_there: bool, row: list[str] | None, columns: tuple[int, ...]) -> str:
    if not is_there:
        return ""
    return " / ".join(row[n] for n in columns) if row else "yes"


def _figures(page: str, head: str, column: int) -> Mapping[str, str]:
    return {code: row[column] for code, row in _rows(page, head).items()}


def _rows(page: str, head: str) -> Mapping[str, list[str]]:
    """The rows of a table of a page by language. The table's first line begins with `head`."""
    return {row[0]: row for row in _list_rows(page, head)}


def _list_rows(page: str, head: str) -> list[list[str]]:
    text = (ROOT / "docs" / f"{page}.md").read_text("utf-8")
    _, _, rest = text.partition(f"\n{head}")
    lines = re.match(r"[^\n]*\n[^\n]*\n((?:\|[^\n]*\n)*)", rest)
    if lines is None:
        raise SystemExit(f"docs/{page}.md has no table that begins with {head!r}")
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines[1].splitlines()]


if __name__ == "__main__":
    print(build_capabilities())
