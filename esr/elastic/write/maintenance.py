"""The generations of an alias, its migration to the current index format, and its stored importance priors.

A migration loads the stored documents and their enrichment into a new generation. Meanwhile searches use the
old generation, to which nothing is written. The alias moves only if it still points to the indices that the
documents were read from.

The drift of priors from the current p(t|C), and their refresh, are computed from the stored priors. So the
drift is correct even after deliveries, whose priors were computed at different times, and after a killed
refresh. A repeated refresh sends only the priors that differ.
"""

from __future__ import annotations

import math
import random
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from msgspec import structs

from esr.elastic import meta
from esr.elastic.cluster import Cluster
from esr.elastic.connection import LOAD_TIMEOUT
from esr.elastic.copies import COPIES, SLOTS, serving_slots
from esr.elastic.documents import read_documents, sentence_field
from esr.elastic.location import DOCUMENTS, SENTENCES, documents_index
from esr.elastic.meta import Load
from esr.elastic.requests import hits_of, read_entries, refresh, search, total_of
from esr.elastic.statistics import AliasStatistics
from esr.elastic.tables import delete_table
from esr.elastic.vectors import map_vectors, source_with_vectors, stored_dimensions
from esr.elastic.vocabulary import FIELD
from esr.elastic.write.actions import DocumentActions
from esr.elastic.write.bulk import Action, send_bulk
from esr.elastic.write.enrichment import with_names
from esr.elastic.write.generations import (
    delete_generations,
    delete_indices,
    load_states,
    missing_indices,
    serve,
)
from esr.elastic.write.load_owner import LoadOwner, is_known_alive
from esr.elastic.write.shards import read_settings, read_shape
from esr.elastic.write.spool import describe_spool, open_spool, write_spool
from esr.elastic.write.verification import InputDigest, end_load_settings, verify
from esr.elastic.write.write_blocks import lift_left_blocks
from esr.elastic.write.writer import ElasticsearchWriter, has_few_sentences, read_profile, split_load
from esr.errors import EngineUnreachable, EsrError, IndexUnusable
from esr.folder.format.snapshot import IMPORTANCE, Snapshot
from esr.folder.write.folder_writer import FolderWriter
from esr.index.generations import (
    KEPT,
    LOADING,
    SERVING,
    Drift,
    Generation,
    OnProgress,
    RefreshReport,
    find_rollback_target,
    select_deletable,
)
from esr.index.writer import LoadOptions, LoadReport
from esr.processes import scratch_folder
from esr.stdlib import batched
from esr.text.analyzer import get_analyzer
from esr.text.analyzer_definitions import language_of_term
from esr.text.document import Located
from esr.text.sentence_enrichment import QUOTES, VECTORS

_ENRICHED_FIELDS = ("features", "entities", "parse", VECTORS, QUOTES, COPIES, "enriched")
"""The fields that enrichment writes to the entry of a sentence."""
_DOCUMENT_BATCH = 100
_MAX_FINGERPRINTS = 10_000


