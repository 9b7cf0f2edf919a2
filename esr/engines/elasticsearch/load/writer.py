"""Loads documents into Elasticsearch: into new indices, which the aliases move to in one step.

The documents go through a spool first. A replacing load keeps the generation before it; an appending one adds
its indices to those behind the aliases.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from esr.documents import Located
from esr.engines.elasticsearch.cluster.cluster import LOAD_TIMEOUT, Cluster
from esr.engines.elasticsearch.cluster.index_names import new_sentences_index
from esr.engines.elasticsearch.load.bulk_actions import DocumentActions
from esr.engines.elasticsearch.load.existing_documents import skip_indexed, skip_unchanged
from esr.engines.elasticsearch.load.input_digest import InputDigest
from esr.engines.elasticsearch.load.known_content import known_content_notes
from esr.engines.elasticsearch.load.merging import merge_segments
from esr.engines.elasticsearch.load.sender import send_documents
from esr.engines.elasticsearch.load.spool import (
    ExistingCollection,
    open_spool,
    read_existing_collection,
    spool_actions,
)
from esr.engines.elasticsearch.load.spool_room import check_room, watch_room
from esr.engines.elasticsearch.load.unfinished_loads import (
    LoadTarget,
    create_indices,
    delete_broken_loads,
    find_unfinished_loads,
    has_both_indices,
)
from esr.engines.elasticsearch.load.verification import IndexContents, enable_refresh, verify
from esr.engines.elasticsearch.store import load_owner, meta, templates
from esr.engines.elasticsearch.store.generations import delete_indices, delete_old_generations, serve
from esr.engines.elasticsearch.store.heartbeat import Heartbeat, wait_for_end
from esr.engines.elasticsearch.store.lift_description import describe_lifts, has_bounds
from esr.engines.elasticsearch.store.lifts import choose_base
from esr.engines.elasticsearch.store.meta import Load
from esr.engines.options import LoadOptions
from esr.engines.segments.reader.snapshot import Snapshot
from esr.engines.segments.writer.folder_writer import FolderWriter
from esr.engines.writer import Description, LoadReport, require_documents
from esr.errors import EngineUnreachable, EsrError

_NAMED_REJECTIONS = 3


class ElasticsearchWriter:
    """A load into Elasticsearch. Nothing of it is visible before all of it is there and verified."""

    _how_to_resume = "load again with --resume"

    def __init__(self, where: str, description: Description, options: LoadOptions, *, append: bool) -> None:
        self._cluster = Cluster(where, LOAD_TIMEOUT)
        self._description = description
        self._options = options
        self._append = append

    def load(self, documents: Iterable[Located]) -> LoadReport:
        """Load all, or nothing that is visible. Raises EsrError with what Elasticsearch rejected."""
        started = time.perf_counter()
        digest = InputDigest()
        try:
            if self._append:  # only indices of the same format can be served together
                meta.check_format(self._cluster, meta.aliased_loads(self._cluster))
            with tempfile.TemporaryDirectory(prefix="esr-load-") as folder:
                check_room(Path(folder), self._options.source_bytes)
                documents = watch_room(Path(folder), documents)
                spool = Path(folder) / "spool"
                set_aside = digest.discount(self._options.set_aside)
                spool_writer = FolderWriter(spool, self._description, set_aside=set_aside)
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
        templates.install(cluster)
        before = meta.aliased_loads(cluster)
        if self._append:
            report.notes += known_content_notes(cluster, self._description, spool.segments)
        members = [load.index for load in before] if self._append else []
        target = self._target(digest, spool)
        load = self._find_resumable(members, target) if self._options.resume else None
        is_resumed = load is not None
        delete_broken_loads(cluster, keep=load)
        load = load or self._create_load(members, target)
        try:
            with Heartbeat(cluster, load):
                load = self._fill(spool, load, is_resumed, report)
            self._switch(load)
        except EngineUnreachable as error:
            # Nobody knows whether the aliases have moved, if it came to that. If not, a load can resume this.
            raise EngineUnreachable(f"{error}; what was sent is kept: {self._how_to_resume}") from error
        except Exception:
            with suppress(EsrError):
                self._discard(load)
            raise
        with suppress(EsrError):  # what is served is not deleted, marked or not
            self._mark_complete(load)
        report.notes += delete_old_generations(
            cluster, self._options.keep, before[-1] if before else None, load
        )

    def _fill(self, spool: Snapshot, load: Load, is_resumed: bool, report: LoadReport) -> Load:
        """Send everything, and verify it. Returns the load as it is to be served."""
        expected = self._transfer(spool, load, is_resumed, report)
        report.notes += self._merge(load)
        enable_refresh(self._cluster, load.index)
        verify(self._cluster, load.index, expected)
        return load

    def _discard(self, load: Load) -> None:
        """Delete the indices, unless they are served, or another process has taken the load over."""
        is_served = load.index in {served.index for served in meta.aliased_loads(self._cluster)}
        is_own = any(stored.owner == load.owner for stored in meta.read(self._cluster, load.index))
        if is_own and not is_served:
            delete_indices(self._cluster, [load.index])

    def _target(self, digest: InputDigest, spool: Snapshot) -> LoadTarget:
        return LoadTarget(self._description, self._manifest(digest), self._lifts(spool))

    def _manifest(self, digest: InputDigest) -> dict[str, Any]:
        """Tells this load from others."""
        return digest.as_dict()

    def _lifts(self, spool: Snapshot) -> dict[str, Any]:
        """The description of the lifts. They need the whole collection: an appending load has none."""
        mixture = self._options.precomputed_mixture
        if mixture is None or self._append or not has_bounds(mixture, spool.statistics.collection):
            return {}
        return describe_lifts(choose_base(mixture), spool.statistics.collection)

    def _create_load(self, members: list[str], target: LoadTarget) -> Load:
        index = new_sentences_index(self._cluster.alias, meta.newest_generation(self._cluster))
        load = target.new_load(index, load_owner.this_process(), (*members, index), time.time())
        load = meta.with_aliases(self._cluster, load)
        create_indices(self._cluster, load, self._options)
        return load

    def _find_resumable(self, members: list[str], target: LoadTarget) -> Load | None:
        """The load of the same documents that was interrupted, if there is one, now owned by this process."""
        for load in find_unfinished_loads(self._cluster, target):
            is_same_generation = load.members == (*members, load.index)
            if not is_same_generation or not has_both_indices(self._cluster, load):
                continue
            if load.owner == load_owner.this_process() or wait_for_end(self._cluster, load):
                owned = replace(load, owner=load_owner.this_process(), heartbeat=time.time())
                meta.write(self._cluster, owned)
                return owned
        return None

    def _transfer(self, spool: Snapshot, load: Load, is_resumed: bool, report: LoadReport) -> IndexContents:
        """Send everything that is not there yet. Returns what the indices must contain afterwards."""
        expected = IndexContents()
        rejections: list[str] = []
        existing = read_existing_collection(self._cluster, spool) if self._append else ExistingCollection()
        documents = self._with_enrichment(spool_actions(spool, load, existing, self._is_selected))
        if is_resumed:
            documents = skip_indexed(self._cluster, load, documents, expected)
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
            raise EsrError(f"{len(rejections)} documents were rejected, nothing was switched: {named}")
        report.set_aside += len(rejections)
        return expected

    def _with_enrichment(self, documents: Iterator[DocumentActions]) -> Iterator[DocumentActions]:
        """Adds stored enrichment that does not come with the documents."""
        return documents

    def _is_selected(self, document_id: str) -> bool:
        """Whether this loader sends a document."""
        return True

    def _merge(self, load: Load) -> list[str]:
        """Merge the segments if the options say so. Returns notes for the user."""
        return merge_segments(self._cluster, load.index) if self._options.merge else []

    def _switch(self, load: Load) -> None:
        """Point the aliases to the load's generation in one step.

        An appending load is for the generation that was there when it began.
        """
        serve(self._cluster, load, instead_of=load.members[:-1] if self._append else None)

    def _mark_complete(self, load: Load) -> None:
        """Say in the indices that this load was not interrupted. Only a served load says so."""
        meta.write(self._cluster, replace(load, is_complete=True))
