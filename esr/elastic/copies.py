"""The groups of copies as sentences store them.

Each sentence of a group has its id, which is that of the first sentence, and all but the first are marked as
repeated. So plain queries and aggregations can use both.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from itertools import groupby
from typing import Any

from esr.elastic.cluster import Cluster
from esr.elastic.meta import Load, searchable_loads
from esr.elastic.requests import hits_of, read_entries, search_pages
from esr.index.copies import Appearance, CopyGroup, make_group
from esr.stdlib import batched
from esr.text.dates import parse_date_start
from esr.text.sentence_enrichment import REUSE

GROUP, IS_REPEATED = "group", "repeated"
GROUP_FIELD = f"{REUSE}.{GROUP}"
"""The id of the first sentence of the group."""
REPEATED_FIELD = f"{REUSE}.{IS_REPEATED}"
_PAGE, _GROUPS = 5_000, 1_000
_BY_DATE = [{"date": {"order": "asc", "missing": "_last"}}, {"ordinal": "asc"}]


def has_copies(loads: Iterable[Load]) -> bool:
    """Whether copies were looked for in any of these loads."""
    return any(REUSE in recipe["parts"] for load in loads for recipe in load.recipes.values())


def encode_member(first: str, sentence_id: str) -> dict[str, Any]:
    """The field of a sentence in the group that begins with the sentence `first`."""
    return {GROUP: first, **({} if sentence_id == first else {IS_REPEATED: True})}


def read_groups(cluster: Cluster, sources: Sequence[Mapping[str, Any]]) -> list[CopyGroup | None]:
    """The group of each sentence, given as a `_source` with the field REUSE."""
    of_sentences = [source.get(REUSE, {}).get(GROUP) for source in sources]
    groups = {}
    for some in batched(dict.fromkeys(filter(None, of_sentences)), _GROUPS):
        members = sorted(_read_members(cluster, some), key=lambda member: member[0])
        for group, of_group in groupby(members, key=lambda member: member[0]):
            groups[group] = make_group([appearance for _, appearance in of_group])
    return [group and groups.get(group) for group in of_sentences]


def _read_members(cluster: Cluster, groups: Sequence[str]) -> Iterable[tuple[str, Appearance]]:
    """Yield the sentences of these groups with their groups, by date, then in collection order."""
    body = {"query": {"terms": {GROUP_FIELD: list(groups)}}, "sort": _BY_DATE}
    source = [GROUP_FIELD, "document_id", "position", "date", "source"]
    for page in search_pages(cluster, _PAGE, index=cluster.alias, source=source, **body):
        for hit in hits_of(page):
            fields = hit["_source"]
            yield (
                fields[REUSE][GROUP],
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
    body: dict[str, Any] = {"query": repeated, "sort": [{"ordinal": "asc"}]}
    takers = []
    for page in search_pages(cluster, _PAGE, index=cluster.alias, source=[GROUP_FIELD, *_ORIGIN], **body):
        takers += [hit["_source"] for hit in hits_of(page)]
    ids = list(dict.fromkeys(taker[REUSE][GROUP] for taker in takers))
    first = {hit["_id"]: hit["_source"] for hit in read_entries(cluster, cluster.alias, ids, _ORIGIN)}
    reuses = set()
    for taker in takers:
        group = taker[REUSE][GROUP]
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