class ElasticsearchMigration(ElasticsearchWriter):
    """A load of the documents behind the alias into indices of this format and of this server's version."""

    _how_to_resume = "run esr migrate again"

    def __init__(self, where: str, options: LoadOptions) -> None:
        """Open a migration. Raises IndexMissing, IndexUnusable or EngineUnreachable."""
        with closing(Cluster(where)) as cluster:
            cluster.check_version()
            self._loads = meta.aliased_loads(cluster)
            if not self._loads:
                raise cluster.index_missing()
            meta.check_complete(cluster)
            settings = read_settings(cluster, self._loads)
            self._is_of_older_server = min(map(_major_version, settings)) < cluster.version()[0]
            shards, replicas = read_shape(settings)
            with cluster.translate_errors():
                profile = read_profile(cluster, self._loads[-1].index)
        options = structs.replace(options, shards=shards, replicas=replicas, profile=profile, resume=True)
        super().__init__(where, self._loads[0].description.renewed(), options, append=False)
        self._mapped_dimensions: set[int] = set()
        self._parts: Sequence[str] = ()
        self._source = meta.pin_indices(self._cluster, self._loads)
        self._slots = serving_slots(self._cluster, [load.index for load in self._loads])

    def run(self) -> LoadReport:
        """Migrate the whole index, or change nothing visible.

        Raises EsrError if the index was changed meanwhile.
        """
        started = time.perf_counter()
        report = LoadReport()
        try:
            is_current = all(
                load.format == meta.FORMAT and load.description.is_current for load in self._loads
            )
            if is_current and not self._is_of_older_server:
                report.notes.append(f"the index already has format {meta.FORMAT}: there is nothing to do")
                return report
            with scratch_folder("migrate") as folder:
                digest = InputDigest()
                stored = (Located("index", document) for document in read_documents(self._source))
                spool = FolderWriter(folder / "spool", describe_spool(self._description))
                report = spool.load(digest.count(stored))
                self._write_generation(open_spool(folder / "spool"), digest, report)
        finally:
            self._cluster.close()
        report.seconds = time.perf_counter() - started
        return report

    def fill(self, spool: Snapshot, load: Load, is_resumed: bool, report: LoadReport) -> Load:
        """Send and verify, until the enrichment that `esr enrich` writes meanwhile is included.

        Returns the load with its recipes.
        """
        last_fingerprints, self._parts = None, load.parts
        while True:
            expected = self._transfer(spool, load, is_resumed, report)
            if is_resumed or not has_few_sentences(load):
                end_load_settings(self._cluster, *load.parts)
            verify(self._cluster, load.parts, expected)
            fingerprints = self.count_fingerprints(self._source.documents_alias)
            copied: Counter[str] = Counter()
            for index in load.parts:
                copied.update(self.count_fingerprints(documents_index(index)))
            if fingerprints == dict(copied) or self._has_moved():
                break
            if fingerprints == last_fingerprints:
                raise EsrError(
                    f"what esr enrich stored in {self._cluster.where} cannot be read: enrich it again"
                )
            last_fingerprints = fingerprints
            is_resumed = True
        report.notes += self._merge(load)
        served = meta.aliased_loads(self._cluster)
        return replace(
            load, recipes={digest: recipe for old in served for digest, recipe in old.recipes.items()}
        )

    def _manifest(self, digest: InputDigest) -> dict[str, Any]:
        return {**digest.as_dict(), "migrates": [load.index for load in self._loads]}

    def switch(self, load: Load) -> None:
        """Serve the load instead of the migrated ones, if nobody has moved the alias."""
        for part in split_load(load):
            meta.write(self._cluster, part)
        try:
            serve(self._cluster, load, instead_of=[old.index for old in self._loads])
        except EngineUnreachable:
            raise
        except EsrError as error:
            if not self._has_moved():
                raise
            raise EsrError(
                f"{self._cluster.where} was changed by a load or a delivery during the migration, "
                "and was left as it is now: run esr migrate again"
            ) from error

    def _has_moved(self) -> bool:
        """Whether the alias no longer points to the indices that the documents were read from."""
        indices = {load.index for load in meta.aliased_loads(self._cluster)}
        return indices != {load.index for load in self._loads}

    def _with_enrichment(self, documents: Iterator[DocumentActions]) -> Iterator[DocumentActions]:
        """Add stored enrichment. Fingerprints of documents are read first, as they are written last."""
        if not any(load.recipes for load in meta.aliased_loads(self._cluster)):
            yield from documents
            return
        for batch in batched(documents, _DOCUMENT_BATCH):
            of_documents = self._read_fields(
                self._source.documents_alias, [actions.document.id for actions in batch], ("enriched",)
            )
            sentence_ids = [action["_id"] for actions in batch for action in actions.sentences]
            of_sentences = self._read_fields(self._source.alias, sentence_ids, _ENRICHED_FIELDS)
            self._map_vectors(of_sentences.values())
            for actions in batch:
                stored = [of_sentences[action["_id"]] for action in actions.sentences]
                of_document, sentences = with_names(of_documents[actions.document.id], stored)
                actions.entry.update(of_document)
                for action, fields in zip(actions.sentences, sentences, strict=True):
                    action.update(fields)
                yield actions

    def _map_vectors(self, stored: Iterable[Mapping[str, Any]]) -> None:
        """Map the fields of stored vectors in the new index. `esr enrich` may add more at any time."""
        dimensions = {stored_dimensions(fields[VECTORS]) for fields in stored if VECTORS in fields}
        for number in dimensions - self._mapped_dimensions:
            map_vectors(self._cluster, self._parts, number)
        self._mapped_dimensions |= dimensions

    def _in_first_slot(self, index: str, fields: dict[str, Any]) -> dict[str, Any]:
        """The fields with the served group of copies in the slot that a new index serves."""
        served = fields.pop(COPIES, {}).get(self._slots.get(index))
        return {**fields, COPIES: {SLOTS[0]: served}} if served else fields

    def _read_fields(self, indices: str, ids: Sequence[str], fields: Iterable[str]) -> dict[str, Any]:
        """These fields of these entries, by id."""
        hits = read_entries(self._cluster, indices, ids, source_with_vectors(self._cluster, fields))
        sources = {hit["_id"]: self._in_first_slot(hit["_index"], hit["_source"]) for hit in hits}
        if len(sources) != len(set(ids)):
            raise IndexUnusable(
                f"{self._cluster.where} lacks entries of its own documents: load again, or run esr rollback"
            )
        return sources

    def count_fingerprints(self, indices: str) -> dict[str, int]:
        """The number of documents with each fingerprint of a recipe, without names, which migrations add."""
        by_fingerprint = {"fingerprints": {"terms": {"field": "enriched", "size": _MAX_FINGERPRINTS}}}
        refresh(self._cluster, indices)
        answer = search(self._cluster, index=indices, size=0, aggs=by_fingerprint)
        buckets = answer["aggregations"]["fingerprints"]["buckets"]
        counts = {bucket["key"]: bucket["doc_count"] for bucket in buckets}
        return {mark: count for mark, count in counts.items() if not mark.startswith(f"{FIELD}:")}


