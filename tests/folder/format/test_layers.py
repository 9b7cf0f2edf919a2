"""A layer has what was stored in it, also after it was merged with another or only some sentences stay."""

from __future__ import annotations

import errno
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from esr.folder.format.layer_info import LayerInfo, resolve_owners, split_by_owner
from esr.folder.format.layers import (
    EncodedEnrichment,
    Layer,
    LayerStack,
    copy_layer,
    merge_layers,
    save_layer,
    select_layer,
)
from esr.index.names import ENTITY_TYPES, LOCATION, ORGANIZATION, PERSON, ResolvedName
from esr.text.document import Quote
from esr.text.sentence_enrichment import QuantizedVector

PARTS = ("features", "entities", "parse", "vectors", "quotes")
SENTENCES = [
    EncodedEnrichment(
        {"subj": 0.5, "pol": -0.25},
        {PERSON: ("Ann Lee", "Bob")},
        b"parse of a",
        QuantizedVector(b"\x01\x02\xff", 0.5),
        (Quote(0, 2, "Ann Lee", "ann lee"),),
    ),
    EncodedEnrichment({}, {}, b"", None, (Quote(3, 13),)),
    EncodedEnrichment({"subj": 1 / 3}, None, None),
    EncodedEnrichment(
        {}, {PERSON: ("Bob",), LOCATION: ("Bob",)}, b"c", QuantizedVector(b"\x00\x7f\x81", 2.0)
    ),
]


def write(path: Path, sentences: Sequence[EncodedEnrichment], parts: Sequence[str] = PARTS) -> Layer:
    save_layer(path, sentences, parts)
    return Layer(path)


def contents(layer: Layer, size: int) -> list[tuple[Any, ...]]:
    """What a layer has of each sentence."""
    everything = np.arange(size)
    features = [
        {name: float(column[n]) for name, column in layer.features.items() if not np.isnan(column[n])}
        for n in everything
    ]
    entities = [layer.entities(n) for n in range(size)]
    quotes = layer.quotes.read(everything)
    return [
        *zip(
            features,
            entities,
            layer.parses(everything),
            layer.stored_vectors(everything),
            quotes,
            strict=True,
        )
    ]


def expected(sentences: Sequence[EncodedEnrichment]) -> list[tuple[Any, ...]]:
    return [
        (
            {name: pytest.approx(value) for name, value in sentence.features.items()},
            sentence.entities,
            sentence.parse,
            sentence.vector,
            sentence.quotes,
        )
        for sentence in sentences
    ]


def test_a_layer_has_what_was_stored(tmp_path: Path) -> None:
    layer = write(tmp_path / "layer", SENTENCES)
    assert contents(layer, 4) == expected(SENTENCES)
    assert layer.dimensions == 3 and layer.entity_count == 3
    assert [layer.entity_key(number) for number in range(3)] == [
        *(f"{PERSON}:Ann Lee", f"{PERSON}:Bob", f"{LOCATION}:Bob")
    ]
    assert layer.sentences_of(1).tolist() == [0, 3]
    assert sorted(layer.sentences_with_name("bob").tolist()) == [0, 3, 3]
    assert layer.sentences_with_name("nobody").tolist() == []


def test_a_name_has_the_type_of_what_its_short_form_stands_for(tmp_path: Path) -> None:
    company = ResolvedName("apple inc", ORGANIZATION)
    layer = write(
        tmp_path / "layer", [EncodedEnrichment({}, {PERSON: ("Apple",)}, None, resolved={"Apple": company})]
    )
    assert layer.entities(0) == {PERSON: ("Apple",)} and layer.resolved(0) == {"Apple": company}
    assert [ENTITY_TYPES[number] for number in layer.names.types.tolist()] == [ORGANIZATION]
    assert layer.sentences_with_name("apple inc").tolist() == [0]


@pytest.mark.parametrize("part", PARTS)
def test_a_layer_has_only_the_parts_that_were_asked_for(tmp_path: Path, part: str) -> None:
    prefixes = {"features": "feature", "entities": "entity", "parse": "parse", "vectors": "vector"}
    arrays = write(tmp_path / "layer", SENTENCES, [part]).arrays
    found = {name.partition(".")[0] for name in arrays} - {"name"}
    assert found == {prefixes.get(part, "quote")}


@pytest.mark.parametrize("at", [0, 1, 2, 4])
def test_merged_layers_have_the_sentences_of_both(tmp_path: Path, at: int) -> None:
    parts = [SENTENCES[:at], SENTENCES[at:]]
    layers = [write(tmp_path / f"{n}", part) for n, part in enumerate(parts)]
    merge_layers(tmp_path / "merged", layers, [*map(len, parts)], PARTS)
    assert contents(Layer(tmp_path / "merged"), 4) == expected(SENTENCES)


