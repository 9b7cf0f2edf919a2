"""How the sentences of an answer are arranged, as the arguments say."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from esr.following.overlap import DEFAULT_THRESHOLD

Sort = Literal["score", "date"]
SORTS: dict[Sort, str] = {"score": "best first", "date": "newest first"}


class Arrangement(Struct, frozen=True):
    """`group` puts the sentences of a document together; `fold` folds those that repeat another.

    `novel` lists the oldest first, and only what is new. A sentence repeats one that has the share `overlap`
    of it.
    """

    sort: Sort = "score"
    group: bool = False
    fold: bool = True
    novel: bool = False
    overlap: float = DEFAULT_THRESHOLD