_OF_OPENSEARCH = 1 << 27
"""The number that OpenSearch adds to its version ids."""


def _major_version(settings: Mapping[str, Any]) -> int:
    """The major version of the server that created an index. The next but one cannot open it."""
    return (int(settings["version"]["created"]) & ~_OF_OPENSEARCH) // 1_000_000


class ElasticsearchGenerations:
    """All generations of an alias, whether they are served or not."""

    def __init__(self, where: str) -> None:
        """Open the generations. Raises IndexMissing, IndexUnusable or EngineUnreachable."""
        self._cluster = Cluster(where, LOAD_TIMEOUT)
        with self._cluster.closed_on_error():
            self._cluster.check_version()
            meta.aliased_loads(self._cluster)
            if not meta.all_loads(self._cluster):
                raise self._cluster.index_missing()

    def close(self) -> None:
        self._cluster.close()

    def all(self) -> list[Generation]:
        loads, states = meta.all_loads(self._cluster), load_states(self._cluster)
        stats = self._read_stats()

        def total(indices: Sequence[str], metric: str, figure: str) -> int | None:
            if any(name not in stats for name in indices):
                return None
            return sum(int(stats[name][metric][figure]) for name in indices)

        generations = []
        for load, state in states:
            documents = [documents_index(index) for index in load.members]
            owner = LoadOwner.parse(load.owner)
            generations.append(
                Generation(
                    load.generation,
                    state,
                    total(documents, "docs", "count"),
                    total(load.members, "docs", "count"),
                    total((*load.members, *documents), "store", "size_in_bytes"),
                    owner.host if state == LOADING and not owner.is_near else "",
                    is_rejected=load.is_rejected and state == KEPT,
                    is_known_alive=state == LOADING and is_known_alive(load),
                    missing=missing_indices(load, loads) if load.is_complete else (),
                )
            )
        return sorted(generations, key=lambda generation: generation.name, reverse=True)

    def _read_stats(self) -> dict[str, Any]:
        """Counts and sizes of the indices all of whose primary shards are open.

        After a node's start, some are not open yet.
        """
        indices = [f"{self._cluster.alias}-*{kind}" for kind in (SENTENCES, DOCUMENTS)]
        client = self._cluster.client.indices
        with self._cluster.translate_errors():
            settings = client.get_settings(index=indices, name="index.number_of_shards", flat_settings=True)
            answer = client.stats(index=indices, metric=["store", "docs"], level="shards")
        shards = {name: int(body["settings"]["index.number_of_shards"]) for name, body in settings.items()}
        return {
            name: body["primaries"]
            for name, body in answer["indices"].items()  # some of which a load may have just created
            if sum(map(_is_open_primary, chain(*body["shards"].values()))) == shards.get(name)
        }

    def rollback(self, to: str | None = None) -> Generation:
        generation = find_rollback_target(self.all(), to, self._cluster.where)
        heads = [load for load, state in load_states(self._cluster) if state in (KEPT, SERVING)]
        (target,) = (load for load in heads if load.generation == generation.name)
        with self._cluster.translate_errors():  # IndexUnusable if one of its indices is closed
            for index in target.members:
                self._cluster.client.count(index=[index, documents_index(index)])
        # Before the switch: if this process is killed in between, no rollback goes back to a rejected
        # generation.
        for load in heads:
            is_rejected = load is not target and (load.is_rejected or load.generation > target.generation)
            if load.is_rejected != is_rejected:
                meta.write(self._cluster, replace(load, is_rejected=is_rejected))
        serve(self._cluster, replace(target, is_rejected=False))
        return generation

    def delete(self, names: Sequence[str]) -> None:
        doomed = {generation.name for generation in select_deletable(self.all(), names, self._cluster.where)}
        heads = [load for load, _ in load_states(self._cluster) if load.generation in doomed]
        delete_generations(self._cluster, heads)

    def delete_all(self) -> None:
        delete_indices(self._cluster, [load.index for load in meta.all_loads(self._cluster)])
        delete_table(self._cluster)


