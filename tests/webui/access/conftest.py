"""Two indexes: `news`, of whose documents some are from a hidden source, and `other`, which is all hidden.

Whatever may not be seen has the letters of MARK in it, also in titles, sources, authors and metadata.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from flask import Flask
from flask.testing import FlaskClient
from msgspec.structs import replace

from esr.access.grants import changing
from esr.cli import main
from esr.enrichment.recipe import Recipe
from esr.ranking.searcher import open_searcher
from esr.text.document import Document, Sentence
from esr.text.sentence_enrichment import Entity, SentenceEnrichment
from tests.support.elasticsearch import fresh, load
from webui.app import create_app
from webui.running.served_indexes import ServedIndexes
from webui.running.settings import Settings

MARK = "zanzu"
SECRET = "s" * 40


def documents() -> list[Document]:
    seen = ("The storm took a bridge near Avonton.", "A goalkeeper saw the storm of Avonton.")
    unseen = ("The storm hit Zanzuton hard.", "Zanzuword storms are zanzuly loud.", "Zanzuword again.")

    def make(name: str, texts: tuple[str, ...], word: str) -> Document:
        return Document(
            name,
            tuple(Sentence(f"{name}.s{n}", text, {"subj": n / 4}) for n, text in enumerate(texts)),
            f"{word} title",
            "2017-03-05",
            f"{word} Post",
            authors=(f"{word} Writer",),
            section=f"{word} section",
            keywords=(f"{word} keyword",),
            metadata={"desk": f"{word} desk", f"{word}key": "x"},
        )

    return [
        *(make(f"v{n}", seen, "Sports") for n in range(3)),
        *(make(f"h{n}", unseen, "Zanzu") for n in range(3)),
    ]


def store(where: str, all_hidden: bool = False) -> None:
    made = [each for each in documents() if each.id.startswith("h") or not all_hidden]
    load(where, made)
    with open_searcher(where) as searcher, searcher.index.enrichment() as stored:
        recipe = Recipe(("entities",), {"made": "access"})
        stored.store(recipe, [(each.id, [_enriched(s) for s in each.sentences]) for each in made])
        stored.finish(recipe)


def _enriched(sentence: Sentence) -> SentenceEnrichment:
    names = tuple(Entity(word.rstrip("."), "location") for word in sentence.text.split() if "ton" in word)
    return SentenceEnrichment({}, names, None)


@pytest.fixture(scope="session")
def locations(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("access")
    where = {"news": str(folder / "news"), "other": str(folder / "other")}
    store(where["news"])
    store(where["other"], all_hidden=True)
    return where


@pytest.fixture(
    params=["embedded", pytest.param("elasticsearch", marks=[pytest.mark.elasticsearch, pytest.mark.slow])],
    scope="session",
)
def either(request: pytest.FixtureRequest, locations: dict[str, str]) -> Iterator[dict[str, str]]:
    """The same two indexes, on either engine."""
    if request.param == "embedded":
        yield locations
        return
    url = request.getfixturevalue("elasticsearch_url")
    with fresh(url) as news, fresh(url) as other:
        store(news)
        store(other, all_hidden=True)
        yield {"news": news, "other": other}


class Server:
    """An application with a file of grants."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "access.json"
        self._folder = folder

    def add(self, name: str, *options: str) -> str:
        """Add a grant by the command, and return the key that it prints."""
        from click.testing import CliRunner

        done = CliRunner().invoke(main, ["keys", "add", name, "--file", str(self.file), *options])
        assert done.exit_code == 0, done.output
        return done.stdout.strip()

    def add_person(self, name: str, password: str, *options: str) -> None:
        (self._folder / "password").write_text(password + "\n")
        self.add(name, "--kind", "password", "--password-file", str(self._folder / "password"), *options)

    def expire(self, name: str, date: str) -> None:
        """Let a grant have expired, as time does: the command refuses a date in the past."""
        with changing(self.file) as grants:
            grants[name] = replace(grants[name], expires=date)

    def secret(self, name: str = "secret", text: str = SECRET) -> str:
        path = self._folder / name
        path.write_text(text)
        return str(path)

    def app(self, locations: Mapping[str, str], **settings: Any) -> Flask:
        limits = Settings(access=str(self.file), access_log=0, **settings)
        return create_app(ServedIndexes.at(locations, limits), limits)


@pytest.fixture
def server(tmp_path: Path) -> Server:
    return Server(tmp_path)


class Caller:
    """Calls an application with a key."""

    def __init__(self, client: FlaskClient, key: str | None) -> None:
        self._client = client
        self._headers = {} if key is None else {"Authorization": f"Bearer {key}"}

    def __call__(self, path: str, method: str = "GET", **arguments: Any) -> Any:
        body = arguments.pop("body", None)
        form = arguments.pop("form", None)
        return self._client.open(
            path,
            method=method,
            query_string=arguments or None,
            json=body,
            data=form,
            headers=self._headers,
            base_url="https://localhost",
        )


def text_of(response: Any) -> str:
    """The body and the headers, in lower case. A sheet is unpacked."""
    body = response.get_data()
    if body.startswith(b"PK"):
        with ZipFile(BytesIO(body)) as sheet:
            body = b"".join(map(sheet.read, sheet.namelist()))
    return (body.decode("utf-8", "replace") + json.dumps([*response.headers])).lower()
