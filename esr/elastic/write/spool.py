"""The spool, an index folder that a load's documents go through first, and the check of its disk space.

The spool rejects bad ids before anything is sent, and provides p(t|C) of the load, which the stored priors
need. If its folder is a tmpfs, it counts towards a container's memory limit, beyond which the system kills
the process without a message. So the load checks the room and fails with an error before.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np
from msgspec.structs import replace

from esr.elastic.cluster import Cluster
from esr.elastic.documents import sentence_field
from esr.elastic.impacts import IMPACTS_FIELD, described_base
from esr.elastic.meta import Load
from esr.elastic.statistics import AliasStatistics, read_next_ordinals
from esr.elastic.write.actions import (
    ActionBuilder,
    DocumentActions,
    PostingsByDocument,
    SegmentImpacts,
    SegmentTerms,
)
from esr.errors import EsrError
from esr.features.furniture import NAME as FURNITURE
from esr.folder.format import manifest
from esr.folder.format.segment import NO_DATE
from esr.folder.format.snapshot import Snapshot
from esr.folder.write.folder_writer import FolderWriter
from esr.index.language import groups_of
from esr.index.writer import Description
from esr.stdlib import batched
from esr.text.analyzer import get_analyzer
from esr.text.document import Located
from esr.text.periods import period_of

_BATCH = 1000


@dataclass(frozen=True, slots=True)
class ExistingCollection:
    """The collection behind the alias: occurrences, by term and in total, and the first unused ordinals.

    In an index by language, there is a total for each language.
    """

    occurrences: Counter[str] = field(default_factory=Counter)
    total_occurrences: int | Mapping[str, int] = 0
    next_ordinal: int = 0
    next_document_ordinal: int = 0


def write_spool(folder: Path, description: Description, documents: Iterable[Located]) -> Snapshot:
    """Write documents to a new spool. Raises InputError for a duplicate id."""
    FolderWriter(folder, describe_spool(description)).load(documents)
    return open_spool(folder)


def describe_spool(description: Description) -> Description:
    """The description of a spool, which is never divided: its documents keep the order of the delivery."""
    return replace(description, by=None)


def spool_periods(spool: Snapshot, by: str | None) -> list[str]:
    """The periods of the documents of a spool, in order; none for an index that is not divided."""
    if by is None:
        return []
    moments = {moment for segment in spool.segments for moment in segment.column("date").tolist()}
    return sorted({period_of(None if moment == NO_DATE else moment, by) for moment in moments})


def open_spool(folder: Path) -> Snapshot:
    return Snapshot(folder, manifest.read_manifest(folder))


def read_existing_collection(
    cluster: Cluster, spool: Snapshot, removed: Snapshot | None = None
) -> ExistingCollection:
    """The state of the alias without the documents of `removed`, with the occurrences of the
    spool's terms."""
    description = spool.manifest.description
    statistics = AliasStatistics(cluster, field=sentence_field(description))
    groups: Sequence[str | None] = [None]
    if description.is_by_language:
        groups = [*groups_of(statistics.languages())]
    totals = {group: statistics.lookup((), group).collection.occurrences for group in groups}
    counts: dict[str, int] = {}
    for segment in spool.segments:
        terms = (segment.terms[number] for number in range(len(segment.terms)))
        for batch in batched(terms, _BATCH):
            of_terms = statistics.lookup(batch).terms
            counts |= {term: of_term.cf for term, of_term in of_terms.items() if of_term.cf}
    occurrences = Counter(counts)
    if removed is not None:
        for group in groups:
            lost = removed.statistics
            totals[group] -= (lost.collection if group is None else lost.collection_in(group)).occurrences
        occurrences -= Counter({term: removed.statistics.find(term).statistics.cf for term in occurrences})
    by_language = {group: total for group, total in totals.items() if group is not None}
    total = by_language if description.is_by_language else totals[None]
    return ExistingCollection(occurrences, total, *read_next_ordinals(cluster))


