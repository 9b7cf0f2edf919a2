"""What commands of corpus linguistics share: options, and tables of words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import click

from esr.plugin.provisional import TABLE, add_arguments, data_format_option

F = TypeVar("F", bound=Callable[..., Any])
table_format_option: Callable[[Any], Any] = data_format_option("text", "json", "csv")

against_option: Callable[[Any], Any] = add_arguments(
    TABLE, "contrast", "against", against={"metavar": "QUERY"}
)


def draw_columns(rows: Sequence[Mapping[str, Any]], columns: Mapping[str, str], sizes: str) -> str:
    def show(value: float | None) -> str:
        return "" if value is None else f"{value:,}" if isinstance(value, int) else f"{value:,.2f}"

    header = f"{'word':<24}" + "".join(f"{heading:>16}" for heading in columns.values())
    lines = [f"{row['word']:<24}" + "".join(f"{show(row[name]):>16}" for name in columns) for row in rows]
    return "\n".join([click.style(header, bold=True), *lines, "", sizes] if rows else [f"Too rare: {sizes}"])
