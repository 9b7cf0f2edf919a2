"""Loads one slice of a delivery, beside loaders on other machines that load the other slices.

Every loader reads the whole delivery. So each knows `ordinal`s and p(t|C) exactly, and what the indices must
contain in the end, and they need not communicate: how far the others are is read from the indices. The first
slice creates the indices, and the others wait for them. The slice that finds everything there when it has
sent its own part verifies all of it and switches. A slice that was killed is started again.
"""

from __future__ import annotations

import time
from contextlib import suppress
from typing import Any

from esr.engines.elasticsearch.cluster.index_names import new_sentences_index
from esr.engines.elasticsearch.cluster.requests import count, refresh
from esr.engines.elasticsearch.load.input_digest import InputDigest
from esr.engines.elasticsearch.load.spool import spool_document_ids
from esr.engines.elasticsearch.load.unfinished_loads import (
    LoadTarget,
    create_indices,
    delete_broken_loads,
    find_unfinished_loads,
    has_both_indices,
)
from esr.engines.elasticsearch.load.verification import enable_refresh, read_contents, verify
from esr.engines.elasticsearch.load.writer import ElasticsearchWriter
from esr.engines.elasticsearch.store import meta, templates
from esr.engines.elasticsearch.store.generations import delete_old_generations, serve
from esr.engines.elasticsearch.store.meta import Load
from esr.engines.segments.reader.snapshot import Snapshot
from esr.engines.writer import LoadReport
from esr.errors import EsrError
from esr.hashing import hash64

WAIT = 600.0
"""Seconds that a slice waits for the first one to create the indices."""
_POLL_SECONDS = 1.0


class SliceWriter(ElasticsearchWriter):
    """A load of one slice. Indices stay where they are, whatever happens."""

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
                f"{rejected} documents were rejected, nothing was switched: "
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
        """Whether exactly this delivery is served, and nothing has changed since."""
        served = meta.aliased_loads(self._cluster)
        if len(served) != 1:
            return False
        (load,) = served
        if not target.is_of(load):
            return False
        return read_contents(self._cluster, load.index) == digest.contents

    def _find_begun(self, target: LoadTarget) -> Load | None:
        """The load that slices of this delivery write to, if one has begun it."""
        return next(iter(find_unfinished_loads(self._cluster, target)), None)

    def _begin(self, target: LoadTarget) -> Load:
        """Create the indices, or find those that an earlier first slice created."""
        templates.install(self._cluster)
        delete_broken_loads(self._cluster)
        load = self._find_begun(target)
        if load is not None and has_both_indices(self._cluster, load):
            return load
        # No process owns it: the load must not look broken when the process of the first slice has ended.
        _, slices = self._slice
        newest = meta.newest_generation(self._cluster)
        index = load.index if load else new_sentences_index(self._cluster.alias, newest)
        new_load = target.new_load(index, f"{slices} slices", (index,))
        new_load = meta.with_aliases(self._cluster, new_load)
        create_indices(self._cluster, new_load, self._options, existing=index if load else None)
        return new_load

    def _wait_for_first(self, target: LoadTarget) -> Load:
        end = time.monotonic() + WAIT
        while True:
            load = self._find_begun(target)
            if load is not None and has_both_indices(self._cluster, load):
                return load
            if time.monotonic() > end:
                _, slices = self._slice
                raise EsrError(
                    f"slice 1/{slices} of these documents has not begun within {WAIT:g} s: start it with "
                    "the same documents and options, then start this slice again"
                )
            time.sleep(_POLL_SECONDS)

    def _finish(self, load: Load, digest: InputDigest, report: LoadReport) -> None:
        """Verify and switch, if all slices are loaded."""
        cluster, expected = self._cluster, digest.contents.documents
        refresh(cluster, load.documents_index)
        loaded = count(cluster, load.documents_index)
        if loaded < expected:
            report.notes.append(
                f"{loaded:,} of {expected:,} documents of all slices are loaded: the last slice will switch"
            )
            return
        before = meta.aliased_loads(cluster)
        report.notes += self._merge(load)
        enable_refresh(cluster, load.index)
        verify(cluster, load.index, digest.contents)
        try:
            if load.index not in {served.index for served in meta.aliased_loads(cluster)}:
                serve(cluster, load)
        except EsrError:  # another slice was the last one too, and has switched
            if [served.index for served in meta.aliased_loads(cluster)] != [load.index]:
                raise
        with suppress(EsrError):
            self._mark_complete(load)
        report.notes.append("all slices are loaded: they are served now")
        report.notes += delete_old_generations(
            cluster, self._options.keep, before[-1] if before else None, load
        )
