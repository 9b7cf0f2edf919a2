"""Layers as the manifest lists them, and which layer has the newest enrichment of a document."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from msgspec import Struct

from esr.folder.format.files import (
    Numbers,
)

LAYERS = "layers"
"""The subfolder of the layers."""


class LayerInfo(Struct, frozen=True):
    """The manifest's entry of a layer, which covers documents `start` to `stop` (exclusive) of a segment.

    `recipe` is the digest of the recipe that made it, None for enrichment that came with the documents.
    """

    name: str
    segment: str
    start: int
    stop: int
    parts: tuple[str, ...]
    recipe: str | None

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> LayerInfo:
        return cls(**{**fields, "parts": tuple(fields["parts"])})

    @property
    def documents(self) -> int:
        return self.stop - self.start

    def overlaps(self, other: LayerInfo) -> bool:
        share_parts = self.segment == other.segment and set(self.parts) & set(other.parts)
        return bool(share_parts) and self.start < other.stop and other.start < self.stop


def new_layer_name() -> str:
    """Generate a unique name for a layer's file."""
    return uuid.uuid4().hex[:12]


def resolve_owners(layers: Sequence[LayerInfo], part: str, documents: int) -> Numbers:
    """The index of the layer that applies to each document for a part, -1 for none.

    Of several layers with the part, the last one applies.
    """
    owners = np.full(documents, -1)
    for number, layer in enumerate(layers):
        if part in layer.parts:
            owners[layer.start : layer.stop] = number
    return owners


def split_by_owner(owners: Numbers) -> Iterator[tuple[int, int, int]]:
    """Yield ranges of documents with the same owner, as start, stop and owner.

    Documents without an owner are skipped.
    """
    borders = [0, *(np.flatnonzero(np.diff(owners)) + 1).tolist(), len(owners)]
    for start, stop in pairwise(borders):
        if stop > start and owners[start] >= 0:
            yield start, stop, int(owners[start])
