"""A small index with all that a page can show: parses, features, names, quotes, duplicates, hostile text."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from flask.testing import FlaskClient
from msgspec.structs import replace

from esr import loaders
from esr.enrichment.recipe import Recipe
from esr.index.names import name_key
from esr.ranking.searcher import open_searcher
from esr.text.document import CERTAIN, Document, ParseWord, Quote, Sentence
from esr.text.sentence_enrichment import Entity, SentenceEnrichment
from tests.support.elasticsearch import load
from webui.api.operation import BASE

ARTICLES = Path(__file__).resolve().parents[2] / "examples" / "articles.jsonl"
HOSTILE = '<img src=x onerror="window.pwned=1"><script>window.pwned=1</script>\u202e\'"&amp;'


def store(where: str) -> None:
    """Make the index there."""
    load(where, documents())
    with open_searcher(where) as searcher, searcher.index.enrichment() as stored:
        recipe = Recipe(("entities",), {"made": "links"})
        stored.store(recipe, [(document.id, _enriched(document)) for document in documents()])
        stored.finish(recipe)  # shows what was stored


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
    speech = _SPEECH.search(sentence.text)
    quotes = []
    if speech:
        known = (name_key(speech[2]), "said", CERTAIN) if _is_full_name(speech[2]) else (None, "said")
        quotes.append(Quote(*speech.span(1), speech[2], *known))
    return replace(
        sentence,
        parse=parse,
        quotes=tuple(quotes),
        features={
            "subj": len(words) % 2,
            "loc": float("China" in words),
            "quote": float('"' in sentence.text),
        },
    )


_SPEECH = re.compile(r'("[^"]+,") said (?:the [a-z ]+ )?([A-Z]\w+\.? [A-Z]\w+)')


def _is_full_name(speaker: str) -> bool:
    """Whether a speaker is a name, such as Tom Arden, and not one such as Ms. Luo."""
    return "." not in speaker


def _enriched(document: Document) -> list[SentenceEnrichment]:
    names = [
        [Entity(name, "location") for name in re.findall(r"\b[A-Z][a-z]+na\b", each.text)]
        + [Entity(name, "person") for _, name in _SPEECH.findall(each.text) if _is_full_name(name)]
        for each in document.sentences
    ]
    return [SentenceEnrichment({}, tuple(of_sentence), None) for of_sentence in names]


# Addresses of pages in all their states, by name.


QUERY = "q=earthquake+relief+China"
CHECKED = "“nobody dared to go back inside” “nobody wanted to go back inside” “a quay of green glass”"
"""Quotations word for word, with another word, and in no sentence."""
PAGES = {
    "home": "/",
    "results": f"/search?{QUERY}",
    "grouped": f"/search?{QUERY}&group=document",
    "narrowed": f"/search?{QUERY}&from=2000&source=Northern+Wire&entity=location:China",
    "understood": "/search?q=%22relief+funds%22+OR+China+-trump+the+source:%22Northern+Wire%22+-+relief",
    "misspelt": "/search?q=earthqake+China",
    "literal": f"/search?{QUERY}&literal=yes&require=all",
    "nothing": "/search?q=zyxgarble+the",
    "error": f"/search?{QUERY}&model=bm25&context=both",
    "document": f"/document?id=earthquake-relief&{QUERY}",
    "explain": f"/explain?id=earthquake-relief.s0&{QUERY}",
    "second stage": f"/explain?id=earthquake-relief.s0&{QUERY}&rerank=mrf_sdm:2&feature=subj:step:1",
    "compare": f"/compare?{QUERY}&vs.model=bm25",
    "timeline": f"/timeline?{QUERY}",
    "timelines": "/timeline?q=earthquake&also=relief&also=China&scale=rate",
    "concordance": "/concordance?q=relief&sort=right1",
    "names": "/names?q=relief",
    "name": f"/name?name=location:China&{QUERY}",
    "quotations": "/quotes",
    "collocations": "/collocations?q=relief&min_count=1",
    "frequencies": "/frequencies?q=relief&also=earthquake&by=source",
    "comparison": "/contrast?q=relief&part=before:2025&against=after:2025&min_count=1",
    "similar": f"/similar?id=earthquake-relief.s0&{QUERY}",
    "newest": f"/search?{QUERY}&sort=date",
    "novel": "/search?q=relief&novel=yes&overlap=.7",
    "collection": "/collection",
    "undated": "/collection/undated",
    "check": "/check",
    "checked": f"/check?{urlencode({'text': CHECKED})}",
    "claim": "/evidence",
    "evidence": "/evidence?q=The+earthquake+in+China+did+not+hurt+31+people+before+the+relief+funds",
    "over time": "/name?name=person:Tom+Arden",
    "batch": "/batch",
    "saved": "/saved",
    "judge": "/judge",
    "missing": "/nowhere",
}
FAILING = frozenset({"error", "missing"})
"""Error pages: a browser logs them in its console."""


# Requests of the API, for its tests.


def get(client: FlaskClient, path: str, status: int = 200, **arguments: Any) -> Any:
    """The JSON answer of an operation. `from_` and `vs__model` stand for from and vs.model."""
    values = {name.rstrip("_").replace("__", "."): value for name, value in arguments.items()}
    answer = client.get(f"{BASE}{path}?{urlencode(values, doseq=True)}")
    assert answer.status_code == status, answer.text
    return answer.json


def error(client: FlaskClient, path: str, status: int = 400, **arguments: Any) -> Any:
    """The error of an operation. All errors have one shape."""
    answer = get(client, path, status, **arguments)
    assert set(answer) == {"error"}
    assert set(answer["error"]) == {"code", "message", "field"}
    return answer["error"]


def post(client: FlaskClient, body: Any, status: int = 200) -> Any:
    """The answer to a batch."""
    answer = client.post(f"{BASE}/batch", json=body)
    assert answer.status_code == status, answer.text
    return answer


def ids(answer: Any) -> list[str]:
    return [hit["sentence_id"] for hit in answer["hits"]]


def read_json(client: FlaskClient, address: str) -> Any:
    """The JSON at an address of a page."""
    response = client.get(address)
    assert response.status_code == 200, response.text
    assert response.mimetype == "application/json"
    return response.json


def read_table(client: FlaskClient, address: str) -> list[dict[str, str]]:
    """The rows of the table at an address."""
    response = client.get(address)
    assert response.status_code == 200 and response.mimetype == "text/csv"
    assert "attachment" in response.headers["Content-Disposition"]
    return list(csv.DictReader(io.StringIO(response.get_data(as_text=True).lstrip("\ufeff"))))
