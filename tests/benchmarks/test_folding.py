"""The evidence for folding, on made-up stories."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.studies import folding
from esr.text.sentence_enrichment import DEFAULT_PARTS

AGENCY = "Rescue teams reached the flooded villages of the northern valley on Tuesday, officials said."
OTHER = "The central bank left its interest rates unchanged for the third month in a row."


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Three papers print a sentence, one with words added; one has it twice; none repeats the others' own."""
    texts = [[AGENCY, OTHER], ["A short one."], [AGENCY.replace("officials", "local officials"), AGENCY]]
    lines = [
        {"id": f"d{n}", "date": f"2017-03-0{9 - n}", "sentences": [{"text": text} for text in of_document]}
        for n, of_document in enumerate(texts)
    ]
    file = tmp_path / "stories.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return file


def test_clusters_are_what_is_aligned_across_documents(path: Path) -> None:
    stories = folding.read_stories(path)
    assert [story.document for story in stories] == ["d2", "d2", "d1", "d0", "d0"]
    repeats = folding.find_repeats(stories)
    assert repeats == {1: [0], 3: [0, 1]}
    assert folding.find_clusters(repeats, stories) == [[0, 1, 3]]
    assert folding.find_clusters({1: [0]}, stories) == []


def test_precision_and_recall_are_those_of_sentences(path: Path) -> None:
    stories = folding.read_stories(path)
    repeats = folding.find_repeats(stories)
    figures = folding.judge([[0, 1], [2], [3, 4]], stories, repeats)
    assert figures[:4] == (2, 1, 2, 1)
    assert (figures.wrong, figures.missed) == ([(4, 3)], [(3, 0)])


def test_half_of_the_characters_are_no_repeat() -> None:
    assert folding.aligned_share("abcdefghijklmnop", "abcdefghij") == 10 / 16
    assert folding.aligned_share("abcdefgh", "xabcdefghx") == 1.0
    assert folding.aligned_share("abcdefg", "xabcdefgx") == 0.0  # no block is long enough


def test_the_bare_pool_runs_what_the_parts_need() -> None:
    pytest.importorskip("spacy")
    from benchmarks.studies.enrichment import COMPONENTS

    assert COMPONENTS.keys() == {DEFAULT_PARTS, *((part,) for part in DEFAULT_PARTS)}
