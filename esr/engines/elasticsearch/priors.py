"""The stored importance priors: how far p(t|C) has drifted from under them, and making them anew.

Both look at what is stored and at nothing else. So the drift is also right after deliveries, whose sentences
have priors of other times than those that stay, and after a refresh that was killed in the middle. And a
refresh is taken up by sending only what differs.
"""

from __future__ import annotations

import math
import random
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from esr import analysis
from esr.batches import batched
from esr.documents import Located
from esr.engines.elasticsearch.cluster.asking import refresh, search
from esr.engines.elasticsearch.cluster.cluster import LOAD_TIMEOUT, Cluster
from esr.engines.elasticsearch.load.bulk import Action, send
from esr.engines.elasticsearch.store import meta
from esr.engines.elasticsearch.store.meta import Load
from esr.engines.elasticsearch.store.places import documents
from esr.engines.elasticsearch.store.statistics import AliasStatistics
from esr.engines.priors import Drift, Refreshed, Step
from esr.engines.segments.reader.commit_statistics import IMPORTANCE
from esr.engines.segments.reader.snapshot import Snapshot
from esr.engines.segments.store import manifest
from esr.engines.segments.writer.folder_writer import FolderWriter
from esr.errors import EsrError, IndexMissing

SAMPLE = 200
"""Sentences of each load that are looked at for its drift."""
_BATCH = 1000
_EQUAL = 1e-9
"""Two ways of adding the same logarithms up differ by less."""
Priors = tuple[float, float]


class ElasticsearchPriors:
    """The priors in the sentences' entries behind an alias."""

    def __init__(self, where: str) -> None:
        """Raises IndexMissing, IndexUnusable or EngineUnreachable."""
        self._cluster = Cluster(where, LOAD_TIMEOUT)
        self._loads = meta.served(self._cluster)
        if not self._loads:
            raise IndexMissing(f"there is no index at {self._cluster.where}: make one with esr load")
        (description,) = {load.description for load in self._loads}
        self._description = description

    def close(self) -> None:
        self._cluster.close()

    def drift(self) -> list[Drift]:
        sampled = [self._sample(load) for load in self._loads]
        analyzer = analysis.get(self._description.analyzer)
        known = AliasStatistics(self._cluster)
        counted = [[Counter(analyzer.terms(source["text"])) for source in sources] for _, sources in sampled]
        terms = sorted({term for counts in counted for each in counts for term in each})
        statistics = known.get(terms)
        share = statistics.collection.share
        surprise = {term: math.log(share(found)) for term, found in statistics.terms.items()}
        return [
            _drift(load, total, sources, counts, surprise)
            for load, (total, sources), counts in zip(self._loads, sampled, counted, strict=True)
        ]

    def _sample(self, load: Load) -> tuple[int, list[Mapping[str, Any]]]:
        """How many sentences a load has, and some of them, drawn by their places: the same each time."""
        source = ["text", "context", "document_length", "importance"]
        ends = {end: {end: {"field": "order"}} for end in ("min", "max")}
        found = partial(search, self._cluster, index=load.index, size=SAMPLE, source=source)
        answer = found(track_total_hits=True, aggs=ends)
        total = answer["hits"]["total"]["value"]
        if total > SAMPLE:
            first, last = (int(answer["aggregations"][end]["value"]) for end in ("min", "max"))
            drawn = random.Random(0).sample(range(first, last + 1), min(SAMPLE, last + 1 - first))
            answer = found(query={"terms": {"order": drawn}})
        return total, [hit["_source"] for hit in answer["hits"]["hits"]]

    def refresh(self, step: Step) -> Refreshed:
        started = time.perf_counter()
        report = Refreshed()
        pinned = meta.by_name(self._cluster, self._loads)
        with tempfile.TemporaryDirectory(prefix="esr-priors-") as folder:
            held = (Located("index", document) for document in documents(pinned))
            FolderWriter(folder, self._description).load(held)
            right = Snapshot(Path(folder), manifest.read(Path(folder)))
            report.sentences = right.statistics.collection.sentences
            for some in batched(_priors(right), _BATCH):
                report.changed += self._stored(pinned, dict(some))
                step(len(some), report.sentences)
        refresh(self._cluster, pinned.alias)
        if report.changed:  # nobody needs to wait for what was replaced to be merged away
            with self._cluster.errors():
                self._cluster.client.indices.forcemerge(
                    index=pinned.alias, only_expunge_deletes=True, wait_for_completion=False
                )
        if {load.index for load in meta.served(self._cluster)} != {load.index for load in self._loads}:
            raise EsrError(f"{self._cluster.where} was changed meanwhile: run esr refresh-priors again")
        report.seconds = time.perf_counter() - started
        return report

    def _stored(self, pinned: Cluster, right: Mapping[str, Priors]) -> int:
        """Put the right priors into the entries that have others. Returns how many had."""
        actions: list[Action] = []
        answer = search(
            self._cluster,
            index=pinned.alias,
            query={"terms": {"sentence_id": list(right)}},
            size=len(right),
            stored_fields="_none_",
            docvalue_fields=[{"field": name} for name in ("sentence_id", *IMPORTANCE)],
        )
        for hit in answer["hits"]["hits"]:
            fields = hit["fields"]
            (name,) = fields["sentence_id"]
            wanted = dict(zip(IMPORTANCE, right[name], strict=True))
            if any(fields.get(column) != [value] for column, value in wanted.items()):
                update = {"_op_type": "update", "_index": hit["_index"], "_id": name}
                actions.append({**update, "doc": wanted, "retry_on_conflict": 3})
        for refusal in send(self._cluster, actions):
            raise EsrError(
                f"Elasticsearch refused the priors of {refusal.id}: {refusal.reason}; "
                "if an append is under way, wait for it and run esr refresh-priors again"
            )
        return len(actions)


def _priors(right: Snapshot) -> Iterator[tuple[str, Priors]]:
    """The id and the priors of every sentence."""
    for owner, segment in enumerate(right.segments):
        columns = right.statistics.importance_of(owner, {}, 0)
        for number in range(segment.sentence_count):
            own, around = (float(columns[name][number]) for name in IMPORTANCE)
            yield segment.sentence_id(number), (own, around)


def _drift(
    load: Load,
    total: int,
    sources: Iterable[Mapping[str, Any]],
    counted: Iterable[Counter[str]],
    surprise: Mapping[str, float],
) -> Drift:
    """The drift of a load, from some of its sentences with their counts, by log p(t|C) as it is now."""
    exact, stored, lengths = [], [], []
    for source, counts in zip(sources, counted, strict=True):
        if not counts:
            continue  # without a term there is no prior
        document = Counter(source["context"].split())
        length = source["document_length"]
        likely = sum(count * math.log(document[term] / length) for term, count in counts.items())
        exact.append(likely - sum(count * surprise[term] for term, count in counts.items()))
        stored.append(source["importance"])
        lengths.append(counts.total())
    if not exact:
        return Drift(load.index, total, 0, 0.0, 0.0, 0.0, 0.0)
    off = np.abs(np.array(stored) - np.array(exact))
    off[off < _EQUAL * np.maximum(np.abs(exact), 1)] = 0.0
    return Drift(
        load.index,
        total,
        len(exact),
        float(off.sum() / sum(lengths)),
        float(off.mean()),
        float(off.max()),
        float(np.std(exact)),
    )
