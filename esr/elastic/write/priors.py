"""The stored importance priors of an alias: their drift from the current p(t|C), and their refresh.

Both are computed from the stored priors. So the drift is correct even after deliveries, whose priors were
computed at different times, and after a killed refresh. A repeated refresh sends only the priors that differ.
"""

from __future__ import annotations

import math
import random
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from esr.batches import batched
from esr.elastic import meta
from esr.elastic.cluster import LOAD_TIMEOUT, Cluster
from esr.elastic.documents import read_documents, sentence_field
from esr.elastic.meta import Load
from esr.elastic.requests import Action, hits_of, refresh, search, send_bulk, total_of
from esr.elastic.statistics import AliasStatistics
from esr.elastic.write.spool import write_spool
from esr.errors import EsrError
from esr.folder.format.snapshot import IMPORTANCE, Snapshot
from esr.index.generations import Drift, OnProgress, RefreshReport
from esr.processes import scratch_folder
from esr.text.analyzer import get_analyzer, language_of_term
from esr.text.document import Located

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
        pinned = meta.pin_indices(self._cluster, self._loads)
        with scratch_folder("priors") as folder:
            stored = (Located("index", document) for document in read_documents(pinned))
            spool = write_spool(folder / "spool", self._description, stored)
            report.sentences = spool.statistics.collection.sentences
            for batch in batched(_spool_priors(spool), _BATCH):
                report.changed += self._update(pinned, dict(batch))
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

    def _update(self, pinned: Cluster, priors: Mapping[str, Priors]) -> int:
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
