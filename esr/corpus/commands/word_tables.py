"""What commands of corpus linguistics share: options, and tables of words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import click

from esr.corpus.collocations import COLLOCATIONS, MIN_COUNT
from esr.plugin.provisional import data_format_option

F = TypeVar("F", bound=Callable[..., Any])
table_format_option = data_format_option("text", "json", "csv")


k_option = click.option("-k", type=click.IntRange(1), default=COLLOCATIONS, help="Show this many words.")
against_option = click.option(
    "--against", metavar="QUERY", help="The sentences to compare with, as a query. Default: all others."
)


def min_count_option(help: str) -> Callable[[F], F]:
    return click.option("--min-count", type=click.IntRange(1), default=MIN_COUNT, help=help)


def draw_columns(rows: Sequence[Mapping[str, Any]], columns: Mapping[str, str], sizes: str) -> str:
    def show(value: float | None) -> str:
        return "" if value is None else f"{value:,}" if isinstance(value, int) else f"{value:,.2f}"

    header = f"{'word':<24}" + "".join(f"{heading:>16}" for heading in columns.values())
    lines = [f"{row['word']:<24}" + "".join(f"{show(row[name]):>16}" for name in columns) for row in rows]
    return "\n".join([click.style(header, bold=True), *lines, "", sizes] if rows else [f"Too rare: {sizes}"])
