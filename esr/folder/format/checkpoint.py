"""The checkpoint of a load: what it has written so far.

It is replaced only after a segment and its layer are on disk, so everything it lists exists.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct, field, to_builtins
from msgspec.structs import replace

from esr.errors import IndexUnusable
from esr.folder.format.files import (
    FileCheck,
    decode_sealed,
    refuse_unopened,
    replace_json,
)
from esr.folder.format.layer_info import LayerInfo
from esr.folder.format.manifest import Manifest, decode_checks
from esr.index.writer import Description

CHECKPOINT_NAME = "esr-load.json"
_STORED_NAMES = {"generation_name": "made", "digest": "content", "is_migration": "migrates"}
"""Stored names of attributes, where they differ."""


class Checkpoint(Struct, frozen=True):
    """The progress of a load, by which it is resumed after a crash.

    `base` is the number of the commit it started from. `documents` is the number of documents read and stored
    so far. `digest` is the digest of their JSON, by which a resumed load recognizes them.
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
    """Whether the load is a migration, which reads the documents of the index itself."""
    checksums: Mapping[str, FileCheck] = field(default_factory=dict)
    """Checks of its segments and layers, as in a manifest."""

    def as_manifest(self) -> Manifest:
        """The segments and layers written so far, as a commit."""
        return Manifest(
            self.description,
            self.segments,
            layers=self.layers,
            generation_name=self.generation_name,
            checksums=self.checksums,
        )

    def with_segment(self, segment: str, layer: LayerInfo | None) -> Checkpoint:
        """The checkpoint with one more segment that has been written to disk."""
        layers = self.layers if layer is None else (*self.layers, layer)
        return replace(self, segments=(*self.segments, segment), layers=layers)


def read_checkpoint(folder: Path) -> Checkpoint | None:
    """Read the checkpoint of an unfinished load, None if it is missing or damaged.

    Raises IndexUnusable if the file cannot be read, since the load that wrote it may be resumed later.
    """
    path = folder / CHECKPOINT_NAME
    try:
        return _from_dict(decode_sealed(path.read_bytes()))
    except FileNotFoundError:
        return None
    except OSError as error:
        refuse_unopened(path, error)
        raise IndexUnusable(f"cannot read {path}: {error.strerror or error}") from error
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


def write_checkpoint(folder: Path, checkpoint: Checkpoint) -> Checkpoint:
    """Replace the checkpoint. Returns it as it was written, with checksums."""
    checkpoint = replace(checkpoint, checksums=checkpoint.as_manifest().with_checksums(folder).checksums)
    stored = {_STORED_NAMES.get(name, name): value for name, value in to_builtins(checkpoint).items()}
    stored["description"] = checkpoint.description.as_dict()
    replace_json(folder / CHECKPOINT_NAME, stored)
    return checkpoint


def remove_checkpoint(folder: Path) -> None:
    (folder / CHECKPOINT_NAME).unlink(missing_ok=True)


def _from_dict(data: Mapping[str, Any]) -> Checkpoint:
    attributes = {stored: name for name, stored in _STORED_NAMES.items()}
    fields = {attributes.get(name, name): value for name, value in data.items()}
    fields["description"] = Description.from_dict(data["description"])
    fields["segments"] = tuple(data["segments"])
    fields["layers"] = tuple(map(LayerInfo.from_dict, data["layers"]))
    fields["checksums"] = decode_checks(data)
    return Checkpoint(**fields)
