"""Brings an alias to this esr's index format: a generation is made of the documents that are stored.

The older generation is searched meanwhile, and nothing is written to it here. What esr enrich found comes
along. The alias moves only if it still leads where it led when the documents were read.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from esr.batches import batched
from esr.documents import Located
from esr.engines.elasticsearch.cluster.asking import refresh, search
from esr.engines.elasticsearch.cluster.cluster import Cluster
from esr.engines.elasticsearch.load.loading import ElasticsearchWriter
from esr.engines.elasticsearch.load.planned import Planned
from esr.engines.elasticsearch.load.sending import Outgoing
from esr.engines.elasticsearch.load.verifying import settle, verify
from esr.engines.elasticsearch.store import meta, templates
from esr.engines.elasticsearch.store.generations import pruned, serve
from esr.engines.elasticsearch.store.meta import Load
from esr.engines.elasticsearch.store.places import documents
from esr.engines.index import LoadReport
from esr.engines.options import LoadOptions
from esr.engines.segments.reader.snapshot import Snapshot
from esr.engines.segments.store import manifest
from esr.engines.segments.writer.folder_writer import FolderWriter
from esr.errors import EngineUnreachable, EsrError, IndexMissing, IndexUnusable

_FOUND = ("features", "entities", "parse", "enriched")
"""What enrichment writes into a sentence's entry."""
_BATCH = 100
_MARKS = 10_000


class ElasticsearchMigration(ElasticsearchWriter):
    """A load of what the alias leads to, into indices of this format."""

    def __init__(self, where: str, options: LoadOptions) -> None:
        """Raises IndexMissing, IndexUnusable or EngineUnreachable."""
        cluster = Cluster(where)
        try:
            cluster.check_version()
            self._before = meta.behind(cluster)
            if not self._before:
                raise IndexMissing(f"there is no index at {cluster.where}: make one with esr load")
            shards = _shards(cluster, self._before)
        finally:
            cluster.close()
        options = replace(options, shards=shards, resume=True)
        super().__init__(where, self._before[0].description, options, append=False)
        self._old = meta.by_name(self._cluster, self._before)

    def run(self) -> LoadReport:
        """Migrate all, or nothing that is seen. Raises EsrError where the index was changed meanwhile."""
        started = time.perf_counter()
        report = LoadReport()
        try:
            if all(load.format == templates.FORMAT for load in self._before):
                report.notes.append(
                    f"the index has format {templates.FORMAT}, this esr's: there is nothing to do"
                )
                return report
            with tempfile.TemporaryDirectory(prefix="esr-migrate-") as folder:
                planned = Planned()
                held = (Located("index", document) for document in documents(self._old))
                report = FolderWriter(folder, self._description).load(planned.counted(held))
                self._send(Path(folder), planned, report)
        finally:
            self._cluster.close()
        report.seconds = time.perf_counter() - started
        return report

    def _send(self, spool: Path, planned: Planned, report: LoadReport) -> None:
        cluster = self._cluster
        templates.install(cluster)
        snapshot = Snapshot(spool, manifest.read(spool))
        load = self._taken_up([], planned, snapshot)
        taken_up = load is not None
        self._remove_abandoned(load)
        load = load or self._create([], planned, snapshot)
        try:
            last = None
            while True:
                expected = self._transfer(snapshot, load, taken_up, report)
                settle(cluster, load.index)
                verify(cluster, load.index, expected)
                theirs = self._marks(self._old.documents_alias)
                if theirs == self._marks(load.documents_index) or self._has_moved():
                    break
                if theirs == last:
                    raise EsrError(
                        f"what esr enrich stored in {cluster.where} cannot be read: enrich it again"
                    )
                last = theirs
                taken_up = True  # esr enrich was at work meanwhile: what it wrote comes too
            recipes = {key: each for old in meta.behind(cluster) for key, each in old.recipes.items()}
            load = replace(load, recipes=recipes)
            self._switch(load)
        except EngineUnreachable as error:
            raise EngineUnreachable(f"{error}; what was sent is kept: run esr migrate again") from error
        except Exception:
            self._discard(load)
            raise
        with suppress(EsrError):
            self._mark_complete(load)
        report.notes += pruned(cluster, self._options.keep, self._before[-1], load)

    def _goal(self, planned: Planned) -> dict[str, Any]:
        return {**planned.as_dict(), "migrates": [load.index for load in self._before]}

    def _switch(self, load: Load) -> None:
        names = [old.index for old in self._before]
        meta.write(self._cluster, load)
        try:
            serve(self._cluster, load, instead_of=names)
        except EngineUnreachable:
            raise
        except EsrError as error:
            if not self._has_moved():
                raise
            raise EsrError(
                f"{self._cluster.where} was changed by a load or a delivery meanwhile, "
                "and stays as that made it: run esr migrate again"
            ) from error

    def _has_moved(self) -> bool:
        """Whether the alias leads elsewhere than when the documents were read."""
        found = {load.index for load in meta.behind(self._cluster)}
        return found != {load.index for load in self._before}

    def _completed(self, wanted: Iterator[Outgoing]) -> Iterator[Outgoing]:
        """With what enrichment found. Documents' marks are read first: they are written last."""
        if not any(load.recipes for load in meta.behind(self._cluster)):
            yield from wanted
            return
        for some in batched(wanted, _BATCH):
            marks = self._entries(
                self._old.documents_alias, [each.document.id for each in some], ("enriched",)
            )
            names = [action["_id"] for each in some for action in each.sentences]
            found = self._entries(self._old.alias, names, _FOUND)
            for each in some:
                each.entry.update(marks[each.document.id])
                for action in each.sentences:
                    action.update(found[action["_id"]])
                yield each

    def _entries(self, indices: str, names: Sequence[str], fields: Iterable[str]) -> dict[str, Any]:
        """These fields of these entries, by id."""
        known: dict[str, Any] = {}
        for some in batched(names, 1000):
            answer = search(
                self._cluster,
                index=indices,
                query={"ids": {"values": some}},
                size=len(some),
                source={"includes": list(fields)},
            )
            known |= {hit["_id"]: hit["_source"] for hit in answer["hits"]["hits"]}
        if len(known) != len(set(names)):
            raise IndexUnusable(
                f"{self._cluster.where} lacks entries of its own documents: load again, or go back"
            )
        return known

    def _marks(self, indices: str) -> dict[str, int]:
        """How many documents have each mark of enrichment."""
        by = {"marks": {"terms": {"field": "enriched", "size": _MARKS}}}
        refresh(self._cluster, indices)
        answer = search(self._cluster, index=indices, size=0, aggs=by)
        return {each["key"]: each["doc_count"] for each in answer["aggregations"]["marks"]["buckets"]}


def _shards(cluster: Cluster, loads: Iterable[Load]) -> int:
    """As many as the largest of the loads has."""
    names = [load.index for load in loads]
    with cluster.errors():
        found = cluster.client.indices.get_settings(index=names, name="index.number_of_shards")
    return max(int(each["settings"]["index"]["number_of_shards"]) for each in found.values())
