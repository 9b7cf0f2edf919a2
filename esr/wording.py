"""Numbers with nouns, and Markdown tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence


def count(number: int, noun: str) -> str:
    """A number with its noun: 1 sentence, 2,310 sentences."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def format_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table as text."""
    return "".join(f"{line}\n" for line in table_lines(head, rows))


def table_lines(head: Sequence[str], rows: Sequence[Sequence[str]], left: int | None = None) -> Iterator[str]:
    """The lines of a table with the first `left` columns left-aligned, or with all of them."""
    rule = ["---" if left is None or n < left else "---:" for n in range(len(head))]
    for cells in (head, rule, *rows):
        yield "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
