"""Loads into Elasticsearch: through a spool into new indices, which the aliases move to in one step.

A replacing load keeps the previous generation; an appending load adds its indices to those behind the
aliases. An interrupted load can be resumed: its indices are found by their expected contents. One load can
also be divided into slices, each loaded by a separate process (`SliceWriter`).
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from typing import Any, NamedTuple

from elastic_transport import ConnectionTimeout
from elasticsearch import BadRequestError
from msgspec import structs

from esr import wording
from esr.elastic import meta
from esr.elastic.cluster import Cluster
from esr.elastic.connection import LOAD_TIMEOUT
from esr.elastic.impacts import choose_base, describe_impacts, has_bounds
from esr.elastic.location import (
    documents_index,
    index_of_period,
    new_sentences_index,
    period_of_index,
    undivided_index,
)
from esr.elastic.meta import Load
from esr.elastic.requests import count, refresh
from esr.elastic.write.actions import DocumentActions, send_documents
from esr.elastic.write.generations import (
    delete_generations,
    delete_indices,
    delete_old_generations,
    load_states,
    serve,
)
from esr.elastic.write.load_owner import Heartbeat, this_process, wait_for_end
from esr.elastic.write.shards import DiskFull, wait_for_primaries
from esr.elastic.write.spool import (
    ExistingCollection,
    check_room,
    describe_spool,
    open_spool,
    read_existing_collection,
    spool_actions,
    spool_document_ids,
    spool_periods,
    watch_room,
)
from esr.elastic.write.templates import index_body, install_templates
from esr.elastic.write.verification import (
    LOAD_SETTINGS,
    IndexContents,
    InputDigest,
    end_load_settings,
    known_content_notes,
    read_contents,
    skip_indexed,
    skip_unchanged,
    verify,
)
from esr.elastic.write.write_blocks import lift_left_blocks
from esr.errors import EngineUnreachable, EsrError, IndexMissing, IndexUnusable
from esr.folder.format.snapshot import Snapshot
from esr.folder.write.folder_writer import FolderWriter
from esr.index.generations import BROKEN
from esr.index.writer import DEFAULT_PROFILE, Description, LoadOptions, LoadReport, require_documents
from esr.processes import scratch_folder
from esr.stdlib import hash64
from esr.text.document import Located

LARGEST_SEGMENT = 5 * 2**30
"""Maximum size of a segment in bytes, as for Elasticsearch: larger ones drop deleted entries late."""
SMALLEST_PART = 200_000
"""Number of entries for which searching in a separate thread saves more time than another segment costs."""
POLL_SECONDS = 2.0
"""Seconds between two looks at merges that run."""


def merge_segments(cluster: Cluster, index: str) -> list[str]:
    """Merge an index of sentences and its index of documents into the largest useful segments.

    A search visits each segment of a shard separately. Elasticsearch divides the search of a large shard
    among threads, but never a segment, so a large shard keeps a segment per processor. Returns notes for the
    user: searches of unmerged segments are slower, but correct.
    """
    try:
        for name in (index, documents_index(index)):
            _merge(cluster, name)
    except EsrError as error:
        server = cluster.dialect.name
        return [f"searches may be slower until {server} has merged the segments: {error}"]
    return []


def _merge(cluster: Cluster, index: str) -> None:
    with cluster.translate_errors():
        segments = segments_per_shard(cluster, index)
        try:
            cluster.client.indices.forcemerge(index=index, max_num_segments=segments)
        except ConnectionTimeout:  # a large merge continues after its request times out
            while is_merging(cluster, index):
                time.sleep(POLL_SECONDS)


def segments_per_shard(cluster: Cluster, index: str) -> int:
    indices = cluster.client.indices
    stats = indices.stats(index=index, metric=["store", "docs"])
    copies, primaries = max(int(stats["_shards"]["successful"]), 1), stats["_all"]["primaries"]
    settings = indices.get_settings(index=index, name="index.number_of_shards")[index]
    shards = int(settings["settings"]["index"]["number_of_shards"])
    processors = read_data_processors(cluster)
    shards_of_node = math.ceil(copies / len(processors))
    entries, size = int(primaries["docs"]["count"]), int(primaries["store"]["size_in_bytes"])
    parts = min(min(processors) // shards_of_node, entries // shards // SMALLEST_PART)
    return max(1, parts, math.ceil(size / shards / LARGEST_SEGMENT))


def read_data_processors(cluster: Cluster) -> list[int]:
    """The processors available to each node with data."""
    nodes = cluster.client.nodes.info(metric="os")["nodes"].values()
    return [
        node["os"]["allocated_processors"]
        for node in nodes
        if any(role.startswith("data") for role in node["roles"])
    ]


def is_merging(cluster: Cluster, index: str) -> bool:
    stats = cluster.client.indices.stats(index=index, metric=["merge"])
    return bool(stats["_all"]["total"]["merges"]["current"])


_OPEN_SECONDS = 30.0
"""Seconds to wait for the shards of a new index."""
FEW_SENTENCES = 10_000
"""Number of sentences up to which a load does not change settings: changing them twice takes longer."""


class LoadTarget(NamedTuple):
    """The intended result of a load. Only a load with the same target can be resumed.

    `manifest` identifies the documents. `impacts` describes their impacts, empty for none. `periods` are
    those of the documents, if the index is divided.
    """

    description: Description
    manifest: Mapping[str, Any]
    impacts: Mapping[str, Any]
    periods: Sequence[str] = ()

    def new_load(self, index: str, owner: str, members: Iterable[str] = (), heartbeat: float = 0.0) -> Load:
        """The load that fills `index`, or an index for each period, and adds these to `members`."""
        by_name = {index_of_period(index, period): period for period in self.periods}
        parts = sorted(by_name) or [index]
        return Load(
            parts[-1],
            self.description,
            is_complete=False,
            owner=owner,
            members=(*members, *parts),
            manifest=self.manifest,
            impacts=self.impacts,
            heartbeat=heartbeat,
            period=by_name.get(parts[-1], ""),
        )

    def is_of(self, load: Load) -> bool:
        return load.is_head and (load.description, load.manifest, load.impacts) == self[:3]


def split_load(load: Load) -> list[Load]:
    """The descriptions of the parts of a load, that of its head first."""
    by = load.description.by
    if by is None or not load.period:
        return [load]
    others = (index for index in load.parts if index != load.index)
    return [
        load,
        *(replace(load, index=index, is_head=False, period=period_of_index(index, by)) for index in others),
    ]


PROFILE_SETTINGS: Mapping[str, Mapping[str, str]] = {
    "balanced": {},
    "lean": {"sort.field": "ordinal"},
    "fast": {"codec": "default"},
}
"""The settings of the indices of each profile, in addition to those of the templates."""


def read_profile(cluster: Cluster, index: str) -> str:
    """The profile whose settings an index has. Raises the errors of the client."""
    stored = cluster.client.indices.get_settings(index=index, flat_settings=True)[index]["settings"]
    for profile, settings in PROFILE_SETTINGS.items():
        has = (stored.get(f"index.{name}") in (value, [value]) for name, value in settings.items())
        if settings and all(has):
            return profile
    return DEFAULT_PROFILE


def create_indices(cluster: Cluster, load: Load, options: LoadOptions, existing: str | None = None) -> None:
    """Create the indices of a load, except `existing`. If one is rejected, none remains.

    The head is the first: as long as it exists, the others belong to its load. Raises DiskFull if no disk has
    room for them.
    """
    try:
        for part in split_load(load):
            create_pair(cluster, part, options, existing)
    except (BadRequestError, EsrError):
        if load.period:
            with suppress(EsrError):
                delete_indices(cluster, load.parts)
        raise


def create_pair(cluster: Cluster, load: Load, options: LoadOptions, existing: str | None = None) -> None:
    """Create the index of sentences and the index of documents of one part of a load."""
    stored = load.as_meta(cluster.dialect)
    body = index_body(load.description, options.shards or 1, options.replicas, stored)
    body["settings"] |= PROFILE_SETTINGS[options.profile or DEFAULT_PROFILE]
    if not has_few_sentences(load):
        body["settings"] |= LOAD_SETTINGS
    with cluster.translate_errors():
        for index in (load.index, load.documents_index):
            if index == existing:
                continue
            try:
                _create_index(cluster, index, body)
            except BadRequestError:
                if existing is None and index != load.index:
                    delete_indices(cluster, [load.index])
                raise
    try:
        for index in (load.index, load.documents_index):
            wait_for_primaries(
                cluster, index, _OPEN_SECONDS
            )  # after that, writing waits or reports the error
    except DiskFull:
        delete_indices(cluster, [load.index])
        raise


def has_few_sentences(load: Load) -> bool:
    """Whether the indices of a new load refresh as usual while it fills them."""
    return 0 < int(load.manifest.get("sentences", 0)) <= FEW_SENTENCES


def _create_index(cluster: Cluster, index: str, body: Mapping[str, Any]) -> None:
    indices = cluster.client.indices
    try:
        indices.create(index=index, wait_for_active_shards=0, **body)
    except BadRequestError:
        # If the answer was lost, the repeated request finds an existing index.
        if not indices.exists(index=index):
            raise
        mapping = indices.get_mapping(index=index)[index]["mappings"]
        if mapping.get("_meta") != body["mappings"]["_meta"]:
            raise


def has_all_indices(cluster: Cluster, load: Load) -> bool:
    """Whether all indices of a load exist. A loader may be killed before it creates the last."""
    with cluster.translate_errors():
        exists = cluster.client.indices.exists
        return all(
            exists(index=index) and exists(index=documents_index(index)) for index in reversed(load.parts)
        )


def find_unfinished_loads(cluster: Cluster, target: LoadTarget) -> list[Load]:
    """The unfinished loads of this target, newest first."""
    served = {load.index for load in meta.aliased_loads(cluster)}
    return [
        load
        for load in reversed(meta.all_loads(cluster))
        if target.is_of(load) and not load.is_complete and load.index not in served
    ]


def delete_broken_loads(cluster: Cluster, keep: Load | None = None) -> None:
    """Delete the indices of loads that were killed before the switch, except `keep`.

    Also lifts the write blocks that killed deliveries left on others.
    """
    lift_left_blocks(cluster)
    broken = [
        load
        for load, state in load_states(cluster)
        if state == BROKEN and not load.is_complete and (keep is None or load.index != keep.index)
    ]
    if broken:
        delete_generations(cluster, broken, spared=() if keep is None else keep.members)


_NAMED_REJECTIONS = 3


class ElasticsearchWriter:
    """A load into Elasticsearch, which becomes visible only when all of it is stored and verified."""

    _how_to_resume = "load again with --resume"

    def __init__(self, where: str, description: Description, options: LoadOptions, *, append: bool) -> None:
        self._cluster = Cluster(where, LOAD_TIMEOUT)
        self._description = description
        self._options = options
        self._append = append

    def load(self, documents: Iterable[Located]) -> LoadReport:
        """Load all documents, or change nothing visible. Raises EsrError that lists rejected documents."""
        started = time.perf_counter()
        digest = InputDigest()
        try:
            if self._append:  # indices served together must have the same format
                meta.check_format(self._cluster, meta.aliased_loads(self._cluster))
            with scratch_folder("load") as folder:
                check_room(folder, self._options.source_bytes)
                documents = watch_room(folder, documents)
                spool = folder / "spool"
                set_aside = digest.discount(self._options.set_aside)
                spool_writer = FolderWriter(spool, describe_spool(self._description), set_aside=set_aside)
                skipped = LoadReport()
                if self._append:
                    documents = skip_unchanged(self._cluster, documents, skipped, self._options.set_aside)
                report = spool_writer.load(digest.count(documents))
                report.unchanged = skipped.unchanged
                report.documents += skipped.unchanged
                report.set_aside += skipped.set_aside
                require_documents(report)
                if report.documents > report.unchanged or not self._append:
                    self._write_generation(open_spool(spool), digest, report)
        finally:
            self._cluster.close()
        report.seconds = time.perf_counter() - started
        return report

    def _write_generation(self, spool: Snapshot, digest: InputDigest, report: LoadReport) -> None:
        cluster = self._cluster
        install_templates(cluster)
        before = meta.aliased_loads(cluster)
        if self._append:
            report.notes += known_content_notes(cluster, self._description, spool.segments)
        members = [load.index for load in before] if self._append else []
        target = self._target(digest, spool)
        load = self._find_resumable(members, target) if self._options.resume else None
        is_resumed = load is not None
        delete_broken_loads(cluster, keep=load)
        load = load or self.create_load(members, target)
        try:
            with Heartbeat(cluster, load):
                load = self.fill(spool, load, is_resumed, report)
            self.switch(load)
        except EngineUnreachable as error:
            # The aliases may or may not have moved. If not, this load can be resumed.
            raise EngineUnreachable(f"{error}; what was sent is kept: {self._how_to_resume}") from error
        except Exception:
            with suppress(EsrError):
                self._discard(load)
            raise
        with suppress(EsrError):  # served indices are never deleted, even unmarked
            self._mark_complete(load)
        report.notes += delete_old_generations(
            cluster, self._options.keep, before[-1] if before else None, load
        )

    def fill(self, spool: Snapshot, load: Load, is_resumed: bool, report: LoadReport) -> Load:
        """Send all documents, and verify them. Returns the load to serve."""
        expected = self._transfer(spool, load, is_resumed, report)
        report.notes += self._merge(load)
        if is_resumed or not has_few_sentences(load):
            end_load_settings(self._cluster, *load.parts)
        verify(self._cluster, load.parts, expected)
        return load

    def _discard(self, load: Load) -> None:
        """Delete the indices, unless they are served or another process has taken over the load."""
        is_served = load.index in {served.index for served in meta.aliased_loads(self._cluster)}
        is_own = any(stored.owner == load.owner for stored in meta.read(self._cluster, load.index))
        if is_own and not is_served:
            delete_indices(self._cluster, load.parts)

    def _target(self, digest: InputDigest, spool: Snapshot) -> LoadTarget:
        periods = spool_periods(spool, self._description.by)
        return LoadTarget(self._description, self._manifest(digest), self._impacts(spool), periods)

    def _manifest(self, digest: InputDigest) -> dict[str, Any]:
        """The manifest, which distinguishes this load from others."""
        return digest.as_dict()

    def _impacts(self, spool: Snapshot) -> dict[str, Any]:
        """The description of the impacts. They need the whole collection, so an appending load has none."""
        mixture = self._options.precomputed_mixture
        is_lean = self._options.profile == "lean"
        if mixture is None or is_lean or self._append or self._description.is_by_language:
            return {}
        if not has_bounds(mixture, spool.statistics.collection):
            return {}
        return describe_impacts(choose_base(mixture), spool.statistics.collection)

    def create_load(self, members: list[str], target: LoadTarget) -> Load:
        """Create the indices of a new load, which belongs to a generation with these members."""
        index = new_sentences_index(self._cluster.alias, meta.newest_generation(self._cluster))
        load = target.new_load(index, this_process(), members, time.time())
        load = meta.with_aliases(self._cluster, load)
        options = self._options
        if self._append and options.profile is None:
            with self._cluster.translate_errors():
                options = structs.replace(options, profile=read_profile(self._cluster, members[-1]))
        create_indices(self._cluster, load, options)
        return load

    def _find_resumable(self, members: list[str], target: LoadTarget) -> Load | None:
        """The interrupted load of the same documents, now owned by this process, or None."""
        for load in find_unfinished_loads(self._cluster, target):
            is_same_generation = load.members == (*members, *load.parts)
            if not is_same_generation or not has_all_indices(self._cluster, load):
                continue
            if load.owner == this_process() or wait_for_end(self._cluster, load):
                owned = replace(load, owner=this_process(), heartbeat=time.time())
                meta.write(self._cluster, owned)
                return owned
        return None

    def _transfer(self, spool: Snapshot, load: Load, is_resumed: bool, report: LoadReport) -> IndexContents:
        """Send the documents that are not stored yet. Returns the expected contents of the indices."""
        expected = IndexContents()
        rejections: list[str] = []
        existing = read_existing_collection(self._cluster, spool) if self._append else ExistingCollection()
        documents = self._with_enrichment(spool_actions(spool, load, existing, self._is_selected))
        if is_resumed:
            documents = skip_indexed(self._cluster, load.parts, documents, expected)
        for chunk in send_documents(self._cluster, documents, self._options.workers):
            for actions in chunk.indexed:
                expected.add(actions.document.id, actions.entry["checksum"], len(actions.sentences))
            for actions, reason in chunk.rejected:
                rejections.append(reason)
                report.documents -= 1
                report.sentences -= len(actions.sentences)
                if self._options.set_aside:
                    self._options.set_aside(actions.document, reason)
            self._options.on_progress(len(chunk.indexed), report.documents)
        if rejections and (not self._options.set_aside or not expected.documents):
            named = "; ".join(rejections[:_NAMED_REJECTIONS])
            were = wording.count(len(rejections), "document", "were")
            raise EsrError(f"{were} rejected, nothing was switched: {named}")
        report.set_aside += len(rejections)
        return expected

    def _with_enrichment(self, documents: Iterator[DocumentActions]) -> Iterator[DocumentActions]:
        """Add stored enrichment that does not come with the documents."""
        return documents

    def _is_selected(self, document_id: str) -> bool:
        """Whether this loader sends a document."""
        return True

    def _merge(self, load: Load) -> list[str]:
        """Merge the segments if the options say so. Returns notes for the user."""
        if not self._options.merge:
            return []
        return [note for index in load.parts for note in merge_segments(self._cluster, index)]

    def switch(self, load: Load) -> None:
        """Point the aliases to the load's generation in one step.

        Unless it replaces what is served, a load requires the generation, or none, that was served when it
        began.
        """
        replaces = self._options.if_exists == "replace"
        before = load.members[: len(load.members) - len(load.parts)]
        serve(self._cluster, load, instead_of=None if replaces else before)

    def _mark_complete(self, load: Load) -> None:
        """Mark the load as complete in its indices. Only a served load is marked."""
        for part in split_load(load):
            meta.write(self._cluster, replace(part, is_complete=True))


WAIT = 600.0
"""Seconds that a slice waits for the first slice to create the indices."""
SLICE_POLL_SECONDS = 1.0
"""Seconds between two looks for the first slice of a load."""


class SliceWriter(ElasticsearchWriter):
    """A load of one slice. It keeps its indices even if it fails.

    Every loader reads all documents and computes the same ordinals, p(t|C) and expected contents. So loaders
    need not communicate, and read the progress of the others from the indices. The first slice creates the
    indices, and the others wait for them. The slice that finds all documents stored after sending its own
    verifies them and switches. A killed slice can be restarted.
    """

    def _write_generation(self, spool: Snapshot, digest: InputDigest, report: LoadReport) -> None:
        number, _ = self._slice
        target = self._target(digest, spool)
        if self._is_served(target, digest):
            report.notes.append("all slices are loaded and served already: there was nothing to do")
            return
        load = self._begin(target) if number == 1 else self._wait_for_first(target)
        report.documents = sum(map(self._is_selected, spool_document_ids(spool)))
        rejected_before = report.set_aside
        sent = self._transfer(spool, load, True, report)
        report.documents, report.sentences = sent.documents, sent.sentences
        rejected = report.set_aside - rejected_before
        if rejected:
            raise EsrError(
                f"{wording.count(rejected, 'document', 'were')} rejected, nothing was switched: "
                "leave them out of the delivery, and load all slices again"
            )
        self._finish(load, digest, report)

    @property
    def _slice(self) -> tuple[int, int]:
        assert self._options.slice is not None
        return self._options.slice

    def _manifest(self, digest: InputDigest) -> dict[str, Any]:
        _, slices = self._slice
        return {**digest.as_dict(), "slices": slices}

    def _is_selected(self, document_id: str) -> bool:
        number, slices = self._slice
        return hash64(document_id) % slices == number - 1

    def _is_served(self, target: LoadTarget, digest: InputDigest) -> bool:
        """Whether exactly these documents are served, unchanged."""
        served = meta.aliased_loads(self._cluster)
        if not served or not target.is_of(served[-1]):
            return False
        parts = served[-1].parts
        if {*parts} != {load.index for load in served}:
            return False
        return read_contents(self._cluster, *parts) == digest.contents

    def _find_begun(self, target: LoadTarget) -> Load | None:
        """The load that slices of these documents write to, or None if none has begun."""
        return next(iter(find_unfinished_loads(self._cluster, target)), None)

    def _begin(self, target: LoadTarget) -> Load:
        """Create the indices, or find those that an earlier first slice created."""
        install_templates(self._cluster)
        delete_broken_loads(self._cluster)
        load = self._find_begun(target)
        if load is not None and has_all_indices(self._cluster, load):
            return load
        # No process owns the load: it must not look broken when the process of the first slice has ended.
        _, slices = self._slice
        newest = meta.newest_generation(self._cluster)
        index = load.index if load else new_sentences_index(self._cluster.alias, newest)
        new_load = target.new_load(undivided_index(index) if target.periods else index, f"{slices} slices")
        new_load = meta.with_aliases(self._cluster, new_load)
        create_indices(self._cluster, new_load, self._options, existing=index if load else None)
        return new_load

    def _wait_for_first(self, target: LoadTarget) -> Load:
        end = time.monotonic() + WAIT
        while True:
            load = self._find_begun(target)
            if load is not None and has_all_indices(self._cluster, load):
                return load
            if time.monotonic() > end:
                _, slices = self._slice
                raise EsrError(
                    f"slice 1/{slices} of these documents has not begun within {WAIT:g} s: start it with "
                    "the same documents and options, then start this slice again"
                )
            time.sleep(SLICE_POLL_SECONDS)

    def _finish(self, load: Load, digest: InputDigest, report: LoadReport) -> None:
        """Verify and switch, if all slices are loaded."""
        cluster, expected = self._cluster, digest.contents.documents
        loaded = 0
        for index in map(documents_index, load.parts):
            refresh(cluster, index)
            loaded += count(cluster, index)
        if loaded < expected:
            report.notes.append(
                f"{loaded:,} of {expected:,} documents of all slices are loaded: the last slice will switch"
            )
            return
        before = meta.aliased_loads(cluster)
        report.notes += self._merge(load)
        end_load_settings(cluster, *load.parts)
        verify(cluster, load.parts, digest.contents)
        try:
            if load.index not in {served.index for served in meta.aliased_loads(cluster)}:
                serve(cluster, load)
        except EsrError:  # another slice also found itself last, and has switched
            if {served.index for served in meta.aliased_loads(cluster)} != {*load.members}:
                raise
        with suppress(EsrError):
            self._mark_complete(load)
        report.notes.append("all slices are loaded: they are served now")
        report.notes += delete_old_generations(
            cluster, self._options.keep, before[-1] if before else None, load
        )


def describe_existing(where: str, if_exists: str) -> Description | None:
    """The description of the index behind the alias, None if there is none.

    Raises IndexUnusable if the name is not an alias of esr, or if the index is incomplete and will not be
    replaced.
    """
    with closing(Cluster(where)) as cluster:
        cluster.check_version()
        loads = meta.aliased_loads(cluster)
        for name in (cluster.alias, cluster.documents_alias):
            with cluster.translate_errors():
                exists = cluster.client.indices.exists(index=name)
                is_alias = cluster.client.indices.exists_alias(name=name)
            if exists and not is_alias:
                raise IndexUnusable(
                    f"{cluster.url}/{name} is an index, but esr needs its name for an alias: "
                    "use another alias, or delete that index"
                )
        if if_exists != "replace":
            try:
                meta.check_complete(cluster)
            except IndexMissing:
                return None
        return loads[0].description if loads else None


def create_writer(
    where: str, description: Description, options: LoadOptions, append: bool
) -> ElasticsearchWriter:
    writer = ElasticsearchWriter if options.slice is None else SliceWriter
    return writer(where, description, options, append=append)