@pytest.mark.parametrize("kept", [(), (0,), (1, 2), (3,), (0, 2, 3), (0, 1, 2, 3)])
def test_a_selection_is_the_layer_of_the_sentences_that_stay(tmp_path: Path, kept: tuple[int, ...]) -> None:
    mask = np.isin(np.arange(4), kept)
    select_layer(tmp_path / "selected", write(tmp_path / "all", SENTENCES), mask, PARTS)
    selected = Layer(tmp_path / "selected").arrays
    saved = write(tmp_path / "saved", [SENTENCES[n] for n in kept]).arrays
    assert selected.keys() == saved.keys()
    differ = [name for name in saved if not np.array_equal(selected[name], saved[name], equal_nan=True)]
    assert differ == []


def test_a_layer_is_copied_whole_or_in_part(tmp_path: Path) -> None:
    (tmp_path / "layers").mkdir()
    source, whole, part = (LayerInfo(name, "s", 0, 1, PARTS, None) for name in ("a", "b", "c"))
    write(tmp_path / "layers/a", SENTENCES)
    copy_layer(tmp_path, source, whole, None)
    copy_layer(tmp_path, source, part, np.array([False, True, True, False]))
    assert contents(Layer(tmp_path / "layers/b"), 4) == expected(SENTENCES)
    assert contents(Layer(tmp_path / "layers/c"), 2) == expected(SENTENCES[1:3])


def test_a_layer_is_copied_where_files_cannot_be_linked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(source: Path, target: Path) -> None:
        raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr(os, "link", refuse)
    (tmp_path / "layers").mkdir()
    source, whole = (LayerInfo(name, "s", 0, 1, PARTS, None) for name in ("a", "b"))
    write(tmp_path / "layers/a", SENTENCES)
    copy_layer(tmp_path, source, whole, None)
    assert contents(Layer(tmp_path / "layers/b"), 4) == expected(SENTENCES)
    with pytest.raises(FileNotFoundError):
        copy_layer(tmp_path, replace(source, name="gone"), replace(whole, name="c"), None)


def info(start: int, stop: int, *parts: str, segment: str = "s") -> LayerInfo:
    return LayerInfo("layer", segment, start, stop, parts, "recipe")


def test_layers_overlap_if_they_have_a_part_of_a_document_in_common() -> None:
    layer = info(3, 6, "parse", "quotes")
    assert layer.documents == 3
    assert layer.overlaps(info(5, 9, "quotes")) and info(5, 9, "quotes").overlaps(layer)
    assert layer.overlaps(info(0, 4, "parse", "features"))
    assert not layer.overlaps(info(6, 9, "quotes")) and not layer.overlaps(info(0, 3, "quotes"))
    assert not layer.overlaps(info(3, 6, "features"))
    assert not layer.overlaps(info(3, 6, "parse", segment="t"))


def test_the_last_layer_with_a_part_applies_to_a_document() -> None:
    layers = [info(0, 4, "parse"), info(2, 3, "quotes"), info(3, 6, "parse")]
    owners = resolve_owners(layers, "parse", 8)
    assert owners.tolist() == [0, 0, 0, 2, 2, 2, -1, -1]
    assert [*split_by_owner(owners)] == [(0, 3, 0), (3, 6, 2)]
    assert resolve_owners(layers, "features", 2).tolist() == [-1, -1]
    assert [*split_by_owner(np.array([-1, 1, -1, 0]))] == [(1, 2, 1), (3, 4, 0)]
    assert [*split_by_owner(np.zeros(0, int))] == []


def test_each_sentence_of_a_segment_is_read_from_the_layer_of_its_document(tmp_path: Path) -> None:
    first, second = write(tmp_path / "first", SENTENCES[:2]), write(tmp_path / "second", SENTENCES[2:])
    layers = [(info(0, 1, *PARTS), first), (info(1, 3, *PARTS), second)]
    stack = LayerStack(layers, np.array([0, 2, 3, 4]), 4)
    asked = np.array([3, 0, 1])
    assert stack.parses(asked) == [b"c", b"parse of a", b""]
    assert stack.quotes(asked) == [(), *(sentence.quotes for sentence in SENTENCES[:2])]
    assert stack.vectors(asked) == [SENTENCES[3].vector, SENTENCES[0].vector, None]
