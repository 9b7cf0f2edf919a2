"""The groups of copies as sentences store them.

Each sentence of a group has its id, which is that of the first sentence, and all but the first are marked as
repeated. So plain queries and aggregations can use both.

Both are stored in one of two slots, `copies.a` and `copies.b`. Searches use the field aliases `copies.group`
and `copies.repeated`, which lead to one of the slots. A run fills the other one, and then one request moves
the field aliases of all indices: a search sees the groups of one run, and a killed run changes nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import closing
from itertools import groupby
from typing import Any

from esr.elastic.cluster import Cluster
from esr.elastic.meta import Load, name_in_request, searchable_loads
from esr.elastic.requests import hits_of, read_entries, refresh, search_pages
from esr.index.copies import Appearance, CopyGroup, make_group
from esr.stdlib import batched
from esr.text.dates import parse_date_start
from esr.text.sentence_enrichment import REUSE

COPIES = "copies"
GROUP, IS_REPEATED = "group", "repeated"
SLOTS = ("a", "b")
GROUP_FIELD = f"{COPIES}.{GROUP}"
"""The id of the first sentence of the group, in the slot that is served."""
REPEATED_FIELD = f"{COPIES}.{IS_REPEATED}"
_PAGE, _GROUPS = 5_000, 1_000
_BY_DATE = [{"date": {"order": "asc", "missing": "_last"}}, {"ordinal": "asc"}]


def has_copies(loads: Iterable[Load]) -> bool:
    """Whether copies were looked for in any of these loads."""
    return any(REUSE in recipe["parts"] for load in loads for recipe in load.recipes.values())


def other_slot(slot: str) -> str:
    """The slot that is not served while this one is."""
    return SLOTS[1 - SLOTS.index(slot)]


def slot_field(slot: str) -> str:
    """The field with the groups of a slot."""
    return f"{COPIES}.{slot}.{GROUP}"


def serving_slots(cluster: Cluster, indices: Collection[str]) -> dict[str, str]:
    """The slot that each index of sentences serves, but for those of an older esr without slots."""
    named = name_in_request(cluster, indices)
    with cluster.translate_errors():
        answer = cluster.client.indices.get_mapping(index=named)
    slots = {}
    for index, body in answer.items():
        fields = body["mappings"]["properties"].get(COPIES, {}).get("properties", {})
        path = fields.get(GROUP, {}).get("path")
        for slot in SLOTS:
            if slot_field(slot) == path:
                slots[index] = slot
    return slots


def serve_slot(cluster: Cluster, indices: Collection[str], slot: str) -> None:
    """Let searches of these indices of sentences see the groups of a slot, in one step."""
    aliases = {name: {"type": "alias", "path": f"{COPIES}.{slot}.{name}"} for name in (GROUP, IS_REPEATED)}
    named = name_in_request(cluster, indices)
    refresh(cluster, named)
    with cluster.translate_errors():
        cluster.client.indices.put_mapping(index=named, properties={COPIES: {"properties": aliases}})
        # OpenSearch keeps cached counts when a mapping changes.
        cluster.client.indices.clear_cache(index=named, request=True)


def encode_member(first: str, sentence_id: str) -> dict[str, Any]:
    """The field of a sentence in the group that begins with the sentence `first`."""
    return {GROUP: first, **({} if sentence_id == first else {IS_REPEATED: True})}


def read_groups(
    cluster: Cluster, ids: Sequence[str], of_sentences: Sequence[str | None]
) -> list[CopyGroup | None]:
    """The group of each sentence, given by its id and its value of GROUP_FIELD.

    None for a sentence that its group no longer has: another run has switched the slot meanwhile.
    """
    groups: dict[str, CopyGroup | None] = {}
    for some in batched(dict.fromkeys(filter(None, of_sentences)), _GROUPS):
        members = sorted(_read_members(cluster, some), key=lambda member: member[0])
        for group, of_group in groupby(members, key=lambda member: member[0]):
            groups[group] = make_group([appearance for _, appearance in of_group])
    stored = (groups.get(group) if group else None for group in of_sentences)
    return [group if group and _has(group, id) else None for id, group in zip(ids, stored, strict=True)]


def _has(group: CopyGroup, sentence_id: str) -> bool:
    return any(appearance.sentence_id == sentence_id for appearance in group.appearances)


def _read_members(cluster: Cluster, groups: Sequence[str]) -> Iterable[tuple[str, Appearance]]:
    """Yield the sentences of these groups with their groups, by date, then in collection order."""
    body: dict[str, Any] = {"query": {"terms": {GROUP_FIELD: list(groups)}}, "sort": _BY_DATE}
    body["docvalue_fields"] = [GROUP_FIELD]
    source = ["document_id", "position", "date", "source"]
    for page in search_pages(cluster, _PAGE, index=cluster.alias, source=source, **body):
        for hit in hits_of(page):
            fields = hit["_source"]
            yield (
                hit["fields"][GROUP_FIELD][0],
                Appearance(
                    hit["_id"],
                    fields["document_id"],
                    fields["position"],
                    fields.get("date"),
                    fields.get("source"),
                ),
            )


def count_taken(cluster: Cluster, query: Mapping[str, Any]) -> Mapping[tuple[str, str], int]:
    """The answer to `ByReuse` for the sentences that match a query."""
    repeated = {"bool": {"filter": [query, {"term": {REPEATED_FIELD: True}}]}}
    body: dict[str, Any] = {"query": repeated, "sort": [{"ordinal": "asc"}], "docvalue_fields": [GROUP_FIELD]}
    takers: list[tuple[str, Any]] = []
    for page in search_pages(cluster, _PAGE, index=cluster.alias, source=_ORIGIN, **body):
        takers += [(hit["fields"][GROUP_FIELD][0], hit["_source"]) for hit in hits_of(page)]
    ids = list(dict.fromkeys(group for group, _ in takers))
    first = {hit["_id"]: hit["_source"] for hit in read_entries(cluster, cluster.alias, ids, _ORIGIN)}
    reuses = set()
    for group, taker in takers:
        origin = first.get(group, {})
        sources = origin.get("source"), taker.get("source")
        if None not in sources and sources[0] != sources[1] and _is_later(taker, origin):
            reuses.add((group, *sources))
    return Counter((origin, taker) for _, origin, taker in reuses)


_ORIGIN = ["date", "source"]


def _is_later(first: Mapping[str, Any], second: Mapping[str, Any]) -> bool:
    dates = [fields["date"] for fields in (first, second) if fields.get("date") is not None]
    return len(dates) == 2 and parse_date_start(dates[0]) > parse_date_start(dates[1])


def is_compared(where: str) -> bool:
    """Whether copies were looked for in the index at this location."""
    with closing(Cluster(where)) as cluster:
        return has_copies(searchable_loads(cluster))
