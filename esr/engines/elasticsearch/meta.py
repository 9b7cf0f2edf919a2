"""What an index of esr says of itself, in its mapping's `_meta`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from elasticsearch import NotFoundError

from esr.engines.elasticsearch.cluster import Cluster, from_elasticsearch
from esr.engines.elasticsearch.templates import FORMAT
from esr.engines.index import Description
from esr.errors import IndexUnusable

SENTENCES, DOCUMENTS = "-esr-sentences", "-esr-documents"
"""How the names of indices end; the index templates know them by that."""


@dataclass(frozen=True, slots=True)
class Load:
    """One load: its index of sentences, how it was made, and by whom. Incomplete ones were cut off.

    `recipes` are those that enriched it, by digest.
    """

    index: str
    description: Description
    complete: bool
    owner: str
    recipes: Mapping[str, Any] = field(default_factory=dict)

    @property
    def documents_index(self) -> str:
        return self.index.removesuffix(SENTENCES) + DOCUMENTS


def read(cluster: Cluster, pattern: str | None = None) -> list[Load]:
    """The loads behind the alias, or those that match a pattern, oldest first. Empty if there are none.

    Raises IndexUnusable if the alias leads to something that esr did not make.
    """
    with cluster.errors():
        try:
            answer = cluster.client.indices.get_mapping(index=pattern or cluster.alias)
        except NotFoundError as error:
            if not from_elasticsearch(error):
                raise  # a server of another kind knows no index at all
            return []
    loads = []
    for index, found in sorted(answer.items()):
        meta = found["mappings"].get("_meta", {}).get("esr")
        if meta is None or not index.endswith(SENTENCES):
            if pattern is None:
                raise IndexUnusable(
                    f"{cluster.where} leads to {index!r}, which is no index of sentences that esr made"
                )
            continue
        if meta["format"] != FORMAT:
            raise IndexUnusable(
                f"{cluster.where} has index format {meta['format']}, not {FORMAT}: load again"
            )
        description = Description(meta["analyzer"], meta["title"])
        loads.append(Load(index, description, meta["complete"], meta["owner"], meta.get("recipes", {})))
    return loads
