"""Facets and completion over the API: what the page lists, and more of it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

import esr
from esr.arguments.cursor import Cursor, write_cursor
from esr.following.novelty import find_novel
from esr.index.filters import FACET_FIELDS, NO_FILTERS
from esr.query import parse
from esr.ranking import answers
from esr.ranking.completions import Completion
from esr.ranking.query_report import report_query
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import Searcher, open_searcher
from tests.support.fake_enricher import write_tiny_cross_encoder
from tests.support.page_corpus import error, get, ids
from tests.support.web_servers import slow_cross_encoder
from tests.webui.api.conftest import TEXTS, load
from webui.app import create_app
from webui.running.settings import Settings

FLOOD = Completion("flood", "word", 2, "storm flood")


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """What is asked for, where everything is completed to a flood."""
    questions: list[tuple[str, int]] = []

    def complete(searcher: Searcher, text: str, limit: int) -> Sequence[Completion]:
        questions.append((text, limit))
        return [FLOOD]

    monkeypatch.setattr("webui.api.handlers.complete_query", complete)
    return questions


def test_completions_have_their_kind_their_count_and_the_query(
    client: FlaskClient, asked: list[tuple[str, int]]
) -> None:
    answer = get(client, "/complete", q="storm fl")
    assert answer == {
        "completions": [{"text": "flood", "kind": "word", "frequency": 2, "query": "storm flood"}]
    }
    get(client, "/complete", q="storm fl", limit=3)
    assert asked == [("storm fl", 8), ("storm fl", 3)]


def test_nothing_is_completed_to_nothing(client: FlaskClient, asked: list[tuple[str, int]]) -> None:
    for query in ("", "  "):
        assert get(client, "/complete", q=query) == {"completions": []}
    assert get(client, "/complete") == {"completions": []}
    assert not asked


@pytest.mark.parametrize("limit", [0, 21, "many"])
def test_a_bad_limit_is_named(client: FlaskClient, limit: object) -> None:
    assert error(client, "/complete", q="st", limit=limit)["field"] == "limit"


Q = {"q": "earthquake relief China"}
MATCHING = Q | {"candidates": "matching"}


def values(client: FlaskClient, field: str, **arguments: Any) -> dict[str, int]:
    (facet,) = get(client, "/facets", field=field, **Q, **arguments)["facets"]
    assert facet["field"] == field
    return {value["value"]: value["count"] for value in facet["values"]}


def test_each_count_is_of_sentences_with_a_word_of_the_query_and_the_value(real: FlaskClient) -> None:
    facets = get(real, "/facets", **Q)["facets"]
    assert [facet["field"] for facet in facets] == list(FACET_FIELDS)
    for name, count in values(real, "location").items():
        assert get(real, "/search", entity=f"location:{name}", **MATCHING)["total"] == count
    for name, count in values(real, "source").items():
        assert get(real, "/search", source=name.upper(), **MATCHING)["total"] == count


def test_a_size_lists_so_many_and_says_whether_there_are_more(real: FlaskClient) -> None:
    everything = values(real, "source", size=1000)
    assert len(everything) > 1
    for size in (1, len(everything) - 1, len(everything)):
        (facet,) = get(real, "/facets", field="source", size=size, **Q)["facets"]
        assert len(facet["values"]) == size
        assert facet["more"] == (size < len(everything))


def test_a_field_is_counted_without_its_own_filter_and_with_the_others(real: FlaskClient) -> None:
    assert values(real, "location", entity="China") == values(real, "location")
    assert sum(values(real, "source", entity="China").values()) < sum(values(real, "source").values())


def test_words_in_no_document_have_no_values(real: FlaskClient) -> None:
    facets = get(real, "/facets", q="qwertyuiop")["facets"]
    assert len(facets) == len(FACET_FIELDS) and not any(facet["values"] or facet["more"] for facet in facets)


def test_names_and_sources_complete_what_is_typed(real: FlaskClient) -> None:
    (china,) = get(real, "/values", field="entity", prefix="CHI")["values"]
    assert (china["value"], china["type"]) == ("China", "location")
    assert get(real, "/search", entity="China", q="China", candidates="all")["total"] == china["count"]
    (typed,) = get(real, "/values", field="entity", prefix="location:ch")["values"]
    assert typed["value"] == "location:China"
    assert get(real, "/values", field="entity", prefix="person:ch")["values"] == []
    sources = get(real, "/values", field="source", prefix="wire", size=100)["values"]
    assert "Northern Wire" in [source["value"] for source in sources]
    assert len(get(real, "/values", field="source", size=1)["values"]) == 1


@pytest.mark.parametrize("path, known", [("/facets", "organization"), ("/values", "entity")])
def test_an_unknown_field_is_refused(real: FlaskClient, path: str, known: str) -> None:
    failure = (
        error(real, path, 400, field="organisatio", q="storm")
        if path == "/facets"
        else error(real, path, 400, field="entit")
    )
    assert failure["field"] == "field" and known in failure["message"]


def test_an_answer_names_unknown_sources_and_names_and_the_nearest(real: FlaskClient) -> None:
    answer = get(real, "/search", source="Northen Wire", entity=["Chine", "person:China", "Xyz"], **Q)
    assert answer["total"] == 0
    assert answer["unknown_filters"] == [
        {
            "field": "source",
            "value": "Northen Wire",
            "message": "unknown source 'Northen Wire': did you mean 'Northern Wire'?",
            "nearest": "Northern Wire",
        },
        {
            "field": "entity",
            "value": "Chine",
            "message": "unknown name 'Chine': did you mean 'China'?",
            "nearest": "China",
        },
        {
            "field": "entity",
            "value": "person:China",
            "message": "'China' is a location in this index, not: person; search for location:China",
            "nearest": "location:China",
        },
        {
            "field": "entity",
            "value": "Xyz",
            "message": "unknown name 'Xyz': no sentence has it",
            "nearest": None,
        },
    ]
    assert get(real, "/search", source="northern wire", entity="CHINA", **Q)["unknown_filters"] == []


@pytest.mark.slow
def test_an_answer_is_that_of_the_library_with_an_offset_and_a_next_page(
    client: FlaskClient, where: str
) -> None:
    found = get(client, "/search", q="storm flood", k=5, fold="no", passages="no", furniture="yes")
    with open_searcher(where) as searcher:
        prepared = searcher.prepare(parse("storm flood"), Ranking())
        expected = answers.answer_dict(prepared.search(5), report_query(prepared, NO_FILTERS))
    assert found.pop("offset") == 0
    assert found.pop("next")
    for hit in found["hits"]:
        alone = {"passage": [], "folded": [], "more": 0, "reason": None}
        assert {name: hit.pop(name) for name in alone} == alone
    assert found.pop("documents") is None
    # What was scored depends on whether the kernel is loaded yet.
    varying = {"took_ms": 0, "scored": 0, "exhaustive": None}
    assert found.pop("by_default") == "words" and expected.pop("by_default") is None
    assert found | varying == expected | varying


@pytest.mark.slow
def test_the_ranking_and_the_filters_reach_the_engine(client: FlaskClient, where: str) -> None:
    found = get(
        client,
        "/search",
        q="storm",
        model="dir",
        params__mu=50,
        feature="subj:linear:0.5",
        source="The Example",
        passages="no",
        furniture="yes",
    )
    with open_searcher(where) as searcher:
        features = [{"feature": "subj", "form": "linear", "w": 0.5}]
        expected = searcher.search("storm", model="dir", params={"mu": 50}, features=features)
    assert [(hit["sentence_id"], hit["score"]) for hit in found["hits"]] == [h[:2] for h in expected.hits]
    assert get(client, "/search", q="storm", source="nobody")["total"] == 0
    assert ids(get(client, "/search", q="storm", document="b", passages="no")) == ["b.s0", "b.s1"]


@pytest.mark.slow
def test_pages_fit_together(client: FlaskClient) -> None:
    complete = get(client, "/search", q="storm", fold="no", passages="no", k=100)
    assert complete["next"] is None
    found, after = (
        ids(get(client, "/search", q="storm", fold="no", passages="no", k=7)),
        get(client, "/search", q="storm", fold="no", passages="no", k=7)["next"],
    )
    while after:
        page = get(client, "/search", q="storm", fold="no", passages="no", k=7, cursor=after)
        assert page["offset"] == len(found)
        found, after = found + ids(page), page["next"]
    assert found == ids(complete)
    assert len(found) == complete["total"] > 60
    assert ids(get(client, "/search", q="storm", fold="no", passages="no", k=7, offset=14)) == found[14:21]


@pytest.mark.slow
def test_a_cursor_may_have_its_former_name_which_is_that_of_a_date_now(client: FlaskClient) -> None:
    first = get(client, "/search", q="storm", k=2)
    second = get(client, "/search", q="storm", k=2, cursor=first["next"])
    assert ids(get(client, "/search", q="storm", k=2, after=first["next"])) == ids(second) != ids(first)
    dated = get(client, "/search", q="storm", k=2, after="1990")
    assert dated["offset"] == 0
    both = get(client, "/search", q="storm", k=2, after="1990", cursor=dated["next"])
    assert both["offset"] == 2
    body = {"q": "storm", "k": 2, "after": first["next"], "filters": {"from": "1990", "to": "2090"}}
    named = {"q": "storm", "k": 2, "cursor": first["next"], "filters": {"after": "1990", "before": "2091"}}
    former, current = (client.post("/api/v1/search", json=json).get_json() for json in (body, named))
    assert (ids(former), former["total"], former["offset"]) == (ids(current), current["total"], 2)
    for twice in ({"after": first["next"], "cursor": first["next"]}, {"from": "2017", "after": "2018"}):
        assert "give one" in error(client, "/search", 400, q="storm", **twice)["message"]


@pytest.mark.slow
def test_folded_pages_fit_together(client: FlaskClient) -> None:
    complete = get(client, "/search", q="storm flood", k=100)
    first = get(client, "/search", q="storm flood", k=2)
    second = get(client, "/search", q="storm flood", k=2, cursor=first["next"])
    assert ids(first) + ids(second) == ids(complete)[:4]


@pytest.mark.slow
@pytest.mark.parametrize(
    "changed", [{"z": ["Another storm."]}, {"b": [text.replace("flood", "fire") for text in TEXTS["b"]]}]
)
def test_a_next_page_after_a_load_is_rejected(tmp_path: Path, changed: dict[str, list[str]]) -> None:
    where = load(tmp_path / "index")
    client = create_app(open_searcher(where)).test_client()
    after = get(client, "/search", q="storm", k=2)["next"]
    load(tmp_path / "index", {**TEXTS, **changed}, "replace")
    failure = error(client, "/search", 409, q="storm", k=2, cursor=after)
    assert (failure["code"], failure["field"]) == ("index_changed", "cursor")
    assert get(client, "/search", q="storm", k=2)["next"] != after


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"cursor": "x"}, "cursor"),
        ({"cursor": "é"}, "cursor"),
        ({"cursor": write_cursor(Cursor(5, "0" * 16)), "offset": 3}, "cursor"),
        ({"cursor": write_cursor(Cursor(1000, "0" * 16))}, "cursor"),
        ({"offset": -1}, "offset"),
        ({"offset": 995}, "offset"),
        ({"offset": 1000}, "offset"),
        ({"k": 0}, "k"),
        ({"k": 101}, "k"),
        ({"k": "ten"}, "k"),
        ({"k": "١"}, "k"),
        ({"sort": "size"}, "sort"),
        ({"group": "source"}, "group"),
        ({"model": "dri"}, "model"),
        ({"params.mu": "much"}, "params.mu"),
        ({"prior.length": "x"}, "prior.length"),
        ({"feature": "nosuch:linear"}, "feature"),
        ({"rerank": "nosuch"}, "rerank"),
        ({"depth": 1001}, "depth"),
        ({"from": "someday"}, "from"),
        ({"index": "other"}, "index"),
    ],
)
def test_a_bad_argument_is_named(client: FlaskClient, arguments: dict[str, str], field: str) -> None:
    failure = error(
        client, "/search", q="storm", **{name.replace(".", "__"): v for name, v in arguments.items()}
    )
    assert (failure["code"], failure["field"]) == ("bad_input", field)


def test_the_server_has_one_cross_encoder_and_visitors_no_other(
    client: FlaskClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ESR_CROSS_ENCODER", str(write_tiny_cross_encoder(tmp_path / "cross")))
    assert get(client, "/search", q="storm")["unread"] is None
    answer = get(client, "/search", q="storm", rerank="cross:2:depth=20")
    assert answer["unread"] == 0 and answer["hits"]
    body = {"q": "storm", "ranking": {"rerank": [{"signal": "cross", "w": 2, "depth": 20}]}}
    assert ids(client.post("/api/v1/search", json=body).json) == ids(answer)
    for other in ("cross:http://localhost:9/rerank", "cross:hf:a/b", "cross:/tmp"):
        failure = error(client, "/search", q="storm", rerank=other)
        assert "server chooses the cross-encoder" in failure["message"] and failure["field"] == "rerank"
        body = {"q": "storm", "ranking": {"rerank": [{"signal": other.replace(":", " ", 1)}]}}
        failure = client.post("/api/v1/search", json=body).json["error"]
        assert "server chooses the cross-encoder" in failure["message"]
    assert "at most 5" in error(client, "/search", q="storm", rerank="cross:seconds=60")["message"]
    slow_cross_encoder("slow", monkeypatch)
    monkeypatch.setenv("ESR_CROSS_ENCODER", "slow")
    page = client.get("/search?q=storm&rerank=cross:depth=30:seconds=0.05").get_data(as_text=True)
    assert re.search(r"cross-encoder had no time for \d+ of the sentences\. They keep their order", page)


@pytest.mark.slow
@pytest.mark.parametrize(
    "query",
    [
        "",
        "   ",
        "the of",
        "?!",
        "x" * 2001,
        " ".join(f"w{n}" for n in range(201)),
        "a\x00b",
        "\u202eabc",
        "a\x1bb",
    ],
)
def test_a_query_that_cannot_be_searched_for_is_rejected(client: FlaskClient, query: str) -> None:
    failure = error(client, "/search", q=query)
    assert (failure["code"], failure["field"]) == ("bad_input", "q")


@pytest.mark.slow
@pytest.mark.parametrize("size", [1_000_000, 40_000])
def test_an_address_that_is_too_long_is_rejected(client: FlaskClient, size: int) -> None:
    assert "bytes of arguments" in error(client, "/search", q="w " * (size // 2))["message"]


@pytest.mark.slow
def test_markup_and_wildcards_are_ordinary_words_without_syntax(client: FlaskClient) -> None:
    for query in (
        "<b>storm</b>",
        "storm* OR _id:*",
        "{{storm}}",
        "storm'); doc['x'].value",
        '"storm',
        "storm~2^3",
    ):
        answer = get(client, "/search", q=query, syntax="none")
        assert answer["total"] >= 60
        assert {group["reading"] for group in answer["query"]["groups"]} <= {"wanted", "ignored"}
        get(client, "/search", q=query)


@pytest.mark.slow
def test_an_answer_says_how_the_query_was_read_and_what_matches_it(client: FlaskClient) -> None:
    query = 'storm "took a bridge" -hail the tax:x'
    report = get(client, "/search", q=query)["query"]
    groups = {query[group["start"] : group["end"]]: group["reading"] for group in report["groups"]}
    assert groups == {
        "storm": "wanted",
        '"took a bridge"': "required",
        "-hail": "excluded",
        "the": "ignored",
        "tax:x": "wanted",
    }
    assert (report["all_words"], report["any_word"], report["notes"]) == (0, 1, [])
    assert get(client, "/search", q="storm flood")["query"]["all_words"] == 1
    (note,) = get(client, "/search", q="storm - flood")["query"]["notes"]
    assert (note["start"], note["end"]) == (6, 7)


@pytest.mark.slow
def test_all_words_can_be_required(client: FlaskClient) -> None:
    assert ids(get(client, "/search", q="storm flood", require="all")) == ["b.s0"]
    assert get(client, "/search", q="storm flood")["total"] > 1


@pytest.mark.slow
@pytest.mark.parametrize(
    "path", ["/search?", "/explain?id=a.s1&", "/document?id=a&", "/compare?vs.model=bm25&", "/query?"]
)
def test_the_reading_of_a_query_is_an_argument_wherever_a_query_is(client: FlaskClient, path: str) -> None:
    address = f"/api/v1{path}q=storm"
    plain = client.get(address)
    assert client.get(f"{address}&literal=yes&require=all").status_code == plain.status_code
    for name in ("literal", "require"):
        wrong = client.get(f"{address}&{name}=some")
        assert (wrong.status_code, wrong.get_json()["error"]["field"]) == (400, name)


@pytest.mark.slow
def test_sorting_and_grouping_work_as_on_the_page(client: FlaskClient) -> None:
    grouped = get(client, "/search", q="storm flood", group="document", fold="no", furniture="yes", k=3)
    assert len({hit["document_id"] for hit in grouped["hits"]}) == 3
    assert len(grouped["hits"]) == 6
    more = {"cursor": grouped["next"], "furniture": "yes"}
    second = get(client, "/search", q="storm flood", group="document", fold="no", k=3, **more)
    assert not {hit["document_id"] for hit in grouped["hits"]} & {
        hit["document_id"] for hit in second["hits"]
    }
    assert get(client, "/search", q="storm flood", group="document", fold="no", k=100)["next"] is None
    assert ids(get(client, "/search", q="flood", sort="date", k=2)) == ids(
        get(client, "/search", q="flood", k=2, passages="no")
    )


@pytest.mark.slow
def test_where_sentences_are_grouped_pages_count_documents_and_the_answer_says_how_many(
    client: FlaskClient,
) -> None:
    first = get(client, "/search", q="storm flood", group="document", fold="no", k=20)
    second = get(client, "/search", q="storm flood", group="document", fold="no", k=20, cursor=first["next"])
    assert (first["documents"], second["documents"], second["next"]) == (32, 32, None)
    assert [len({hit["document_id"] for hit in page["hits"]}) for page in (first, second)] == [20, 12]
    assert first["total"] == len([*first["hits"], *second["hits"]]) > 32
    assert get(client, "/search", q="storm flood", k=20)["documents"] is None


@pytest.mark.slow
def test_repeats_are_folded_as_on_the_page_unless_told_otherwise(tmp_path: Path) -> None:
    said = "The storm took the old bridge over the river near the northern town"
    texts = {f"r{n}": [f"{said}, police said {'again ' * (n % 2)}."] for n in range(4)}
    client = create_app(open_searcher(load(tmp_path / "index", {**texts, **TEXTS}))).test_client()
    folded = get(client, "/search", q="bridge river", k=2, candidates="matching")
    (first, second) = folded["hits"]
    assert {first["sentence_id"], *ids({"hits": first["folded"]})} == {f"r{n}.s0" for n in range(4)}
    assert (second["sentence_id"], second["folded"]) == ("b.s1", [])
    assert folded["next"] is None
    plain = get(client, "/search", q="bridge river", k=10, candidates="matching", fold="no")
    assert len(plain["hits"]) == folded["total"] == 5
    assert {len(hit["folded"]) for hit in plain["hits"]} == {0}


@pytest.mark.slow
def test_a_short_list_has_a_next_page_only_if_there_is_something_on_it(tmp_path: Path) -> None:
    letters = [
        f"Letter {n} is about {'the storm' if n in (50, 150) else f'hat{n} and coat{n}'}." for n in range(200)
    ]
    client = create_app(open_searcher(load(tmp_path / "letters", {"l": letters}))).test_client()
    first = get(client, "/search", q="storm")
    assert (len(first["hits"]), first["total"], first["next"]) == (2, 200, None)
    assert "Show more" not in client.get("/search?q=storm").text
    copies = {f"c{n}": ["A storm took the bridge."] for n in range(30)}
    wire = load(
        tmp_path / "wire", {**copies, "z": ["Some other long sentence about hats and one storm at sea."]}
    )
    client = create_app(open_searcher(wire)).test_client()
    for k, pages in ((2, 1), (1, 2)):
        listed, cursor = [], {}
        for _ in range(pages):
            page = get(client, "/search", q="storm", k=k, **cursor)
            listed += [hit["document_id"] for hit in page["hits"]]
            cursor = {"cursor": page["next"]}
        assert (listed, page["next"]) == (["c0", "z"], None)


@pytest.mark.slow
def test_only_what_is_new_comes_page_by_page(client: FlaskClient, where: str) -> None:
    with open_searcher(where) as searcher:
        expected = find_novel(searcher.prepare("storm", Ranking()), 100, threshold=0.5)
    first = get(client, "/search", q="storm", novel="yes", overlap=0.5, k=1)
    found, after = ids(first), first["next"]
    while after:
        page = get(client, "/search", q="storm", novel="yes", overlap=0.5, k=1, cursor=after)
        found, after = found + ids(page), page["next"]
    assert found == [hit.sentence_id for hit in expected.answer.hits]
    assert len(found) > 1


@pytest.mark.slow
def test_limits_come_from_the_settings(where: str) -> None:
    settings = Settings(max_k=3, default_k=2, max_depth=4, query_chars=8, query_terms=1)
    client = create_app(open_searcher(where), settings).test_client()
    assert len(get(client, "/search", q="storm")["hits"]) == 2
    assert get(client, "/search", q="storm", offset=2)["next"] is None
    first = get(client, "/search", q="storm", k=3)
    last = get(client, "/search", q="storm", k=3, cursor=first["next"])
    assert (ids(first) + ids(last), last["next"]) == (
        ids(get(client, "/search", q="storm", k=2)) + ids(get(client, "/search", q="storm", offset=2)),
        None,
    )
    for given in (
        {"q": "storm", "k": 4},
        {"q": "storm", "offset": 3},
        {"q": "a storm b"},
        {"q": "storm hail"},
    ):
        error(client, "/search", **given)


@pytest.mark.slow
@pytest.mark.parametrize("twin", ["/search.json", "/explain.json", "/document.json", "/compare.json"])
def test_the_addresses_of_pages_with_json_answer_as_the_api_does(app: Flask, twin: str) -> None:
    client = app.test_client()
    operation = twin.removesuffix(".json")
    address = "?q=storm+flood&vs.model=bm25" if operation == "/compare" else "?q=storm+flood"
    address += {"/explain": "&id=a.s1", "/document": "&id=a"}.get(operation, "")
    api = client.get(f"/api/v1{operation}{address}").get_json()
    page = client.get(twin + address).get_json()
    assert "error" not in api

    def without_times(data: object) -> object:
        if isinstance(data, dict):
            return {name: without_times(value) for name, value in data.items() if name != "took_ms"}
        return [without_times(item) for item in data] if isinstance(data, list) else data

    assert without_times(page) == without_times(api)
    assert client.get(twin + address + "&k=5&sort=date&fold=no&source=x").status_code == 200
    assert client.get(twin + "?q=storm&nosuch=1").get_json()["error"]["field"] == "nosuch"


# Counts


@pytest.mark.slow
@pytest.mark.parametrize(
    "query, number", [("title:notes", 4), ('"it is" storm', 2), ("i*", 2), ("source:example", 4), ("+the", 1)]
)
def test_conditions_that_decide_give_one_count_in_the_api_in_python_and_on_the_page(
    tmp_path: Path, query: str, number: int
) -> None:
    """Two of the four sentences have no term."""
    texts = {"notes": ["It is what it is.", "__", "It is a storm.", "The storm of the century."]}
    where = load(tmp_path / "index", texts)
    client = create_app(open_searcher(where), Settings()).test_client()
    asked = {"q": query.replace("example", '"The Example"'), "feature": "len:log"}
    answer, facets = get(client, "/search", **asked), get(client, "/facets", field="source", **asked)
    (source,) = facets["facets"]
    assert answer["total"] == answer["query"]["matching"] == source["values"][0]["count"] == number
    assert f"{number} sentence" in client.get("/search", query_string=asked).text
    with esr.open(where) as index:
        hits = index.search(asked["q"], feature=["len:log"])
        assert (hits.total, hits.matching, hits.facets("source")["source"]) == (
            number,
            number,
            {"The Example": number},
        )
