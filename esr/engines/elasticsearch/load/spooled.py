"""From a spool (an embedded index of what comes) to the entries of documents and sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from esr import analysis
from esr.batches import batched
from esr.engines.elasticsearch.cluster.cluster import Cluster
from esr.engines.elasticsearch.load.actions import Bodies
from esr.engines.elasticsearch.load.sending import Outgoing
from esr.engines.elasticsearch.store.impacts import Impacts, mixture
from esr.engines.elasticsearch.store.meta import Load
from esr.engines.elasticsearch.store.statistics import AliasStatistics
from esr.engines.segments.reader.snapshot import Snapshot

_BATCH = 1000


@dataclass(frozen=True, slots=True)
class There:
    """What is there already: occurrences by term and in all, and the first free places."""

    occurrences: Counter[str] = field(default_factory=Counter)
    total: int = 0
    order: int = 0
    document_order: int = 0


def there(cluster: Cluster, spool: Snapshot, leaving: Snapshot | None = None) -> There:
    """What is behind the alias, without `leaving`. Occurrences are those of the spool's terms."""
    known = AliasStatistics(cluster)
    total = known.get(()).collection.occurrences
    occurrences: Counter[str] = Counter()
    for segment in spool.segments:
        terms = (segment.terms[number] for number in range(len(segment.terms)))
        for some in batched(terms, _BATCH):
            occurrences |= Counter({term: found.cf for term, found in known.get(some).terms.items()})
    if leaving is not None:
        total -= leaving.statistics.collection.occurrences
        occurrences -= Counter({term: leaving.statistics.find(term).statistics.cf for term in occurrences})
    return There(occurrences, total, *known.ends())


def outgoing(
    spool: Snapshot,
    load: Load,
    before: There,
    wanted: Callable[[str], bool] = lambda id: True,
) -> Iterator[Outgoing]:
    """The entries of a spool's documents, with importance priors by p(t|C) of all of it and what is there.

    `wanted` is asked by the id of a document. Places in the collection are those among all. With impacts, if
    the load says that it has some.
    """
    order, document_order = before.order, before.document_order
    bodies = Bodies(
        analysis.get(load.description.analyzer), load.description, load.index, load.documents_index
    )
    mixed = mixture(load.impacts) if load.impacts else None
    for owner, segment in enumerate(spool.segments):
        impacts = None if mixed is None else Impacts(spool, owner, mixed)
        priors = spool.statistics.importance_of(owner, before.occurrences, before.total)
        first = segment.column("first")
        for number in range(len(segment.documents)):
            cut = slice(int(first[number]), int(first[number + 1]))
            stored = {name: column[cut] for name, column in priors.items()}
            if wanted(segment.documents[number]):
                document = segment.document(number)
                entry, *sentences = bodies.of(document, order + cut.start, document_order, stored)
                if impacts is not None:
                    entry["impacts"] = impacts.of(number)
                yield Outgoing(document, entry, sentences)
            document_order += 1
        order += segment.sentence_count
