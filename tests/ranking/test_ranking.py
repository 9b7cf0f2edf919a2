"""Rankings: how they are read and checked, and furniture, which they lower without a second plan."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from esr.errors import EsrError, InputError, UsageError
from esr.index.contract import read_document
from esr.index.filters import NO_FILTERS
from esr.index.questions import Features, Records
from esr.models.adjustments import Adjustment
from esr.ranking.ranking import Ranking, lower_furniture, read_toml
from esr.ranking.searcher import Searcher
from esr.ranking.second_stage.signals import RankingSignal
from esr.text.document import Document, Sentence
from tests.support.elasticsearch import differences
from tests.support.index_contents import ENGINES, open_loaded

FULL: dict[str, Any] = {
    "model": "2si",
    "context": "both",
    "params": {"mu": 50},
    "priors": {"importance": 1.0, "length": 1.0},
    "candidates": "context",
}


def written(folder: Path, content: str | bytes) -> Path:
    path = folder / "ranking.json"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def test_a_file_may_have_every_key(tmp_path: Path) -> None:
    assert Ranking.from_file(written(tmp_path, json.dumps(FULL))) == Ranking(**FULL)


@pytest.mark.parametrize("key", FULL)
def test_every_key_may_be_left_out(tmp_path: Path, key: str) -> None:
    data = {k: v for k, v in FULL.items() if k != key}
    assert Ranking.from_file(written(tmp_path, json.dumps(data))) == Ranking(**data)


def test_an_empty_object_is_the_default_ranking(tmp_path: Path) -> None:
    assert Ranking.from_file(written(tmp_path, "{}")) == Ranking()


@pytest.mark.parametrize("key", ["context", "candidates"])
def test_null_is_the_models_default(key: str) -> None:
    assert Ranking.from_dict({key: None}) == Ranking()


@pytest.mark.parametrize("data", [{}, FULL, {"model": "bm25", "priors": {"length": -0.5}}, {"model": "3mm"}])
def test_a_saved_ranking_keeps_its_meaning(data: dict[str, Any]) -> None:
    saved = Ranking.from_dict(data).as_dict()
    again = Ranking.from_dict(json.loads(json.dumps(saved)))
    assert again.as_dict() == saved
    assert again.settings() == Ranking.from_dict(data).settings()
    assert "nu" not in saved["params"] or saved["context"] == "both"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"model": "2si",\n "oops"}', ":2: not JSON"),
        ("", ":1: not JSON"),
        (b'{"model": "\xff"}', "not UTF-8"),
        ("[" * 100_000, "not JSON"),
        ('{"params": {"mu": ' + "9" * 5000 + "}}", "not JSON"),
        ("[]", "a ranking must be a JSON object, not list"),
        ("null", "a ranking must be a JSON object"),
        ('{"modle": "2si"}', "unknown ranking key 'modle': did you mean 'model'"),
        ('{"model": "bm52"}', "unknown model 'bm52': did you mean 'bm25'"),
        ('{"model": null}', "ranking key 'model' must be a name"),
        ('{"model": 7}', "ranking key 'model' must be a name, not 7"),
        ('{"context": ["both"]}', "ranking key 'context' must be a name"),
        ('{"context": "boht"}', "unknown context 'boht': did you mean 'both'"),
        ('{"candidates": "al"}', "unknown candidates 'al': did you mean 'all'"),
        ('{"candidates": true}', "ranking key 'candidates' must be a name"),
        ('{"params": null}', "ranking key 'params' must be a JSON object, not None"),
        ('{"params": [["mu", 3]]}', "ranking key 'params' must be a JSON object"),
        ('{"params": {"mu": -1}}', "parameter 'mu' must be a number in (0, inf), not -1"),
        ('{"params": {"mu": NaN}}', "parameter 'mu' must be a number"),
        ('{"params": {"mu": ' + "9" * 400 + "}}", "parameter 'mu' must be a number"),
        ('{"params": {"mu": {}}}', "parameter 'mu' must be a number"),
        ('{"params": {"my": 1}}', "unknown parameter of 2si 'my': did you mean 'mu'"),
        ('{"priors": "length"}', "ranking key 'priors' must be a JSON object"),
        ('{"priors": {"lengt": 1}}', "unknown prior 'lengt': did you mean 'length'"),
        (
            '{"priors": {"length": "much"}}',
            "the weight of prior 'length' must be a finite number, not 'much'",
        ),
    ],
)
def test_a_bad_file_is_refused_with_its_name(tmp_path: Path, content: str | bytes, message: str) -> None:
    path = written(tmp_path, content)
    with pytest.raises(InputError) as caught:
        Ranking.from_file(path)
    assert str(caught.value).startswith(str(path))
    assert message in str(caught.value)


def test_a_file_that_is_not_there_or_is_a_folder_is_refused(tmp_path: Path) -> None:
    for path in (tmp_path / "none.json", tmp_path):
        with pytest.raises(EsrError, match="cannot be read"):
            Ranking.from_file(path)


@pytest.mark.parametrize(
    ("content", "message"),
    [(None, "cannot be read"), (b"name = '\xff'", "not UTF-8"), (b"name", "is not TOML")],
)
def test_a_toml_file_that_cannot_be_used_is_refused_with_its_name(
    tmp_path: Path, content: bytes | None, message: str
) -> None:
    path = tmp_path / "file.toml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InputError, match=message) as caught:
        read_toml(path)
    assert str(caught.value).startswith(str(path))


def test_a_rankings_own_candidate_rule_wins() -> None:
    assert Ranking("bm25").as_dict()["candidates"] == "matching"
    assert Ranking("bm25", candidates="all").as_dict()["candidates"] == "all"


def test_a_wrong_ranking_cannot_be_made() -> None:
    with pytest.raises(UsageError):
        Ranking("bm25", params={"b": 2})
    with pytest.raises(UsageError):
        Ranking(priors={"length": float("nan")})
    with pytest.raises(UsageError):
        Ranking(candidates="some")
    with pytest.raises(UsageError, match="duplicated"):
        Ranking(rerank=[RankingSignal("meaning"), RankingSignal("meaning", {"w": 2.0})])


FEATURES: list[dict[str, Any]] = [
    {"feature": "subj", "form": "linear", "w": 0.5},
    {"feature": "len", "form": "log", "w": 0.1, "shift": 1.0},
    {"feature": "pos", "form": "floe", "curve": {"values": [0.0, 1.0, 2.0], "adds": [0.0, -0.51, 1.1]}},
]


def test_a_file_may_have_features(tmp_path: Path) -> None:
    ranking = Ranking.from_file(written(tmp_path, json.dumps({"features": FEATURES})))
    assert [f.feature for f in ranking.features] == ["subj", "len", "pos"]
    assert ranking.as_dict()["features"] == FEATURES
    assert Ranking.from_dict(ranking.as_dict()).as_dict() == ranking.as_dict()


@pytest.mark.parametrize(
    ("features", "message"),
    [
        ({"subj": 1}, "'features' must be a list"),
        ("subj", "'features' must be a list"),
        (None, "'features' must be a list"),
        ([{"feature": "subj", "form": "lin"}], "unknown form 'lin': did you mean 'linear'"),
        ([FEATURES[0], FEATURES[0]], "feature 'subj' with form 'linear' is duplicated"),
    ],
)
def test_features_that_are_wrong_are_refused_with_the_files_name(
    tmp_path: Path, features: Any, message: str
) -> None:
    path = written(tmp_path, json.dumps({"features": features}))
    with pytest.raises(InputError, match=message) as caught:
        Ranking.from_file(path)
    assert caught.value.where == str(path)


# Furniture

WORDS = ["flood", "dam", "town", "army", "help", "river", "rain", "north", "minister", "road"]
LINKS = ["READ MORE: {} {} {}", "Source: {} {} {}", "OPINION: {} {} Then the {} came back."]


def documents_with_furniture(count: int = 120) -> list[Document]:
    """Every third sentence is furniture, and has more of the words of queries than the others."""
    draw = random.Random(7)
    made = []
    for number in range(count):
        texts = []
        for place in range(6):
            words = [draw.choice(WORDS[:5] if place % 3 == 0 else WORDS) for _ in range(3)]
            text = draw.choice(LINKS) if place % 3 == 0 else "The {} and the {} were near the {} then."
            texts.append(text.format(*words))
        sentences = tuple(Sentence(f"d{number}.s{n}", text) for n, text in enumerate(texts))
        made.append(Document(f"d{number}", sentences))
    return made


@pytest.fixture(scope="module", params=ENGINES)
def searcher(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Searcher]:
    with open_loaded(request, tmp_path_factory.mktemp("furniture"), documents_with_furniture()) as opened:
        yield opened


def texts_of(searcher: Searcher, ranking: Ranking, query: str = "flood dam") -> list[str]:
    return [hit.text for hit in searcher.search(query, 10, ranking=ranking).hits]


def test_a_load_stores_the_feature_for_furniture_alone(searcher: Searcher) -> None:
    assert list(searcher.index.status(Features())) == ["furniture"]
    for record in searcher.index.read([f"d3.s{n}" for n in range(6)], Records()):
        assert dict(record.features) == ({"furniture": 0.875} if record.position % 3 == 0 else {})
    assert all(not s.features for s in read_document(searcher.index, "d3").sentences)


def test_furniture_comes_after_sentences_unless_the_ranking_keeps_it(searcher: Searcher) -> None:
    plain = texts_of(searcher, Ranking())
    assert sum(":" in text for text in plain) >= 4
    lowered = lower_furniture(Ranking(), searcher.index)
    assert not any(":" in text for text in texts_of(searcher, lowered))
    assert lower_furniture(lowered, searcher.index) == lowered
    assert lower_furniture(Ranking(features=[Adjustment("furniture", "linear")]), searcher.index).features


@pytest.mark.parametrize("query", ["flood dam", "town", "army help river", "minister"])
@pytest.mark.parametrize("k", [1, 7, 60, 1000])
@pytest.mark.parametrize("weight", [-12.0, -0.5])
def test_the_answer_is_that_of_the_whole_plan(searcher: Searcher, query: str, k: int, weight: float) -> None:
    lowered = Adjustment("furniture", "satu", {"w": weight, "k": 0.5})
    prepared = searcher.prepare(query, Ranking(features=[lowered]))
    whole = prepared.index.search(prepared.plan, k + 20, NO_FILTERS)
    best = prepared.search(k)
    assert not differences(whole.hits, best.hits, k)
    assert best.total == whole.total
    assert all(hit.record is not None for hit in best.hits)


def test_a_feature_that_may_raise_is_part_of_the_first_stage(searcher: Searcher) -> None:
    linear = Adjustment("furniture", "linear", {"w": -12.0})
    prepared = searcher.prepare("flood dam", Ranking(features=[linear]))
    whole = prepared.index.search(prepared.plan, 40, NO_FILTERS)
    assert not differences(whole.hits, prepared.search(10).hits, 10)
