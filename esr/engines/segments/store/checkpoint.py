"""The progress of a load: what it has written durably, so that it can be resumed after it was killed.

It is replaced only after a segment and its layer are on disk, so all that it names is there.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct, to_builtins
from msgspec.structs import replace

from esr.engines.segments.store.arrays import replace_json
from esr.engines.segments.store.layer_info import LayerInfo
from esr.engines.writer import Description

NAME = "esr-load.json"
_STORED_NAMES = {"generation_name": "made", "digest": "content", "is_migration": "migrates"}
"""The names of attributes in the file, where they differ."""


class Checkpoint(Struct, frozen=True):
    """A load in progress.

    `base` is the number of the commit that it started from. The first `documents` of its documents have
    been read; `digest` is that of their JSON, which identifies them when they are given again.
    """

    generation_name: str
    description: Description
    append: bool
    base: int
    segments: tuple[str, ...] = ()
    layers: tuple[LayerInfo, ...] = ()
    documents: int = 0
    digest: str = ""
    is_migration: bool = False
    """Whether it converts the index to another format, and its documents are those of the index."""

    def with_segment(self, segment: str, layer: LayerInfo | None, documents: int, digest: str) -> Checkpoint:
        """The checkpoint after one more segment is on disk."""
        layers = self.layers if layer is None else (*self.layers, layer)
        return replace(
            self, segments=(*self.segments, segment), layers=layers, documents=documents, digest=digest
        )


def read(folder: Path) -> Checkpoint | None:
    """The checkpoint of an unfinished load, or None if there is none, or none that can be read."""
    try:
        return _from_dict(json.loads((folder / NAME).read_text("utf-8")))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def write(folder: Path, checkpoint: Checkpoint) -> None:
    replace_json(folder / NAME, _as_dict(checkpoint))


def remove(folder: Path) -> None:
    (folder / NAME).unlink(missing_ok=True)


def _as_dict(checkpoint: Checkpoint) -> dict[str, Any]:
    return {_STORED_NAMES.get(name, name): value for name, value in to_builtins(checkpoint).items()}


def _from_dict(data: Mapping[str, Any]) -> Checkpoint:
    attributes = {stored: name for name, stored in _STORED_NAMES.items()}
    fields = {attributes.get(name, name): value for name, value in data.items()}
    fields["description"] = Description(**data["description"])
    fields["segments"] = tuple(data["segments"])
    fields["layers"] = tuple(map(LayerInfo.from_dict, data["layers"]))
    return Checkpoint(**fields)
