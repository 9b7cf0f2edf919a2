"""Loads one slice of a delivery, beside loaders on other machines that load the others.

Every loader reads the whole delivery. So each knows places and p(t|C) exactly, and what must be there in the
end, and they need to tell each other nothing: what is there is read from the indices themselves. The first
slice makes the indices, the others wait for them. Whichever finds, when its own slice is there, that
everything is there, verifies all of it and switches. A slice that was killed is given again.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from esr.engines.elasticsearch.cluster.asking import count, refresh
from esr.engines.elasticsearch.load.loading import ElasticsearchWriter
from esr.engines.elasticsearch.load.planned import Planned
from esr.engines.elasticsearch.load.verifying import contents, settle, verify
from esr.engines.elasticsearch.store import meta, templates
from esr.engines.elasticsearch.store.generations import pruned, serve
from esr.engines.index import LoadReport
from esr.engines.segments.reader.snapshot import Snapshot
from esr.engines.segments.store import manifest
from esr.errors import EsrError
from esr.hashing import hash64

WAIT = 600.0
"""Seconds that a slice waits for the first one to begin."""
_POLL = 1.0


class SlicedWriter(ElasticsearchWriter):
    """A load of one slice. What was begun is left where it is, whatever happens."""

    def _send(self, spool: Path, planned: Planned, report: LoadReport) -> None:
        assert self._options.slice is not None
        place, of = self._options.slice
        snapshot = Snapshot(spool, manifest.read(spool))
        goal = {**planned.as_dict(), "slices": of}
        if self._is_served(goal, planned):
            report.notes.append("all slices are there, and are served: there was nothing to do")
            return
        load = self._first(goal, snapshot) if place == 1 else self._waited_for(goal, snapshot)
        report.documents = sum(map(self._is_mine, _ids(snapshot)))
        refused = report.set_aside
        mine = self._transfer(snapshot, load, True, report)
        report.documents, report.sentences = mine.documents, mine.sentences
        if report.set_aside > refused:
            raise EsrError(
                f"{report.set_aside - refused} documents were refused, nothing was switched: "
                "leave them out of the delivery, and load all slices again"
            )
        self._finish(load, planned, report)

    def _is_mine(self, document_id: str) -> bool:
        assert self._options.slice is not None
        place, of = self._options.slice
        return hash64(document_id) % of == place - 1

    def _is_served(self, goal: Mapping[str, Any], planned: Planned) -> bool:
        """Whether this very delivery is what is served, and nothing was changed since."""
        found = meta.behind(self._cluster)
        if len(found) != 1 or found[0].manifest != goal or found[0].description != self._description:
            return False
        return contents(self._cluster, found[0].index) == planned.contents

    def _begun(self, goal: Mapping[str, Any], spool: Snapshot) -> meta.Load | None:
        """The generation that slices of this delivery are written to, if one has begun it."""
        served = {load.index for load in meta.behind(self._cluster)}
        for load in reversed(meta.every(self._cluster)):
            same = self._is_same(load, goal, spool)
            if same and not load.complete and load.index not in served:
                return load
        return None

    def _first(self, goal: Mapping[str, Any], spool: Snapshot) -> meta.Load:
        """Begin the generation, or take up what a first slice before this one has begun."""
        templates.install(self._cluster)
        self._remove_abandoned(None)
        load = self._begun(goal, spool)
        if load is not None and self._is_whole(load):
            return load
        # No process of one machine owns it: it must not pass for broken when the first slice has ended.
        name = load.index if load else meta.new_name(self._cluster)
        fresh = meta.Load(
            name,
            self._description,
            complete=False,
            owner=f"{goal['slices']} slices:0:0",
            members=(name,),
            manifest=goal,
            impacts=self._impacts(spool),
        )
        self._make(fresh, but=name if load else None)
        return fresh

    def _waited_for(self, goal: Mapping[str, Any], spool: Snapshot) -> meta.Load:
        end = time.monotonic() + WAIT
        while True:
            load = self._begun(goal, spool)
            if load is not None and self._is_whole(load):
                return load
            if time.monotonic() > end:
                raise EsrError(
                    f"slice 1/{goal['slices']} of these documents has not begun within {WAIT:g} s: start it, "
                    "with the same documents and options, and this one again"
                )
            time.sleep(_POLL)

    def _finish(self, load: meta.Load, planned: Planned, report: LoadReport) -> None:
        """Verify and switch, if all slices are there."""
        cluster, wanted = self._cluster, planned.contents.documents
        refresh(cluster, load.documents_index)
        there = count(cluster, load.documents_index)
        if there < wanted:
            report.notes.append(
                f"{there:,} of {wanted:,} documents of all slices are there: the last slice will switch"
            )
            return
        before = meta.behind(cluster)
        settle(cluster, load.index)
        verify(cluster, load.index, planned.contents)
        try:
            if load.index not in {each.index for each in meta.behind(cluster)}:
                serve(cluster, load)
        except EsrError:  # another slice came last too, and was before this one
            if [each.index for each in meta.behind(cluster)] != [load.index]:
                raise
        with suppress(EsrError):
            self._mark_complete(load)
        report.notes.append("all slices are there: they are served now")
        report.notes += pruned(cluster, self._options.keep, before[-1] if before else None, load)


def _ids(spool: Snapshot) -> Iterator[str]:
    for segment in spool.segments:
        yield from (segment.documents[number] for number in range(len(segment.documents)))