def _is_open_primary(shard: Mapping[str, Any]) -> bool:
    return bool(shard["routing"]["primary"] and shard["routing"]["state"] == "STARTED")


# Priors

SAMPLE_SIZE = 200
"""Number of sentences of each load that are sampled for its drift."""
_BATCH = 1000
_TOLERANCE = 1e-9
"""Upper bound of the relative difference between two sums of the same logarithms in different orders."""
Priors = tuple[float, float]


class Sample(NamedTuple):
    """A sample of a load's sentences, as sources and term counts, and the total number of sentences."""

    load: Load
    total: int
    sources: Sequence[Mapping[str, Any]]
    counts: Sequence[Counter[str]]


class ElasticsearchPriors:
    """The priors in the entries of the sentences behind an alias."""

    def __init__(self, where: str) -> None:
        """Open the priors. Raises IndexMissing, IndexUnusable or EngineUnreachable."""
        self._cluster = Cluster(where, LOAD_TIMEOUT)
        with self._cluster.closed_on_error():
            self._loads = meta.searchable_loads(self._cluster)
            (self._description,) = {load.description for load in self._loads}

    def close(self) -> None:
        self._cluster.close()

    def drift(self) -> list[Drift]:
        samples = [self._draw_sample(load) for load in self._loads]
        terms = sorted({term for sample in samples for counts in sample.counts for term in counts})
        reader = AliasStatistics(self._cluster, field=sentence_field(self._description))
        languages = {*map(self._language_of, terms)}
        collections = {language: reader.lookup((), language).collection for language in languages}
        log_background = {
            term: math.log(collections[self._language_of(term)].background(of_term))
            for term, of_term in reader.lookup(terms).terms.items()
        }
        return [_drift(sample, log_background) for sample in samples]

    def _language_of(self, term: str) -> str | None:
        """The language whose documents p(t|C) is estimated from, None for all documents."""
        return language_of_term(term) if self._description.is_by_language else None

    def _draw_sample(self, load: Load) -> Sample:
        """Sample sentences of a load by their `ordinal`: the same ones each time."""
        source = ["text", "context", "document_length", "importance", "language"]
        extremes = {extreme: {extreme: {"field": "ordinal"}} for extreme in ("min", "max")}
        read = partial(search, self._cluster, index=load.index, size=SAMPLE_SIZE, source=source)
        answer = read(track_total_hits=True, aggs=extremes)
        total = total_of(answer)
        if total > SAMPLE_SIZE:
            first, last = (int(answer["aggregations"][extreme]["value"]) for extreme in ("min", "max"))
            size = min(SAMPLE_SIZE, last + 1 - first)
            orders = random.Random(0).sample(range(first, last + 1), size)
            answer = read(query={"terms": {"ordinal": orders}})
        sources = [hit["_source"] for hit in hits_of(answer)]
        analyzer = get_analyzer(self._description.analyzer)
        counts = [
            Counter(analyzer.for_language(source.get("language")).terms(source["text"])) for source in sources
        ]
        return Sample(load, total, sources, counts)

    def refresh(self, on_progress: OnProgress) -> RefreshReport:
        started = time.perf_counter()
        report = RefreshReport()
        lift_left_blocks(self._cluster)
        pinned = meta.pin_indices(self._cluster, self._loads)
        with scratch_folder("priors") as folder:
            stored = (Located("index", document) for document in read_documents(pinned))
            spool = write_spool(folder / "spool", self._description, stored)
            report.sentences = spool.statistics.collection.sentences
            for batch in batched(_spool_priors(spool), _BATCH):
                report.changed += self.update(pinned, dict(batch))
                on_progress(len(batch), report.sentences)
        refresh(self._cluster, pinned.alias)
        if report.changed:  # replaced entries are merged away in the background
            with self._cluster.translate_errors():
                self._cluster.client.indices.forcemerge(
                    index=pinned.alias, only_expunge_deletes=True, wait_for_completion=False
                )
        served = {load.index for load in meta.aliased_loads(self._cluster)}
        if served != {load.index for load in self._loads}:
            raise EsrError(
                f"{self._cluster.where} was changed during the refresh: run esr refresh-priors again"
            )
        report.seconds = time.perf_counter() - started
        return report

    def update(self, pinned: Cluster, priors: Mapping[str, Priors]) -> int:
        """Store these priors in the entries whose priors differ. Returns the number of changed entries."""
        actions: list[Action] = []
        answer = search(
            self._cluster,
            index=pinned.alias,
            query={"terms": {"sentence_id": list(priors)}},
            size=len(priors),
            stored_fields="_none_",
            docvalue_fields=[{"field": name} for name in ("sentence_id", *IMPORTANCE)],
        )
        for hit in hits_of(answer):
            fields = hit["fields"]
            (sentence_id,) = fields["sentence_id"]
            columns = dict(zip(IMPORTANCE, priors[sentence_id], strict=True))
            if any(fields.get(column) != [value] for column, value in columns.items()):
                update = {"_op_type": "update", "_index": hit["_index"], "_id": sentence_id}
                actions.append({**update, "doc": columns, "retry_on_conflict": 3})
        for item in send_bulk(self._cluster, actions):
            raise EsrError(
                f"{self._cluster.dialect.name} rejected the priors of {item.id}: {item.reason}; "
                "if an append is running, wait for it and run esr refresh-priors again"
            )
        return len(actions)


