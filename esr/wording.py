"""Numbers with nouns, examples of lists, tables as text and in Markdown, and rows of tables."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

_SINGULAR = {"are": "is", "had": "had", "have": "has", "match": "matches", "were": "was"}


def count(number: int, noun: str, verb: str = "") -> str:
    """A number with its noun, and a verb given in the plural: 1 sentence has, 2,310 sentences have."""
    if number != 1:
        return f"{number:,} {noun}s {verb}".rstrip()
    return f"1 {noun} {_SINGULAR.get(verb, verb and verb + 's')}".rstrip()


TITLE_CHARS = 160
"""Length of titles in lists. A few titles are whole texts."""
LONG_TITLE_CHARS = 5_000
"""Length of a title where it is the only one, as above its article or in a citation."""


def shorten_title(title: str, most: int = TITLE_CHARS) -> str:
    """A title for display, cut if it has more than `most` characters, at a blank unless it is far away."""
    if len(title) <= most:
        return title
    blank = title.rfind(" ", most // 2, most)
    return title[: blank if blank > 0 else most - 1] + "…"


def remove_non_xml(text: str) -> str:
    """The text without the characters that XML cannot contain."""
    return "".join(c for c in text if c in "\t\n\r" or _is_xml(ord(c)))


def _is_xml(code: int) -> bool:
    return 0x20 <= code <= 0xD7FF or 0xE000 <= code <= 0xFFFD or code >= 0x10000


def list_examples(items: Sequence[str], most: int = 5) -> str:
    """The first `most` items, and an ellipsis if there are more."""
    return ", ".join(items[:most]) + (", …" if len(items) > most else "")


def align_columns(rows: Sequence[Sequence[str]], left: Collection[int] = (0,)) -> str:
    """Rows as lines of text. The columns whose numbers are in `left` are left-aligned, the others right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if n in left else cell.rjust(width)
            for n, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )


def format_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table as text."""
    return "".join(f"{line}\n" for line in table_lines(head, rows))


def table_lines(head: Sequence[str], rows: Sequence[Sequence[str]], left: int | None = None) -> Iterator[str]:
    """The lines of a table whose first `left` columns, or all for None, are left-aligned."""
    rule = ["---" if left is None or n < left else "---:" for n in range(len(head))]
    for cells in (head, rule, *rows):
        yield "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def flatten_row(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row of an answer with a cell for each value that it nests.

    A pair becomes two columns: its first value is that of the requested part, and its second that of the
    other part, in a column whose name ends in `_other`.
    """
    cells: dict[str, Any] = {}
    for name, cell in row.items():
        if isinstance(cell, Mapping):
            cells |= cell
        elif isinstance(cell, tuple):
            cells |= zip((name, f"{name}_other"), cell, strict=True)
        else:
            cells[name] = cell
    return cells
