"""Answers as data frames of pandas and polars."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from esr.extras import require
from esr.stdlib import import_lazily

if TYPE_CHECKING:
    import pandas
    import polars
else:
    pandas = import_lazily("pandas")
    polars = import_lazily("polars")


class Table:
    """An answer that is a table."""

    __slots__ = ()

    def columns(self) -> Mapping[str, Sequence[Any]]:
        """Return the values of each column, in the order of the rows."""
        raise NotImplementedError

    def to_pandas(self) -> pandas.DataFrame:
        """Return the answer as a data frame of pandas (extra `dataframes`)."""
        require("to_pandas", "pandas")

        return pandas.DataFrame(self.columns())

    def to_polars(self) -> polars.DataFrame:
        """Return the answer as a data frame of polars (extra `dataframes`)."""
        require("to_polars", "polars")

        return polars.DataFrame(self.columns())


def to_columns(names: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """The columns of a table with these names, given its rows. An empty table has them too."""
    return {name: [row[name] for row in rows] for name in names}
