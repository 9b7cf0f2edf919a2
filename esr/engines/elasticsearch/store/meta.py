"""What an index of esr says of itself, in its mapping's `_meta`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from copy import copy
from dataclasses import dataclass, field
from typing import Any

from elasticsearch import NotFoundError

from esr.engines.elasticsearch.cluster.cluster import Cluster, from_elasticsearch
from esr.engines.elasticsearch.store import templates
from esr.engines.generations import new_generation_name
from esr.engines.index import Description
from esr.errors import IndexUnusable

SENTENCES, DOCUMENTS = "-esr-sentences", "-esr-documents"
"""How the names of indices end; the index templates know them by that."""
_STAMPED = re.compile(rf"-(\d{{8}}t\d{{12}}(?:-\d+)?){SENTENCES}")

LONGEST_NAMES = 3000
"""Elasticsearch takes requests of 4,096 characters in their first line."""
_COPIED = "copying:0:0"


@dataclass(frozen=True, slots=True)
class Load:
    """One load: its index of sentences, how it was made, and by whom. Incomplete ones were cut off.

    `recipes` are those that enriched it, by digest. A load heads a generation, which is made of the indices
    of sentences `members`; a load that others are made of too may head none any more. `manifest` says what
    the load must have in the end, `impacts` what its documents' impacts are of, if they have some.
    """

    index: str
    description: Description
    complete: bool
    owner: str
    recipes: Mapping[str, Any] = field(default_factory=dict)
    members: tuple[str, ...] = ()
    heads: bool = True
    manifest: Mapping[str, Any] = field(default_factory=dict)
    impacts: Mapping[str, Any] = field(default_factory=dict)
    format: int = field(default_factory=lambda: templates.FORMAT)

    @property
    def documents_index(self) -> str:
        return documents_index(self.index)

    @property
    def generation(self) -> str:
        """The name of the generation that it heads."""
        found = _STAMPED.search(self.index)
        return found[1] if found else self.index.removesuffix(SENTENCES)

    def as_meta(self) -> dict[str, Any]:
        """What the mapping's `_meta` holds of it."""
        return {
            "esr": {
                "format": self.format,
                "index": self.index,
                "complete": self.complete,
                "owner": self.owner,
                "members": list(self.members),
                "heads": self.heads,
                "manifest": dict(self.manifest),
                "impacts": dict(self.impacts),
                "recipes": dict(self.recipes),
                **self.description.as_dict(),
            }
        }


def documents_index(index: str) -> str:
    """The index of documents beside one of sentences."""
    return index.removesuffix(SENTENCES) + DOCUMENTS


def new_name(cluster: Cluster, number: int = 0) -> str:
    """The name of an index of sentences that begins now; `number` tells those of one moment apart."""
    return f"{cluster.alias}-{new_generation_name()}{f'-{number}' if number else ''}{SENTENCES}"


def served(cluster: Cluster) -> list[Load]:
    """The loads behind the alias, oldest first. Empty if there are none.

    Raises IndexUnusable if the alias leads to something that esr did not make, or that needs `esr migrate`.
    """
    loads = behind(cluster)
    for load in loads:
        if load.format != templates.FORMAT:
            raise IndexUnusable(
                f"{cluster.where} has index format {load.format}, this esr searches {templates.FORMAT}: "
                "run esr migrate"
            )
    return loads


def behind(cluster: Cluster) -> list[Load]:
    """The same, of this esr's format or of an older one, of which no more than documents is looked at."""
    loads = []
    for index, meta in _found(cluster, cluster.alias):
        if meta is None or not index.endswith(SENTENCES):
            raise IndexUnusable(
                f"{cluster.where} leads to {index!r}, which is no index of sentences that esr made"
            )
        if meta["format"] > templates.FORMAT:
            raise IndexUnusable(
                f"{cluster.where} has index format {meta['format']}, this esr knows {templates.FORMAT}: "
                "use a newer esr"
            )
        loads.append(_load(index, meta))
    return loads


def by_name(cluster: Cluster, loads: Iterable[Load]) -> Cluster:
    """The same server, with the indices of these loads in the aliases' place: wherever those move.

    Where the names are too long for a request, the aliases stay.
    """
    named = copy(cluster)
    names = [load.index for load in loads]
    sentences, documents = ",".join(names), ",".join(map(documents_index, names))
    if max(len(sentences), len(documents)) <= LONGEST_NAMES:
        named.alias, named.documents_alias = sentences, documents
    return named


def every(cluster: Cluster) -> list[Load]:
    """All loads of this alias, served or not, oldest first. Those of an alias `news-de` are not of `news`.

    What a newer esr is writing is its own business.
    """
    mine = re.compile(re.escape(cluster.alias) + _STAMPED.pattern)
    found = _found(cluster, f"{cluster.alias}-*{SENTENCES}")
    known = [(index, meta) for index, meta in found if meta and mine.fullmatch(index)]
    return [_load(index, meta) for index, meta in known if meta["format"] <= templates.FORMAT]


def write(cluster: Cluster, load: Load) -> None:
    """Say in both indices of a load what `load` says."""
    with cluster.errors():
        for index in (load.index, load.documents_index):
            cluster.client.indices.put_mapping(index=index, meta=load.as_meta())


def _found(cluster: Cluster, pattern: str) -> list[tuple[str, Mapping[str, Any] | None]]:
    with cluster.errors():
        try:
            answer = cluster.client.indices.get_mapping(index=pattern)
        except NotFoundError as error:
            if not from_elasticsearch(error):
                raise  # a server of another kind knows no index at all
            return []
    return [(index, found["mappings"].get("_meta", {}).get("esr")) for index, found in sorted(answer.items())]


def _load(index: str, meta: Mapping[str, Any]) -> Load:
    copied = meta.get("index", index) != index  # what it says is its original's, until it is told otherwise
    return Load(
        index,
        Description(meta["analyzer"], meta["title"]),
        meta["complete"] and not copied,
        _COPIED if copied else meta["owner"],
        meta.get("recipes", {}),
        tuple(meta.get("members", (index,))),
        meta.get("heads", True),
        meta.get("manifest", {}),
        meta.get("impacts", {}),
        meta["format"],
    )
