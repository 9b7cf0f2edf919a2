"""How much more frequent words are in one part of a text than in another.

Dunning (1993) for the log-likelihood, which says how sure a difference is; Hardie (2014) for the log ratio
and Gabrielatos & Marchi (2012) for %DIFF, which say how large it is. docs/formulas.md, section H, has the
formulas.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


def log_likelihood(near: Array, row: Array | float, column: Array, size: Array | float) -> Array:
    """G² of tables of two by two, of shape (n,): the cell `near`, the sums of its row and column, and of all.

    Negative where the cell is less than expected. 10.83 has a p-value of .001.
    """
    observed = np.stack(np.broadcast_arrays(near, row - near, column - near, size - row - column + near))
    expected = np.stack(
        np.broadcast_arrays(
            row * column / size,
            row * (size - column) / size,
            (size - row) * column / size,
            (size - row) * (size - column) / size,
        )
    )
    logs = np.log(np.maximum(observed, 1e-300) / np.maximum(expected, 1e-300))
    parts = np.where(observed > 0, observed * logs, 0.0)
    return np.asarray(2 * parts.sum(axis=0) * np.where(near < expected[0], -1.0, 1.0))


def log_dice(together: Array | float, one: Array | float, other: Array | float) -> Array:
    """logDice (Rychlý 2008) of things that occur `together`, from the occurrences of each. At most 14."""
    return np.asarray(14 + np.log2(2 * together / (one + other)))


class Contrast(NamedTuple):
    """Frequencies of n words in a part and in the other part, each of shape (n,), and the sizes of both."""

    own: Array
    own_size: float
    other: Array
    other_size: float

    @property
    def log_likelihood(self) -> Array:
        """G², negative for words that are rarer in the part."""
        return log_likelihood(self.own, self.own_size, self.own + self.other, self.own_size + self.other_size)

    @property
    def log_ratio(self) -> Array:
        """The binary logarithm of the ratio of relative frequencies: 1 is twice as frequent.

        A frequency of 0 counts as .5.
        """
        own = np.maximum(self.own, 0.5) / max(self.own_size, 1)
        return np.asarray(np.log2(own / (np.maximum(self.other, 0.5) / max(self.other_size, 1))))

    @property
    def percent_difference(self) -> Array:
        """%DIFF: by how many percent the relative frequency is greater. NaN where the other part has none."""
        other = np.where(self.other > 0, self.other, np.nan) / max(self.other_size, 1)
        return np.asarray(100 * (self.own / max(self.own_size, 1) - other) / other)


def per_million(count: float, size: float) -> float:
    """How often something occurs per million of `size`, to three digits."""
    return round(1e6 * float(count) / max(size, 1), 3)
