"""The messages of the pages that stand in tables of esr, such as the labels of arguments."""

from __future__ import annotations

from collections.abc import Iterator

from esr.arguments.tables.table import TABLE


def table_messages() -> Iterator[tuple[str, str]]:
    """Each message, after the folder of its table."""
    for row in TABLE:
        for text in (row.label, row.empty, row.phrase):
            if text:
                yield "esr/arguments", text
