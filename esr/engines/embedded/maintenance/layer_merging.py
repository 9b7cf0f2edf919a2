"""Keeps the layers of a segment few, by merging neighbors of the same recipe.

They are merged so that each is more than twice as large as the next: a segment has few layers at any time,
and one when it is enriched completely.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from esr.engines.segments.store.layer import Layer
from esr.engines.segments.store.layer_file import merge_layers
from esr.engines.segments.store.layer_info import LAYERS, LayerInfo, new_layer_name, resolve_owners
from esr.engines.segments.store.segment import Segment


def tidy_layers(folder: Path, layers: list[LayerInfo], segment: Segment, new: LayerInfo) -> list[LayerInfo]:
    """The layers after `new` was added: without hidden ones, and with neighbors of `new` merged."""
    layers = [layer for n, layer in enumerate(layers) if not _is_hidden(layer, layers[n + 1 :])]
    mergeable = [
        layer
        for n, layer in enumerate(layers)
        if (layer.segment, layer.recipe, layer.parts) == (new.segment, new.recipe, new.parts)
        and not any(layer.overlaps(later) for later in layers[n + 1 :])
    ]
    mergeable.sort(key=lambda layer: layer.start)
    for group in _group_layers(mergeable, segment.document_count):
        if len(group) > 1:
            merged = _merge(folder, segment, group)
            layers = [*(layer for layer in layers if layer not in group), merged]
    return layers


def _is_hidden(layer: LayerInfo, later: Sequence[LayerInfo]) -> bool:
    """Whether later layers take precedence for every part of every document of a layer."""
    others = [other for other in later if other.segment == layer.segment]
    owners = (resolve_owners(others, part, layer.stop)[layer.start :] for part in layer.parts)
    return all((owner >= 0).all() for owner in owners)


def _group_layers(layers: Sequence[LayerInfo], documents: int) -> list[list[LayerInfo]]:
    """Layers, ordered by their first document, in groups that are to become one layer each."""
    groups: list[list[LayerInfo]] = []
    for layer in layers:
        groups.append([layer])
        while len(groups) > 1 and _should_merge(groups[-2], groups[-1]):
            groups[-2:] = [groups[-2] + groups[-1]]
    if sum(layer.documents for layer in layers) == documents:
        return [list(layers)]
    return groups


def _should_merge(left: Sequence[LayerInfo], right: Sequence[LayerInfo]) -> bool:
    left_size, right_size = (sum(layer.documents for layer in group) for group in (left, right))
    return left[-1].stop == right[0].start and left_size <= 2 * right_size


def _merge(folder: Path, segment: Segment, group: Sequence[LayerInfo]) -> LayerInfo:
    """Write neighboring layers as one."""
    first, last = group[0], group[-1]
    starts = segment.column("first")
    sizes = [int(starts[layer.stop] - starts[layer.start]) for layer in group]
    merged = LayerInfo(new_layer_name(), first.segment, first.start, last.stop, first.parts, first.recipe)
    layers = [Layer(folder / LAYERS / layer.name) for layer in group]
    merge_layers(folder / LAYERS / merged.name, layers, sizes, merged.parts)
    return merged
