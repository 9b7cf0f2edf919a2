"""How far a load has come: what it has written for good, so that it can be taken up after it was killed.

It is replaced after a segment and its layer are on disk, never before: it names nothing that is not there.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from esr.engines.index import Description
from esr.engines.segments.store.arrays import replace_json
from esr.engines.segments.store.layer import Run

NAME = "esr-load.json"


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A load that has begun.

    `base` is the commit that it began from. Of its documents, the first `documents` are in `segments`;
    `content` is a digest of their JSON, so that the same documents can be told when they come again.
    """

    made: str
    description: Description
    append: bool
    base: int
    segments: tuple[str, ...] = ()
    layers: tuple[Run, ...] = ()
    documents: int = 0
    content: str = ""
    migrates: bool = False
    """Whether it takes an index to another format, and its documents are those of the index."""

    def after(self, segment: str, layer: Run | None, documents: int, content: str) -> Checkpoint:
        """The checkpoint when one more segment is on disk."""
        layers = self.layers if layer is None else (*self.layers, layer)
        return replace(
            self, segments=(*self.segments, segment), layers=layers, documents=documents, content=content
        )


def read(folder: Path) -> Checkpoint | None:
    """The checkpoint of a load that has not ended, or None where there is none that can be read."""
    try:
        return _from_dict(json.loads((folder / NAME).read_text("utf-8")))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def write(folder: Path, checkpoint: Checkpoint) -> None:
    replace_json(folder / NAME, asdict(checkpoint))


def remove(folder: Path) -> None:
    (folder / NAME).unlink(missing_ok=True)


def _from_dict(data: Mapping[str, Any]) -> Checkpoint:
    layers = tuple(Run(**(run | {"parts": tuple(run["parts"])})) for run in data["layers"])
    known = {**data, "description": Description(**data["description"]), "layers": layers}
    return Checkpoint(**(known | {"segments": tuple(data["segments"])}))
