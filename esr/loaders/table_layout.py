"""The layout of a table: its delimiter, quote and columns, as declared or as its first row shows."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from esr.errors import UsageError

NO_QUOTE = "none"
_NAMES = {"comma": ",", "tab": "\t", r"\t": "\t", "semicolon": ";", "bar": "|", "pipe": "|"}
_DELIMITERS = ",\t;|"
_QUOTED = re.compile(r"'.*'")
# Excel writes this line if the delimiter is not the usual one of the country.
_SEPARATOR_LINE = re.compile(r"sep=(.)\s*", re.I)


class TableLayout(NamedTuple):
    """The declared layout of tables; None where the first row has to show it.

    `quote` is a character, or NO_QUOTE if fields are never quoted. `columns` names the columns of tables
    without a row of names.
    """

    delimiter: str | None = None
    quote: str | None = None
    columns: tuple[str, ...] | None = None

    def reader_options(self) -> dict[str, Any]:
        """The arguments for `csv.reader`. The layout must be complete."""
        if self.quote == NO_QUOTE:
            return {"delimiter": self.delimiter, "quoting": csv.QUOTE_NONE, "strict": True}
        return {"delimiter": self.delimiter, "quotechar": self.quote, "strict": True}


UNDECLARED = TableLayout()


class UnclearLayout(ValueError):
    """The first row does not show the delimiter. The message tells the user what to do."""


def parse_layout(delimiter: str | None, quote: str | None, columns: str | None) -> TableLayout:
    """The layout given by the options --delimiter, --quote and --columns. Raises UsageError."""
    if delimiter is not None:
        delimiter = _NAMES.get(delimiter.lower(), delimiter)
        if len(delimiter) != 1 or delimiter in '"\r\n':
            raise UsageError(
                f"--delimiter must be one character, or one of {', '.join(_NAMES)}, not {delimiter!r}"
            )
    if quote is not None and quote != NO_QUOTE and (len(quote) != 1 or quote in "\r\n" or quote == delimiter):
        raise UsageError(
            f"--quote must be one character other than the delimiter, or {NO_QUOTE}, not {quote!r}"
        )
    return TableLayout(delimiter, quote, None if columns is None else _parse_columns(columns))


def _parse_columns(text: str) -> tuple[str, ...]:
    columns = tuple(name.strip() for name in text.split(","))
    for column in columns:
        if not column or columns.count(column) > 1:
            problem = f"{column!r} is duplicated" if column else "a name is empty"
            raise UsageError(
                f"--columns needs a different name for each column, such as id,title,text: {problem}"
            )
    return columns


def read_separator_line(line: str) -> str | None:
    """The delimiter in a first line such as `sep=;`; None for any other line."""
    match = _SEPARATOR_LINE.fullmatch(line)
    return match[1] if match else None


def complete(layout: TableLayout, first: str) -> TableLayout:
    """The layout with delimiter and quote, taken from the first row if undeclared. Raises UnclearLayout."""
    quote = layout.quote or _find_quote(layout, first)
    layout = layout._replace(quote=quote)
    return layout if layout.delimiter else layout._replace(delimiter=_find_delimiter(layout, first))


def describe(layout: TableLayout, declared: TableLayout) -> Iterator[str]:
    """Remarks about a detected delimiter or quote that is unusual."""
    if layout.delimiter != declared.delimiter and layout.delimiter not in (",", "\t"):
        yield f"have columns separated by {layout.delimiter!r} (--delimiter chooses another)"
    if layout.quote != declared.quote and layout.quote != '"':
        yield f"have fields quoted by {layout.quote!r} (--quote chooses another)"


def split_row(layout: TableLayout, line: str) -> list[str]:
    """The fields of a row, the last one cut if the row has more lines; an empty list if it is broken.

    The layout must be complete.
    """
    try:
        return next(csv.reader([line], **(layout.reader_options() | {"strict": False})), [])
    except csv.Error:
        return []


def _find_quote(layout: TableLayout, first: str) -> str:
    """An apostrophe if every name is in apostrophes, which is unlikely for names that contain one.

    If the columns are declared, the row is a document: then one field in apostrophes is enough.
    """
    if layout.columns is None:
        fields = re.split(f"[{re.escape(_DELIMITERS)}]", first.strip())
        return "'" if all(map(_QUOTED.fullmatch, fields)) else '"'
    for delimiter in layout.delimiter or _DELIMITERS:
        quoted = layout._replace(delimiter=delimiter, quote="'")
        end = re.escape(delimiter)
        if len(split_row(quoted, first.strip())) == len(layout.columns) and re.search(
            rf"(?:^|{end})'[^']+(?:''[^']*)*'(?:{end}|$)", first.strip()
        ):
            return "'"
    return '"'


def _find_delimiter(layout: TableLayout, first: str) -> str:
    """The delimiter that splits the row into the declared number of fields, or else into the most fields."""
    counts = {
        delimiter: len(split_row(layout._replace(delimiter=delimiter), first)) for delimiter in _DELIMITERS
    }
    wanted = max(counts.values()) if layout.columns is None else len(layout.columns)
    found = [delimiter for delimiter, count in counts.items() if count == wanted]
    if wanted <= 1:  # one column, or a broken row
        return ","
    if len(found) == 1:
        return found[0]
    shown = " and ".join(map(repr, found)) or "no usual delimiter"
    verb = "cut" if len(found) > 1 else "cuts"
    raise UnclearLayout(f"{shown} {verb} the first row into {wanted} columns: choose one with --delimiter")
