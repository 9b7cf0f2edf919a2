"""A small index with all that a page can show: parses, features, names, duplicates, hostile text."""

from __future__ import annotations

import re
from pathlib import Path

from msgspec.structs import replace

from esr import loaders
from esr.enrichment.recipe import Recipe
from esr.ranking.searcher import open_searcher
from esr.text.document import Document, Entity, ParseWord, Sentence, SentenceEnrichment
from tests.support.elasticsearch import load

ARTICLES = Path(__file__).resolve().parents[2] / "examples" / "articles.jsonl"
HOSTILE = '<img src=x onerror="window.pwned=1"><script>window.pwned=1</script>\u202e\'"&amp;'


def store(where: str) -> None:
    """Make the index there."""
    load(where, documents())
    with open_searcher(where) as searcher, searcher.index.enrichment() as stored:
        stored.store(Recipe(("entities",), {"made": "links"}), [(d.id, _enriched(d)) for d in documents()])


def documents() -> list[Document]:
    """The example articles with parses and features, a wire story that printed twice, and hostile text."""
    read = [located.document for located in loaders.read_documents([str(ARTICLES)])]
    again = replace(
        read[0],
        id="again",
        source="Evening Post",
        date=None,
        url=None,
        sentences=tuple(Sentence(f"again.s{n}", s.text) for n, s in enumerate(read[0].sentences)),
    )
    text = f"A harbour pilot wrote {HOSTILE} on the wall."
    hostile = Document(
        "hostile",
        (Sentence("hostile.s0", text),),
        HOSTILE,
        "2017-03-05",
        HOSTILE,
        "javascript:alert(1)",
        "en",
    )
    return [replace(each, sentences=tuple(map(_parsed, each.sentences))) for each in (*read, again, hostile)]


def _parsed(sentence: Sentence) -> Sentence:
    """Each word depends on the one two before it."""
    words = re.findall(r"\w+|[^\w\s]", sentence.text)
    parse = tuple(ParseWord(word, max(n - 2, -1) if n != 1 else 0) for n, word in enumerate(words))
    return replace(
        sentence,
        parse=parse,
        features={
            "subj": len(words) % 2,
            "loc": float("China" in words),
            "quote": float('"' in sentence.text),
        },
    )


def _enriched(document: Document) -> list[SentenceEnrichment]:
    return [
        SentenceEnrichment(
            {}, tuple(Entity(name, "location") for name in re.findall(r"\b[A-Z][a-z]+na\b", s.text)), None
        )
        for s in document.sentences
    ]
