"""Loads: their descriptions in the `_meta` of their indices.

Both indices of a load store its description, since one may be missing. A copy of an index that still has the
`_meta` of its original is incomplete.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from elasticsearch import NotFoundError

from esr import resources
from esr.elastic.cluster import Cluster
from esr.elastic.connection import AliasTargets
from esr.elastic.dialect import Dialect
from esr.elastic.location import (
    DOCUMENTS,
    SENTENCES,
    belongs_to,
    documents_index,
    generation_name,
    index_of_period,
    sentences_index,
    undivided_index,
)
from esr.elastic.login import is_from_elasticsearch
from esr.elastic.requests import ask
from esr.errors import IndexUnusable
from esr.index.names import Aliases
from esr.index.withdrawn import NONE_WITHDRAWN, Withdrawn
from esr.index.writer import Description, outdated_analyzer
from esr.text.document import Document
from esr.text.periods import period_of_document

FORMAT = 7


LONGEST_NAMES = 3000
"""Maximum length of index names in a request. Elasticsearch limits the request line to 4,096 bytes."""
_COPY_OWNER = "copying"


@dataclass(frozen=True, slots=True)
class Load:
    """One load: its index of sentences, how it was made, and by whom. An interrupted load is not complete.

    `recipes` are those of its enrichment, by digest. A load that `is_head` heads a generation, which consists
    of the indices of sentences `members`; other loads only belong to generations. `manifest` identifies the
    contents of the finished load. `impacts` describes its impacts, empty if it has none. `is_rejected` marks
    the head of a generation from which a rollback went back to an older one. `aliases` and `short_forms` are
    those of names. `withdrawn` are the documents removed for good, of which the newest load has the list.
    `heartbeat` is when its writer was last alive, in seconds since 1970, 0 if unknown.
    `period` is that of all of its documents, "" in an index that is not divided. `missing` are those of its
    two indices that do not exist; only `all_loads` sets it.

    A load of several periods fills an index for each: `parts`. The head describes them all, and the others
    have the same description with their own period.
    """

    index: str
    description: Description
    is_complete: bool
    owner: str
    recipes: Mapping[str, Any] = field(default_factory=dict)
    members: tuple[str, ...] = ()
    is_head: bool = True
    manifest: Mapping[str, Any] = field(default_factory=dict)
    impacts: Mapping[str, Any] = field(default_factory=dict)
    format: int = field(default_factory=lambda: FORMAT)
    is_rejected: bool = False
    aliases: Mapping[str, Any] = field(default_factory=dict)
    short_forms: Mapping[str, Any] = field(default_factory=dict)
    heartbeat: float = 0.0
    missing: tuple[str, ...] = ()
    withdrawn: Withdrawn = NONE_WITHDRAWN
    period: str = ""

    @property
    def parts(self) -> tuple[str, ...]:
        """The indices of sentences that this load fills, its own last: one for each period."""
        if not self.period or not self.is_head:
            return (self.index,)
        return tuple(index for index in self.members if generation_name(index) == self.generation)

    def index_of(self, document: Document) -> str:
        """The index of sentences that this load writes a document to."""
        if not self.period or self.description.by is None:
            return self.index
        period = period_of_document(document, self.description.by)
        return self.index if period == self.period else index_of_period(undivided_index(self.index), period)

    @property
    def documents_index(self) -> str:
        return documents_index(self.index)

    @property
    def generation(self) -> str:
        """The name of the generation that it heads."""
        return generation_name(self.index)

    def as_meta(self, dialect: Dialect) -> dict[str, Any]:
        """The `_meta` of both of its indices, with the request template for the clients in `clients/`."""
        return {
            "esr": {
                "format": self.format,
                "index": self.index,
                "complete": self.is_complete,
                "owner": self.owner,
                "members": list(self.members),
                "heads": self.is_head,
                "manifest": dict(self.manifest),
                "lifts": dict(self.impacts),
                "recipes": dict(self.recipes),
                **({"rejected": True} if self.is_rejected else {}),
                **({"aliases": dict(self.aliases)} if self.aliases else {}),
                **({"short_forms": dict(self.short_forms)} if self.short_forms else {}),
                # As text, since Elasticsearch may merge items of a list in a `_meta`.
                **({"withdrawn": json.dumps(self.withdrawn.as_dict())} if self.withdrawn else {}),
                **({} if self.is_complete or not self.heartbeat else {"heartbeat": self.heartbeat}),
                **({"period": self.period} if self.period else {}),
                **self.description.as_dict(),
                # No server can analyze a query by language, so clients get no template.
                **({} if self.description.is_by_language else {"request": _request_template(dialect)}),
            }
        }


@cache
def _request_template(dialect: Dialect) -> str:
    """The request template as text, since Elasticsearch may merge items of a list in a `_meta`."""
    template = dialect.search(resources.load_json("requests/default.json"))
    return json.dumps(template, separators=(",", ":"))


def searchable_loads(cluster: Cluster) -> list[Load]:
    """The loads behind the alias, oldest first: at least one.

    Raises IndexMissing, or IndexUnusable if the alias points to an index that esr did not create, that needs
    `esr migrate`, or whose index of sentences was deleted by hand.
    """
    loads = aliased_loads(cluster)
    if not loads:
        check_complete(cluster)
        raise cluster.index_missing()
    check_format(cluster, loads)
    return loads


def check_complete(cluster: Cluster) -> None:
    """Raise IndexMissing if the aliases have no indices, IndexUnusable if an index was deleted by hand."""
    with cluster.translate_errors():
        cluster.look_up_targets()
    if lost := lost_periods(aliased_loads(cluster)):
        raise cluster.incomplete([name for index in lost for name in (index, documents_index(index))])


def lost_periods(loads: Sequence[Load]) -> list[str]:
    """The indices of sentences of a divided generation that none of these loads behind the alias has."""
    if not loads or not loads[-1].period:
        return []
    return sorted({*loads[-1].members} - {load.index for load in loads})


def check_format(cluster: Cluster, loads: Iterable[Load]) -> None:
    """Raise IndexUnusable for a load of an older format."""
    for load in loads:
        if load.format != FORMAT:
            raise IndexUnusable(
                f"{cluster.where} has index format {load.format}, this esr searches {FORMAT}: run esr migrate"
            )
        if not load.description.is_current:
            raise IndexUnusable(outdated_analyzer(cluster.where, load.description))


def aliased_loads(cluster: Cluster) -> list[Load]:
    """The loads behind the alias, oldest first. Empty if there are none.

    Of a load in an older format, only the documents can be read. Raises IndexUnusable if the alias points to
    an index that esr did not create, or that a newer esr created.
    """
    loads = []
    for index, meta in _read(cluster, cluster.alias):
        if meta is None or not index.endswith(SENTENCES):
            raise IndexUnusable(
                f"{cluster.where} points to {index!r}, which is not an index of sentences made by esr"
            )
        if meta["format"] > FORMAT:
            raise IndexUnusable(
                f"{cluster.where} has index format {meta['format']}, this esr knows {FORMAT}: use a newer esr"
            )
        loads.append(_parse(index, meta))
    return loads


def all_loads(cluster: Cluster) -> list[Load]:
    """All loads of this alias, served or not, oldest first, except those of a newer esr.

    Both indices of a load store its description, so either may be missing.
    """
    stored = dict(_read(cluster, ",".join(f"{cluster.alias}-*{kind}" for kind in (SENTENCES, DOCUMENTS))))
    loads = []
    for index in sorted({sentences_index(name) for name in stored}):
        names = (index, documents_index(index))
        meta = next(stored[name] for name in names if name in stored)
        if meta and belongs_to(index, cluster.alias) and meta["format"] <= FORMAT:
            missing = tuple(name for name in names if name not in stored)
            load = replace(_parse(index, meta), missing=missing)
            loads.append(_date_copy(cluster, load) if load.owner == _COPY_OWNER else load)
    return loads


def _date_copy(cluster: Cluster, load: Load) -> Load:
    """A copied load that has no description of its own yet, with its creation time as heartbeat.

    Its writer sends heartbeats well before the creation time is overdue.
    """
    name = "index.creation_date"
    with cluster.translate_errors():
        answer = cluster.client.indices.get_settings(
            index=[load.index, load.documents_index], name=name, flat_settings=True, ignore_unavailable=True
        )
    created = (int(body["settings"][name]) for body in answer.values())
    return replace(load, heartbeat=max(created, default=0) / 1000)


def newest_generation(cluster: Cluster) -> str:
    """The greatest name of a generation of this alias, "" if there is none."""
    return max((load.generation.partition("-")[0] for load in all_loads(cluster)), default="")


def pin_indices(cluster: Cluster, loads: Iterable[Load]) -> Cluster:
    """The same servers, with the indices of these loads in place of the aliases, which may move.

    If the names are too long for a request, the aliases remain.
    """
    return pin_targets(cluster, name_indices(loads))


def pin_targets(cluster: Cluster, targets: AliasTargets) -> Cluster:
    """The same servers, with these indices in place of the aliases.

    If their names are too long, requests name the generation's aliases, which never move. An index that is
    not divided has none: then the aliases remain.
    """
    if fit_request(targets):
        return cluster.pin(targets)
    generation = undivided_index(targets.newest)
    if generation == targets.newest:
        return cluster
    return cluster.pin(targets, AliasTargets(generation, documents_index(generation)))


def fit_request(targets: AliasTargets) -> bool:
    """Whether a request can name these indices."""
    return max(map(len, targets)) <= LONGEST_NAMES


def name_indices(loads: Iterable[Load]) -> AliasTargets:
    """The indices of these loads, as requests name them."""
    return _join_names(load.index for load in loads)


def name_in_request(cluster: Cluster, indices: Iterable[str]) -> str:
    """How one request names these indices of sentences, all those of a generation or a few."""
    return pin_targets(cluster, _join_names(indices)).alias


def _join_names(indices: Iterable[str]) -> AliasTargets:
    names = sorted(indices)
    return AliasTargets(",".join(names), ",".join(map(documents_index, names)))


def aliases_of(loads: Sequence[Load]) -> Aliases:
    """The aliases of names of a generation. Loads appended after they were stored lack them."""
    aliases = next((load.aliases for load in loads if load.aliases), {})
    short_forms = next((load.short_forms for load in loads if load.short_forms), {})
    return Aliases(aliases, short_forms)


def with_aliases(cluster: Cluster, load: Load) -> Load:
    """A new load with the aliases of names of the loads behind the alias, and the list of the newest one."""
    loads = aliased_loads(cluster)
    aliases = aliases_of(loads)
    withdrawn = loads[-1].withdrawn if loads else NONE_WITHDRAWN
    return replace(load, aliases=aliases.as_dict(), short_forms=aliases.short_forms, withdrawn=withdrawn)


def read(cluster: Cluster, index: str) -> list[Load]:
    """The load with this index of sentences, if it exists."""
    return [_parse(name, meta) for name, meta in _read(cluster, index) if meta]


def write(cluster: Cluster, load: Load) -> None:
    """Write the `_meta` of the existing indices of a load in one step."""
    _write(cluster, load, load.index, load.documents_index)


def write_sentences(cluster: Cluster, load: Load) -> None:
    """Write the `_meta` of the index of sentences alone, from which it is read."""
    _write(cluster, load, load.index)


def _write(cluster: Cluster, load: Load, *indices: str) -> None:
    with cluster.translate_errors():
        stored = load.as_meta(cluster.dialect)
        cluster.client.indices.put_mapping(index=indices, meta=stored, ignore_unavailable=True)


def _read(cluster: Cluster, pattern: str) -> list[tuple[str, Mapping[str, Any] | None]]:
    with cluster.translate_errors():
        try:
            # A wildcard matches closed indices too: otherwise they would count as deleted.
            expand = ["open", "closed"]
            answer = ask(
                cluster, lambda: cluster.client.indices.get_mapping(index=pattern, expand_wildcards=expand)
            )
        except NotFoundError as error:
            if not is_from_elasticsearch(error):
                raise  # the answer is not from Elasticsearch
            return []
    return [(index, body["mappings"].get("_meta", {}).get("esr")) for index, body in sorted(answer.items())]


def _parse(index: str, meta: Mapping[str, Any]) -> Load:
    if meta.get("index", index) != index:
        return replace(
            _parse(index, {**meta, "index": index}),  # a copy still has the `_meta` of its original
            is_complete=False,
            owner=_COPY_OWNER,
            members=(index,),
            is_head=False,
        )
    return Load(
        index,
        Description.from_dict(meta),
        meta["complete"],
        meta["owner"],
        meta.get("recipes", {}),
        tuple(meta.get("members", (index,))),
        meta.get("heads", True),
        meta.get("manifest", {}),
        meta.get("lifts", {}),
        meta["format"],
        meta.get("rejected", False),
        meta.get("aliases", {}),
        meta.get("short_forms", {}),
        meta.get("heartbeat", 0.0),
        withdrawn=Withdrawn.from_dict(json.loads(meta.get("withdrawn", "{}"))),
        period=meta.get("period", ""),
    )
