"""Groups of copies that another run switches between the two requests that read them.

The answers are made up: tests/index/test_reuse.py asks real nodes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from esr.elastic.cluster import Cluster
from esr.elastic.copies import GROUP_FIELD, read_groups
from tests.elastic.test_repeated_requests import WHOLE, Answers, connect

__all__ = ["connect"]


def member(sentence_id: str, group: str) -> dict[str, Any]:
    document_id = sentence_id.partition(".")[0]
    source = {"document_id": document_id, "position": 0, "date": "2024-01-01", "source": document_id}
    return {"_id": sentence_id, "_source": source, "fields": {GROUP_FIELD: [group]}, "sort": [0, 0]}


def test_a_sentence_that_has_left_its_group_meanwhile_has_none(
    connect: Callable[..., tuple[Cluster, Answers]],
) -> None:
    switched = [member("a.s0", "a.s0"), member("b.s0", "a.s0")]
    cluster, _ = connect({**WHOLE, "hits": {"hits": switched}})
    of_a, of_c, of_d = read_groups(cluster, ["a.s0", "c.s0", "d.s0"], ["a.s0", "a.s0", None])
    assert of_a is not None and of_a.documents == 2
    assert (of_c, of_d) == (None, None)
