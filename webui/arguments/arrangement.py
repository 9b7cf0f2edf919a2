"""How the sentences of an answer are arranged, as the arguments say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Sort = Literal["score", "date"]
SORTS: dict[Sort, str] = {"score": "best first", "date": "newest first"}


@dataclass(frozen=True)
class Arrangement:
    """`group` puts the sentences of a document together; `fold` folds near-duplicates."""

    sort: Sort = "score"
    group: bool = False
    fold: bool = True
