"""The spool: an index folder that the documents of a load go through before Elasticsearch gets them.

It rejects bad ids before anything is sent, and gives p(t|C) of the load, which the stored priors need.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from esr import analysis
from esr.batches import batched
from esr.documents import Located
from esr.engines.elasticsearch.cluster.cluster import Cluster
from esr.engines.elasticsearch.load.bulk_actions import ActionBuilder, DocumentActions
from esr.engines.elasticsearch.load.document_terms import PostingsByDocument, SegmentTerms
from esr.engines.elasticsearch.load.lifts import SegmentLifts
from esr.engines.elasticsearch.store.collection_statistics import read_next_ordinals
from esr.engines.elasticsearch.store.lift_description import described_base
from esr.engines.elasticsearch.store.lifts import LIFTS_FIELD
from esr.engines.elasticsearch.store.meta import Load
from esr.engines.elasticsearch.store.statistics import AliasStatistics
from esr.engines.index import Description
from esr.engines.segments.reader.snapshot import Snapshot
from esr.engines.segments.store import manifest
from esr.engines.segments.writer.folder_writer import FolderWriter

_BATCH = 1000


@dataclass(frozen=True, slots=True)
class ExistingCollection:
    """What the alias has already: occurrences, by term and in total, and the first unused `ordinal`s."""

    occurrences: Counter[str] = field(default_factory=Counter)
    total_occurrences: int = 0
    next_ordinal: int = 0
    next_document_ordinal: int = 0


def write_spool(folder: Path, description: Description, documents: Iterable[Located]) -> Snapshot:
    """Write documents to a new spool. Raises InputError for a duplicate id."""
    FolderWriter(folder, description).load(documents)
    return open_spool(folder)


def open_spool(folder: Path) -> Snapshot:
    return Snapshot(folder, manifest.read(folder))


def read_existing_collection(
    cluster: Cluster, spool: Snapshot, removed: Snapshot | None = None
) -> ExistingCollection:
    """What is behind the alias, without the documents of `removed`. Occurrences are of the spool's terms."""
    statistics = AliasStatistics(cluster)
    total = statistics.lookup(()).collection.occurrences
    occurrences: Counter[str] = Counter()
    for segment in spool.segments:
        terms = (segment.terms[number] for number in range(len(segment.terms)))
        for batch in batched(terms, _BATCH):
            of_terms = statistics.lookup(batch).terms
            occurrences |= Counter({term: of_term.cf for term, of_term in of_terms.items()})
    if removed is not None:
        total -= removed.statistics.collection.occurrences
        occurrences -= Counter({term: removed.statistics.find(term).statistics.cf for term in occurrences})
    return ExistingCollection(occurrences, total, *read_next_ordinals(cluster))


def spool_actions(
    spool: Snapshot,
    load: Load,
    existing: ExistingCollection,
    is_selected: Callable[[str], bool] = lambda document_id: True,
) -> Iterator[DocumentActions]:
    """The actions for the selected documents of a spool, with lifts if the load says that it has some.

    Importance priors use p(t|C) of all of the spool and what exists. `ordinal`s count all documents, selected
    or not.
    """
    ordinal, document_ordinal = existing.next_ordinal, existing.next_document_ordinal
    builder = ActionBuilder(analysis.get(load.description.analyzer), load.index, load.documents_index)
    base = described_base(load.lifts) if load.lifts else None
    for owner, segment in enumerate(spool.segments):
        postings = PostingsByDocument(segment)
        terms, lifts = SegmentTerms(spool, owner, postings), None
        if base is not None:
            elsewhere = existing.occurrences, existing.total_occurrences
            lifts = SegmentLifts(spool, owner, postings, base, *elsewhere)
        priors = spool.statistics.importance_of(owner, existing.occurrences, existing.total_occurrences)
        first = segment.column("first")
        for number in range(segment.document_count):
            sentences = slice(int(first[number]), int(first[number + 1]))
            if is_selected(segment.document_ids[number]):
                actions = builder.build(
                    segment.document(number),
                    terms.of_document(number),
                    ordinal + sentences.start,
                    document_ordinal,
                    {name: column[sentences] for name, column in priors.items()},
                )
                if lifts is not None:
                    for entry, of_sentence in zip(actions.sentences, lifts.of_document(number), strict=True):
                        entry[LIFTS_FIELD] = of_sentence
                yield actions
            document_ordinal += 1
        ordinal += segment.sentence_count


def greatest_loss(removed: Snapshot, added: Snapshot) -> int:
    """The most occurrences that any term loses if the documents of one spool replace those of another."""
    losses: Counter[str] = Counter()
    for sign, spool in ((1, removed), (-1, added)):
        for segment in spool.segments:
            counts = segment.column("occurrences").tolist()
            for number, count in enumerate(counts):
                losses[segment.terms[number]] += sign * count
    return max((0, *losses.values()))


def spool_document_ids(spool: Snapshot) -> Iterator[str]:
    for segment in spool.segments:
        yield from (segment.document_ids[number] for number in range(segment.document_count))


def spool_sentence_ids(spool: Snapshot) -> Iterator[str]:
    for segment in spool.segments:
        yield from (segment.sentence_id(number) for number in range(segment.sentence_count))
