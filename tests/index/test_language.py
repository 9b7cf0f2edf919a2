"""An index by language: each of its languages ranks as an index that has the documents of it alone."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from esr.folder.write import segment_writer
from esr.index.factory import open_delivery, open_writer
from esr.index.language import in_language
from esr.index.writer import LoadOptions
from esr.ranking.searcher import Searcher, open_searcher
from esr.text.analyzer import BY_LANGUAGE, analyzer_for_language, language_group
from esr.text.document import Document, Located, Sentence
from tests.support.reference_scores import CONTEXTS

WORDS = {
    code: words.split()
    for code, words in (
        ("en", "The banks die and paid a bank of the court floods hand arm Merkel"),
        ("de-AT", "Die Banken und zahlten eine Bank des Gerichts Fluten Hand arm Merkel Bäche"),
        ("zh", "北京 银行 的 法院 洪水 Merkel bank 北京银行"),
        (None, "bank die arm Merkel flood"),
    )
}
"""Words of each language, some of which are stop words, or also words of another language."""
QUERIES = ["bank", "die Banken floods", "Merkel hand", "arm bank bank 北京银行 unseen", "die 法院"]
MODELS = [(model, context) for model, contexts in CONTEXTS.items() for context in (None, *contexts)]


def documents(language: str | None, count: int = 14, seed: int = 0) -> list[Document]:
    """Documents in one language, of all sizes, every third of them with a title."""
    rng = random.Random(f"{language} {seed}")
    made = []
    for number in range(count):
        texts = [" ".join(rng.choices(WORDS[language], k=rng.randrange(12))) for _ in range(number % 5)]
        id = f"{language}{seed}-{number}"
        sentences = tuple(Sentence(f"{id}.s{n}", text) for n, text in enumerate(texts))
        title = rng.choice(WORDS[language]) + " Titel" if number % 3 == 0 else None
        made.append(Document(id, sentences, title=title, language=language))
    return made


def shuffled(*parts: Sequence[Document]) -> list[Document]:
    """The documents of all parts: the order within each stays."""
    order = [n for n, part in enumerate(parts) for _ in part]
    random.Random(1).shuffle(order)
    rest = [iter(part) for part in parts]
    return [next(rest[n]) for n in order]


def located(given: Sequence[Document]) -> Iterator[Located]:
    return (Located(document.id, document) for document in given)


def load(where: str, analyzer: str, *deliveries: Sequence[Document]) -> str:
    first, *others = deliveries
    open_writer(where, LoadOptions(analyzer=analyzer)).load(located(first))
    for each in others:
        open_delivery(where, LoadOptions()).append(located(each))
    return where


def differences(whole: Searcher, alone: Searcher, language: str | None, **settings: Any) -> list[str]:
    """How the answers in one language differ from those of an index of the language alone."""
    part = Searcher(in_language(whole.index.snapshot(), language_group(language)))
    problems = []
    for query in QUERIES:
        expected, found = (each.search(query, 500, records=False, **settings) for each in (alone, part))
        a, b = ([hit.sentence_id for hit in answer.hits] for answer in (expected, found))
        scores = [[hit.score for hit in answer.hits] for answer in (expected, found)]
        same = scores[1] == pytest.approx(scores[0], rel=1e-12, abs=1e-12)
        if (a, expected.total, expected.unseen) != (b, found.total, found.unseen) or not same:
            problems.append(f"{language} {query!r} {settings}: {expected.hits[:2]} {found.hits[:2]}")
    return problems


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Searcher]:
    """An index of all languages, of two deliveries in several segments."""
    folder = str(tmp_path_factory.mktemp("languages") / "index")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(segment_writer, "FULL_TERMS", 200)
        load(folder, BY_LANGUAGE, *(shuffled(*(documents(code, seed=n) for code in WORDS)) for n in (0, 1)))
    with open_searcher(folder) as searcher:
        yield searcher


@pytest.fixture(scope="module", params=WORDS, ids=str)
def alone(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Searcher]:
    """An index of the documents of one language, loaded with its analyzer."""
    folder = str(tmp_path_factory.mktemp("language") / "index")
    analyzer = analyzer_for_language(language_group(request.param)).name
    load(folder, analyzer, *(documents(request.param, seed=n) for n in (0, 1)))
    with open_searcher(folder) as searcher:
        yield searcher


@pytest.mark.parametrize("model, context", MODELS)
def test_each_language_ranks_as_if_it_were_alone(
    whole: Searcher, alone: Searcher, model: str, context: str | None
) -> None:
    language = next(iter(alone.index.languages()))
    problems = differences(whole, alone, language, model=model, context=context)
    for candidates in ("matching", "all"):
        priors = {"importance": 0.5, "importance-surrounding": 0.25, "length": 1.0}
        problems += differences(
            whole, alone, language, model=model, context=context, priors=priors, candidates=candidates
        )
    assert not problems, "\n".join(problems)
