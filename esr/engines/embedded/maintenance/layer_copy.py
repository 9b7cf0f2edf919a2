"""Copies stored enrichment: layers to segments that were written again, and sentences to a new layer."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from esr.documents.enrichment import VECTORS
from esr.engines.segments.store.layer import Layer
from esr.engines.segments.store.layer_file import EncodedEnrichment, save_layer
from esr.engines.segments.store.layer_info import LAYERS, LayerInfo, Numbers
from esr.engines.segments.store.layer_stack import LayerStack


def copy_layer(folder: Path, source: LayerInfo, target: LayerInfo, sentences: Numbers | None) -> None:
    """Write the layer `target` with these sentences of the layer `source`, or with all if None."""
    source_path, target_path = folder / LAYERS / source.name, folder / LAYERS / target.name
    if sentences is None:
        os.link(source_path, target_path)  # layers never change
    else:
        save_layer(target_path, _extract(Layer(source_path), sentences, source.parts), source.parts)


def read_stored(stack: LayerStack, sentences: Numbers, parts: Sequence[str]) -> Iterator[EncodedEnrichment]:
    """These parts of sentences of a segment, in order, each from the layer that applies to it."""
    names = stack.features if "features" in parts else []
    columns = {name: stack.feature(name, sentences).tolist() for name in names}
    parses = stack.parses(sentences) if "parse" in parts else [None] * len(sentences)
    vectors = stack.vectors(sentences) if VECTORS in parts else [None] * len(sentences)
    for n, sentence in enumerate(sentences.tolist()):
        yield EncodedEnrichment(
            {name: column[n] for name, column in columns.items() if column[n] == column[n]},
            stack.entities(sentence) if "entities" in parts else None,
            parses[n],
            vectors[n],
        )


def _extract(layer: Layer, sentences: Numbers, parts: Sequence[str]) -> list[EncodedEnrichment]:
    columns = {name: column[sentences].astype(float).tolist() for name, column in layer.features.items()}
    parses = layer.parses(sentences) if "parse" in parts else [None] * len(sentences)
    vectors = layer.stored_vectors(sentences) if VECTORS in parts else [None] * len(sentences)
    return [
        EncodedEnrichment(
            {name: column[n] for name, column in columns.items() if column[n] == column[n]},
            layer.entities(sentence) if "entities" in parts else None,
            parses[n],
            vectors[n],
        )
        for n, sentence in enumerate(sentences.tolist())
    ]
