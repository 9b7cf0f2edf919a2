"""A snapshot: one commit of an index, and its statistics."""

from __future__ import annotations

from collections import Counter
from functools import cached_property
from pathlib import Path

from esr.engines.segments.reader.commit_statistics import CommitStatistics
from esr.engines.segments.store.layer import Layer
from esr.engines.segments.store.layer_info import LAYERS, LayerInfo
from esr.engines.segments.store.manifest import SEGMENTS, Manifest
from esr.engines.segments.store.segment import Segment, SegmentDamaged
from esr.engines.similarities import find_main_encoder


class Snapshot:
    """What a search sees from beginning to end, whatever is committed meanwhile."""

    def __init__(self, folder: Path, manifest: Manifest, before: Snapshot | None = None) -> None:
        """Raises SegmentDamaged. What `before` has open already is not opened again."""
        self.manifest = manifest
        open_segments = {} if before is None else {s.folder.name: s for s in before.segments}
        open_layers = {} if before is None else before.layers
        self.layers: dict[str, Layer] = {
            run.name: open_layers.get(run.name) or _open_layer(folder, run) for run in manifest.layers
        }
        self.segments: list[Segment] = [
            (open_segments.get(name) or Segment(folder / SEGMENTS / name)).with_layers(
                [(run, self.layers[run.name]) for run in manifest.layers_of(name)]
            )
            for name in manifest.segments
        ]
        self.statistics: CommitStatistics
        if before is not None and before.manifest.segments == manifest.segments:
            # Enrichment leaves the sentences as they are, and so their statistics and priors.
            self.statistics = before.statistics
        else:
            self.statistics = CommitStatistics(self.segments)

    @cached_property
    def features(self) -> list[str]:
        """The names of all stored features."""
        return sorted({name for segment in self.segments for name in segment.enrichment.features})

    @cached_property
    def has_parses(self) -> bool:
        """Whether any sentence has a stored parse."""
        return any(segment.enrichment.has_parses for segment in self.segments)

    @cached_property
    def main_encoder(self) -> str | None:
        """The id of the encoder that made the vectors of most sentences, None without vectors."""
        sentences: Counter[str] = Counter()
        for segment in self.segments:
            for span in segment.enrichment.vector_spans:
                if span.recipe is not None:
                    encoder = self.manifest.recipes[span.recipe]["made_with"]["encoder"]
                    sentences[encoder] += span.stop - span.start
        return find_main_encoder(sentences)


def _open_layer(folder: Path, run: LayerInfo) -> Layer:
    path = folder / LAYERS / run.name
    try:
        return Layer(path)
    except (FileNotFoundError, ValueError) as error:
        raise SegmentDamaged(path) from error