def spool_actions(
    spool: Snapshot,
    load: Load,
    existing: ExistingCollection,
    is_selected: Callable[[str], bool] = lambda document_id: True,
) -> Iterator[DocumentActions]:
    """The actions for the selected documents of a spool, with impacts if the load describes some.

    A divided load's documents go to the indices of their periods. Importance priors use p(t|C) of the whole
    spool and the existing collection. Ordinals count all documents, selected or not.
    """
    ordinal, document_ordinal = existing.next_ordinal, existing.next_document_ordinal
    builder = ActionBuilder(get_analyzer(load.description.analyzer), load.index_of)
    base = described_base(load.impacts) if load.impacts else None
    for owner, segment in enumerate(spool.segments):
        postings = PostingsByDocument(segment)
        terms, impacts = SegmentTerms(spool, owner, postings), None
        if base is not None:
            assert isinstance(existing.total_occurrences, int)  # an index by language has no impacts
            outside = existing.occurrences, existing.total_occurrences
            impacts = SegmentImpacts(spool, owner, postings, base, *outside)
        priors = spool.statistics.importance_of(owner, existing.occurrences, existing.total_occurrences)
        first, numbers = segment.column("first"), np.arange(segment.sentence_count)
        for number in range(segment.document_count):
            sentences = slice(int(first[number]), int(first[number + 1]))
            if is_selected(segment.document_ids[number]):
                actions = builder.build(
                    segment.document(number),
                    terms.read_document(number),
                    ordinal + sentences.start,
                    document_ordinal,
                    {name: column[sentences] for name, column in priors.items()},
                )
                known = segment.enrichment.feature(FURNITURE, numbers[sentences])
                for place in np.flatnonzero(known == known).tolist():
                    entry = actions.sentences[place]
                    entry["features"] = {FURNITURE: float(known[place]), **entry.get("features", {})}
                if impacts is not None:
                    for entry, of_sentence in zip(
                        actions.sentences, impacts.read_document(number), strict=True
                    ):
                        entry[IMPACTS_FIELD] = of_sentence
                yield actions
            document_ordinal += 1
        ordinal += segment.sentence_count


def greatest_loss(removed: Snapshot, added: Snapshot) -> int:
    """The most occurrences that any term loses if the documents of `added` replace those of `removed`."""
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


SHARE = 0.5
"""A lower bound of the spool's size, as a share of the bytes of JSON Lines and text. News takes 1.7."""
RESERVE = 64 << 20
"""The approximate maximum size of a spool's segment. With less room left, the load fails with an error."""
_EVERY = 500  # documents
MOUNTS = Path("/proc/self/mounts")
"""The file in which Linux lists the mounted file systems."""
CGROUPS = Path("/sys/fs/cgroup")
"""The folder in which Linux shows the memory limits of groups of processes."""


class Room(NamedTuple):
    """The bytes that can be written, and whether they are memory."""

    free: int
    is_memory: bool


def find_room(folder: Path) -> Room:
    status = os.statvfs(folder)
    free = status.f_bavail * status.f_frsize
    if not _is_tmpfs(folder):
        return Room(free, False)
    left = _memory_left()
    return Room(free if left is None else min(free, left), True)


def check_room(folder: Path, source_bytes: int) -> None:
    """Raise EsrError if text of this size does not fit."""
    room, needed = find_room(folder), int(source_bytes * SHARE)
    if room.free < needed:
        raise _no_room(folder, room, f"this load needs at least {_megabytes(needed)}")


def watch_room(folder: Path, documents: Iterable[Located]) -> Iterator[Located]:
    """Yield the documents, and check the room in memory periodically. Raises EsrError if it runs out."""
    for number, located in enumerate(documents):
        if number % _EVERY == 0 and (room := find_room(folder)).is_memory and room.free < RESERVE:
            raise _no_room(folder, room, f"after {number:,} documents this load needs more")
        yield located


def _no_room(folder: Path, room: Room, need: str) -> EsrError:
    kind = "is in memory and has" if room.is_memory else "has"
    return EsrError(
        f"the folder for temporary files, {folder}, {kind} {_megabytes(room.free)} left, and {need}: "
        "nothing was loaded. Set TMPDIR to a folder on a disk with more room"
    )


def _megabytes(number: int) -> str:
    return f"{number / 1e6:,.0f} MB"


def _is_tmpfs(folder: Path) -> bool:
    """Whether the innermost mount that contains the folder is a tmpfs."""
    try:
        mounts = [line.split()[1:3] for line in MOUNTS.read_text("utf-8", "replace").splitlines()]
    except OSError:
        return False
    path = str(folder.resolve())
    holding = [(mount, kind) for mount, kind in mounts if mount == "/" or f"{path}/".startswith(f"{mount}/")]
    return max(holding, key=lambda pair: len(pair[0]), default=("", ""))[1] == "tmpfs"


def _memory_left() -> int | None:
    """The bytes below the memory limit of this container, not counting caches; None without a limit."""
    for limit, statistics, used in (
        (CGROUPS / "memory.max", CGROUPS / "memory.stat", ("anon", "shmem")),
        (
            CGROUPS / "memory/memory.limit_in_bytes",
            CGROUPS / "memory/memory.stat",
            ("total_rss", "total_shmem"),
        ),
    ):
        try:
            numbers = dict(line.split() for line in statistics.read_text().splitlines())
            most = limit.read_text().strip()
        except (OSError, ValueError):
            continue
        return None if most == "max" else int(most) - sum(int(numbers.get(name, 0)) for name in used)
    return None