def _spool_priors(spool: Snapshot) -> Iterator[tuple[str, Priors]]:
    """Yield the id and the priors of each sentence of a spool."""
    for owner, segment in enumerate(spool.segments):
        columns = spool.statistics.importance_of(owner, {}, 0)
        for number in range(segment.sentence_count):
            importance, with_surrounding = (float(columns[name][number]) for name in IMPORTANCE)
            yield segment.sentence_id(number), (importance, with_surrounding)


def _drift(sample: Sample, log_background: Mapping[str, float]) -> Drift:
    """The drift of a load's sample. `log_background` is the current log p(t|C)."""
    exact, stored, lengths = [], [], []
    for source, counts in zip(sample.sources, sample.counts, strict=True):
        if not counts:
            continue  # without a term there is no prior
        document = Counter(source["context"].split())
        length = source["document_length"]
        in_document = sum(count * math.log(document[term] / length) for term, count in counts.items())
        exact.append(in_document - sum(count * log_background[term] for term, count in counts.items()))
        stored.append(source["importance"])
        lengths.append(counts.total())
    if not exact:
        return Drift(sample.load.index, sample.total, 0, 0.0, 0.0, 0.0, 0.0)
    errors = np.abs(np.array(stored) - np.array(exact))
    errors[errors < _TOLERANCE * np.maximum(np.abs(exact), 1)] = 0.0
    return Drift(
        sample.load.index,
        sample.total,
        len(exact),
        float(errors.sum() / sum(lengths)),
        float(errors.mean()),
        float(errors.max()),
        float(np.std(exact)),
    )
