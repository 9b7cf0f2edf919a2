"""The short forms and ids of names in segments, and the names that they stand for in the whole collection."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

import numpy as np

from esr.folder.format.files import Numbers
from esr.folder.format.layers import Layer, LayerEntity
from esr.folder.format.segment import Segment
from esr.index.names import IDS_KEY, read_ids
from esr.index.resolution import ShortForm, add_ids, join_short_forms
from esr.text.document import META_PREFIX


def find_short_forms(segments: Sequence[Segment]) -> dict[str, list[str]]:
    """The short forms that stand for a name everywhere, and ids, by the name. All are keys, but for ids."""
    documents: defaultdict[tuple[str, str], list[Numbers]] = defaultdict(list)
    for entity, numbers in _mentions(segments, None):
        documents[entity.written, entity.key].append(numbers)
    keys = {key for pair in documents for key in pair}
    by_type: defaultdict[str, defaultdict[str, list[Numbers]]] = defaultdict(lambda: defaultdict(list))
    for entity, numbers in _mentions(segments, keys) if keys else ():
        by_type[entity.key][entity.type].append(numbers)
    types = {
        key: {type: _count(numbers) for type, numbers in of_key.items()} for key, of_key in by_type.items()
    }
    found = [ShortForm(short, full, _count(numbers)) for (short, full), numbers in documents.items()]
    return add_ids(join_short_forms(found, types), _count_ids(segments))


def _count_ids(segments: Sequence[Segment]) -> Counter[tuple[str, str]]:
    """The number of documents that give a name, by its key, an id."""
    counts: Counter[tuple[str, str]] = Counter()
    field = META_PREFIX + IDS_KEY
    for segment in segments:
        ids = [id for id, _ in segment.attributes.count(field)]
        for number in np.unique(segment.attributes.documents([field], ids)).tolist():
            counts.update({*read_ids(segment.document(number).metadata)})
    return counts


def _mentions(segments: Sequence[Segment], keys: set[str] | None) -> Iterator[tuple[LayerEntity, Numbers]]:
    """Yield the entities with these keys, or all short forms (None), and the numbers of their documents."""
    base = 0
    for segment in segments:
        document = segment.column("document")
        for span in segment.enrichment.entity_spans:
            for number in _select(span.layer, keys):
                sentences = span.layer.sentences_of(number) + span.first
                inside = sentences[(sentences >= span.start) & (sentences < span.stop)]
                yield span.layer.named_entity(number), document[inside].astype(np.int64) + base
        base += segment.document_count


def _select(layer: Layer, keys: set[str] | None) -> list[int]:
    names = layer.names
    if keys is None:
        if not len(names.written):
            return []
        selected: list[int] = np.flatnonzero(names.written != names.hashes[names.of_entity]).tolist()
        return selected
    wanted = [number for number in range(len(names)) if names.key(number) in keys]
    chosen: list[int] = np.flatnonzero(np.isin(names.of_entity, wanted)).tolist()
    return chosen


def _count(documents: Sequence[Numbers]) -> int:
    return len(np.unique(np.concatenate(documents)))
