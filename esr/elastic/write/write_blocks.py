"""Write blocks of indices that are being copied, which outlive a process that is killed meanwhile.

A block does not say who set it. So a process that blocks a load first notes itself in the `_meta` of the
index of documents, and a block whose process has ended is lifted. A block that an operator set stays.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from esr.elastic.cluster import Cluster
from esr.elastic.location import DOCUMENTS, belongs_to, sentences_index
from esr.elastic.login import LEFT_BLOCK_MINUTES
from esr.elastic.meta import Load
from esr.elastic.write.load_owner import LoadOwner, this_process

WRITE_BLOCK = "index.blocks.write"
_NOTE = "blocked"


@contextmanager
def block_writes(cluster: Cluster, load: Load) -> Iterator[None]:
    """Block writes to both indices of a load, so that their copies are consistent.

    Otherwise a copy could mark a document as enriched without its sentences.
    """
    names = [load.documents_index, load.index]
    indices = cluster.client.indices
    with cluster.translate_errors():
        settings = indices.get_settings(index=names, name=WRITE_BLOCK, flat_settings=True)
    unblocked = [name for name in names if not _is_blocked(settings.get(name, {}))]
    try:
        if unblocked:
            note = {"by": this_process(), "since": time.time(), "indices": unblocked}
            _write_note(cluster, load.documents_index, note)
        with cluster.translate_errors():
            for name in unblocked:
                indices.add_block(index=name, block="write")
        yield
    finally:
        if unblocked:
            _lift(cluster, load.documents_index, unblocked)


def is_blocked(cluster: Cluster, index: str) -> bool:
    """Whether an index accepts no writes. Raises the errors of the client."""
    settings = cluster.client.indices.get_settings(index=index, name=WRITE_BLOCK, flat_settings=True)
    return _is_blocked(settings.get(index, {}))


def lift_left_blocks(cluster: Cluster) -> None:
    """Lift the blocks of all loads of the alias whose process was killed, or could not lift them."""
    with cluster.translate_errors():
        answer = cluster.client.indices.get_mapping(
            index=f"{cluster.aliases.sentences}-*{DOCUMENTS}", filter_path=f"*.mappings._meta.{_NOTE}"
        )
    for index, body in answer.items():
        note = body["mappings"]["_meta"][_NOTE]
        if belongs_to(sentences_index(index), cluster.aliases.sentences) and _has_ended(note):
            _lift(cluster, index, note["indices"])


def _is_blocked(settings: Mapping[str, Any]) -> bool:
    return bool(settings.get("settings", {}).get(WRITE_BLOCK) == "true")


def _has_ended(note: Mapping[str, Any]) -> bool:
    owner = LoadOwner.parse(note["by"])
    if owner.is_near:
        return note["by"] == this_process() or not owner.is_running
    return bool(time.time() - note["since"] > 60 * LEFT_BLOCK_MINUTES)


def _lift(cluster: Cluster, documents_index: str, names: Iterable[str]) -> None:
    with cluster.translate_errors():
        cluster.client.indices.put_settings(
            index=list(names), settings={WRITE_BLOCK: None}, ignore_unavailable=True
        )
    _write_note(cluster, documents_index, None)


def _write_note(cluster: Cluster, documents_index: str, note: Mapping[str, Any] | None) -> None:
    """Store who blocks writes, or that nobody does, beside the description of the load."""
    indices = cluster.client.indices
    with cluster.translate_errors():
        stored = indices.get_mapping(index=documents_index)[documents_index]["mappings"]["_meta"]
        others = {name: value for name, value in stored.items() if name != _NOTE}
        indices.put_mapping(index=documents_index, meta={**others, **({_NOTE: note} if note else {})})
