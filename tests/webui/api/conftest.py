"""The API over a real index of a few documents in a folder."""

from __future__ import annotations

from pathlib import Path

import pytest
from flask import Flask
from flask.testing import FlaskClient

import esr
from esr.enrichment.recipe import Recipe
from esr.index.factory import open_writer
from esr.index.writer import LoadOptions
from esr.ranking.searcher import open_searcher
from esr.text.document import Document, Located, Quote, Sentence
from esr.text.sentence_enrichment import Entity, SentenceEnrichment
from webui.app import create_app
from webui.running.settings import Settings

TEXTS = {
    "a": ["It blew all night.", "The storms damaged forty houses.", "Nobody was hurt."],
    "b": ["After the storm came a flood.", "The flood took a bridge."],
    **{f"m{n:02}": [f"A storm came, number {n}.", "Then it went."] for n in range(30)},
}

QUOTED = {"Nobody was hurt.": (Quote(0, 16, "Ann Lee", "ann lee", "said"),)}
"""The quotations of sentences by their texts."""


def load(where: Path, texts: dict[str, list[str]] = TEXTS, if_exists: str = "fail") -> str:
    documents = (
        Located(
            f"test:{name}",
            Document(
                name,
                tuple(
                    Sentence(f"{name}.s{n}", text, {"subj": n / 4}, quotes=QUOTED.get(text, ()))
                    for n, text in enumerate(sentences)
                ),
                title=f"Title of {name}",
                date="2017-03-05",
                source="The Example",
            ),
        )
        for name, sentences in texts.items()
    )
    open_writer(str(where), LoadOptions(if_exists=if_exists)).load(documents)
    if "a" in texts:
        name_sentences(str(where))
        with esr.open(where) as index:
            index.enrich("reuse")
    return str(where)


def name_sentences(where: str) -> None:
    """Store names in the sentences of a document."""
    found = [(Entity("Ann Lee", "person"), Entity("Ohio", "location")), (Entity("Lee", "person"),), ()]
    with open_searcher(where) as searcher, searcher.index.enrichment() as enrichment:
        sentences = [SentenceEnrichment({}, entities, None) for entities in found]
        enrichment.store(Recipe(("entities",), {"made": "by hand"}), [("a", sentences)])
        enrichment.update_names(None)


@pytest.fixture(scope="session")
def where(tmp_path_factory: pytest.TempPathFactory) -> str:
    return load(tmp_path_factory.mktemp("api") / "index")


@pytest.fixture
def app(where: str) -> Flask:
    return create_app(open_searcher(where), Settings())


@pytest.fixture
def client(app: Flask) -> FlaskClient:
    return app.test_client()
