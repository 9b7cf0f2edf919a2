"""What a search gives that could not be pruned."""

from __future__ import annotations

from typing import NamedTuple


class Unprunable(NamedTuple):
    """A search that cannot be pruned, and why: every candidate has to be scored."""

    reason: str
