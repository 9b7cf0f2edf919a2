"""Speakers of evidence and of quotations are called as the index usually writes their names."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

import esr
from esr.enrichment.recipe import Recipe
from esr.ranking.searcher import open_searcher
from esr.text.document import CERTAIN, Document, Quote
from esr.text.sentence_enrichment import Entity, SentenceEnrichment
from tests.support.elasticsearch import document, load

QUOTED = "“The river will rise by two metres on Monday,”"


def say(speaker: str) -> Document:
    """A document in which somebody is quoted whose name is Ann McLee."""
    made = document("a", f"{QUOTED} {speaker} said.", "Ann McLee left.", language="en")
    first, second = made.sentences
    quote = Quote(0, len(QUOTED), speaker, "ann mclee", "said", CERTAIN)
    return replace(made, sentences=(replace(first, quotes=(quote,)), second))


def add_names(where: str) -> None:
    with open_searcher(where) as searcher, searcher.index.enrichment() as enrichment:
        recipe, named = Recipe(("entities",), {"made": "by hand"}), (Entity("Ann McLee", "person"),)
        enrichment.store(recipe, [("a", [SentenceEnrichment({}, names, None) for names in ((), named)])])
        enrichment.finish(recipe)


@pytest.mark.parametrize(("speaker", "has_names"), [("the mayor", True), ("mayor Ann McLee", False)])
def test_a_speaker_has_the_usual_form_of_the_name_or_else_that_of_the_sentence(
    tmp_path: Path, speaker: str, has_names: bool
) -> None:
    load(str(tmp_path), [say(speaker)])
    if has_names:
        add_names(str(tmp_path))
    with esr.open(str(tmp_path)) as index:
        (found,) = index.check(QUOTED).quotations
        assert found.first is not None and found.first.speaker == "Ann McLee"
        (evidence,) = index.evidence("The river will rise by two metres").says_so
        assert evidence.speaker == "Ann McLee"
