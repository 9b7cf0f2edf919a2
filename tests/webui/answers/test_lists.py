"""What hits of the API hold, and how hits become entries of lists."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from html import unescape
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from flask.testing import FlaskClient

from esr.index.hits import Hit
from esr.ranking.prepared_query import Answer, PreparedQuery
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import Searcher, open_searcher
from esr.text.document import Document, Sentence
from tests.support.elasticsearch import fresh, load
from tests.support.fake_index import STORM, FakeIndex
from tests.support.page_corpus import error, get, ids
from webui.answers.entries import Entry, arrange_hits, build_entries, hits_to_fetch
from webui.answers.explanations import ExplainedSentence, explain_sentence
from webui.answers.lists import prepare_search, rank_and_arrange
from webui.api.operation import BASE
from webui.app import create_app
from webui.arguments.request import Arrangement, SearchRequest
from webui.running.settings import Settings


def document(id: str, texts: list[str], **known: Any) -> Document:
    return Document(id, tuple(Sentence(f"{id}.s{n}", text) for n, text in enumerate(texts)), **known)


DOCUMENTS = [
    document(
        "a",
        ["It blew all night.", "The storms damaged forty houses.", "Nobody was hurt.", "Help came."],
        title="After the storm",
        source="The Example",
        metadata={"desk": "Berlin", "print": {"page": 7, "extras": [1, 2]}},
    ),
    document("b", ["A storm and a flood came.", "The flood took a bridge."], metadata={"desk": "Bonn"}),
    document("c", ["A stormy day \U0001f327 in the storm."]),
]


@pytest.fixture(
    scope="module", params=["folder", pytest.param("elasticsearch", marks=pytest.mark.elasticsearch)]
)
def client(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[FlaskClient]:
    with ExitStack() as stack:
        if request.param == "folder":
            where = str(tmp_path_factory.mktemp("hits") / "index")
        else:
            where = stack.enter_context(fresh(request.getfixturevalue("elasticsearch_url")))
        load(where, DOCUMENTS)
        yield create_app(stack.enter_context(open_searcher(where)), Settings(access_log=0)).test_client()


def hits(client: FlaskClient, path: str = "/search", **arguments: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = get(client, path, **{"q": "storm", **arguments})["hits"]
    return found


def by_id(client: FlaskClient, **arguments: Any) -> dict[str, dict[str, Any]]:
    return {hit["sentence_id"]: hit for hit in hits(client, **arguments)}


def test_a_hit_has_the_chosen_fields_and_its_id(client: FlaskClient) -> None:
    whole = hits(client)
    chosen = hits(client, fields=["text, score", "title"])
    names = ("sentence_id", "text", "score", "title")
    assert chosen == [{name: hit[name] for name in names} for hit in whole]
    assert hits(client, fields="folded") == [
        {"sentence_id": hit["sentence_id"], "folded": hit["folded"]} for hit in whole
    ]
    (first, *_) = hits(client, q="storm flood", fields="text,passage,more,reason")
    texts = [{"sentence_id": s.id, "text": s.text} for s in DOCUMENTS[1].sentences]
    assert first == {**texts[0], "passage": texts, "more": 0, "reason": None}
    similar = get(client, "/similar", id="a.s1", fields="text", own="yes")["hits"]
    assert similar and all(hit.keys() == {"sentence_id", "text"} for hit in similar)


def test_a_list_that_needs_more_hits_runs_the_second_stage_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    where = str(tmp_path / "index")
    texts = [f"The storm of hour {n} blew." for n in range(9)]
    load(where, [document(f"d{n}", texts, date=f"2017-01-{n + 1:02}") for n in range(20)])
    search = SearchRequest(
        "storm hour", Ranking.from_file("latest"), arrangement=Arrangement(fold=False, per_document=1)
    )
    asked: list[int] = []
    ask = PreparedQuery.search

    def count(prepared: PreparedQuery, k: int, *args: Any, **options: Any) -> Answer:
        asked.append(k)
        return ask(prepared, k, *args, **options)

    with open_searcher(where) as searcher:
        prepared = prepare_search(searcher, search, Settings())
        monkeypatch.setattr(PreparedQuery, "search", count)
        found = rank_and_arrange(prepared, search, 10, Settings())
        assert len(asked) == 1
        passages = arrange_hits(ask(prepared, 180).hits, search.arrangement, prepared)
    best = [passage.best for passage in passages]
    assert len(found.entries) >= 10
    assert [entry.best for entry in found.entries] == best[: len(found.entries)]


def test_an_article_has_as_many_hits_as_are_asked_for(client: FlaskClient) -> None:
    for order in ("score", "date", "oldest"):
        found = hits(client, q="the OR a", sort=order, per_document=1)
        documents = [hit["document_id"] for hit in found]
        assert documents and len(set(documents)) == len(documents)
    (only,) = hits(client, q="flood", passages="no", per_document=1)
    assert only["document_id"] == "b" and only["more"] == 1
    assert len(hits(client, q="flood", passages="no")) == 2


def test_pages_of_one_hit_an_article_continue_each_other(client: FlaskClient) -> None:
    asked = {"q": "storm flood", "per_document": 1, "fold": "no"}
    whole = get(client, "/search", **asked)["hits"]
    pages: list[dict[str, Any]] = []
    cursor: dict[str, str] | None = {}
    while cursor is not None:
        page = get(client, "/search", **asked, k=1, **cursor)
        pages += page["hits"]
        cursor = {"cursor": page["next"]} if page["next"] else None
    assert [hit["sentence_id"] for hit in pages] == [hit["sentence_id"] for hit in whole]
    assert len({hit["document_id"] for hit in whole}) == len(whole) > 1


def test_page_and_api_list_what_is_behind_a_document_with_hundreds_of_hits(tmp_path: Path) -> None:
    where, others = str(tmp_path / "index"), [f"other{number}" for number in range(12)]
    short = [document(id, [f"A storm was mentioned here by chance, {id}."]) for id in others]
    load(where, [document("long", [f"Storm, storm {number}." for number in range(300)]), *short])
    with open_searcher(where) as searcher:
        client = create_app(searcher, Settings(access_log=0)).test_client()
        first = get(client, "/search", q="storm", model="dir", per_document=1)
        second = get(client, "/search", q="storm", model="dir", per_document=1, cursor=first["next"])
        html = client.get("/search?q=storm&model=dir").text
    listed = [hit["document_id"] for page in (first, second) for hit in page["hits"]]
    assert (listed, len(first["hits"]), second["next"]) == (["long", *others], 10, None)
    assert html.count("data-sentence-id") == 10 and "Show more sentences" in html


def test_a_card_counts_what_it_leaves_out_and_leads_to_it(client: FlaskClient) -> None:
    html = client.get("/search?q=came&passages=yes").text
    assert "2 sentences with this word in 2 articles" in html and "more sentence here" not in html
    html = client.get("/search?q=flood&sort=date").text
    assert html.count("data-sentence-id") == 1 and "2 sentences with all words in 1 article" in html
    (address,) = re.findall(r'href="([^"]+)">1 more sentence here', html)
    html = client.get(unescape(address)).text
    assert html.count("data-sentence-id") == 2 and "more sentence here" not in html


def test_a_field_that_hits_do_not_have_is_an_error(client: FlaskClient) -> None:
    for name, message in {
        "txt": "did you mean 'text'",
        "author": "did you mean 'authors'",
        "meta.": "known",
    }.items():
        found = error(client, "/search", q="storm", fields=f"score,{name}")
        assert found["field"] == "fields" and message in found["message"]


def test_matches_are_where_words_of_the_query_stand(client: FlaskClient) -> None:
    found = by_id(client, q="storm flood", fields="text,matches", passages="no")
    words = {
        id: [hit["text"][match["start"] : match["end"]] for match in hit["matches"]]
        for id, hit in found.items()
    }
    assert words["a.s1"] == ["storms"] and words["b.s0"] == ["storm", "flood"]
    assert words["c.s0"][-1] == "storm"  # after a character outside the basic plane
    assert words["a.s0"] == []


def test_the_metadata_of_a_document_is_in_its_hits(client: FlaskClient) -> None:
    whole = by_id(client, fields="metadata")
    assert whole["a.s1"]["metadata"] == DOCUMENTS[0].metadata
    assert whole["c.s0"]["metadata"] == {}
    keys = by_id(client, fields="meta.desk,meta.print.page,meta.nope")
    assert keys["a.s1"] == {"sentence_id": "a.s1", "metadata": {"desk": "Berlin", "print.page": 7}}
    assert keys["b.s0"]["metadata"] == {"desk": "Bonn"}


def test_a_permalink_leads_to_the_sentence(client: FlaskClient) -> None:
    (hit,) = hits(client, document="b", require="all", q="storm flood", fields="permalink")[:1]
    leads = client.get(hit["permalink"].removeprefix("http://localhost"))
    assert (leads.status_code, leads.headers["Location"]) == (302, "/document?id=b#s0")


def test_a_window_has_the_sentences_around_a_hit(client: FlaskClient) -> None:
    texts = [sentence.text for sentence in DOCUMENTS[0].sentences]
    for n in (1, 2, 20):
        window = by_id(client, window=n, fields="text")["a.s1"]["window"]
        assert window == {"before": texts[:1], "after": texts[2 : 2 + n]}
    assert by_id(client, window=2, passages="no")["a.s3"]["window"] == {"before": texts[1:3], "after": []}
    assert by_id(client, window=2, passages="no")["b.s1"]["window"] == {
        "before": ["A storm and a flood came."],
        "after": [],
    }
    assert "window" not in by_id(client, window=0)["a.s1"]


def characters(found: list[dict[str, Any]]) -> int:
    windows = [hit.get("window", {"before": [], "after": []}) for hit in found]
    around = [text for window in windows for text in (*window["before"], *window["after"])]
    return sum(map(len, [*around, *(hit["text"] for hit in found)]))


@pytest.mark.parametrize("window", [0, 1, 3])
def test_the_texts_of_an_answer_keep_within_the_budget(client: FlaskClient, window: int) -> None:
    whole = hits(client, fields="text", fold="no")
    for budget in range(1, 400, 23):
        found = hits(client, fields="text", fold="no", window=window, budget=budget)
        assert characters(found) <= budget or len(found) == 1
        listed = [hit["sentence_id"] for hit in found]
        assert listed == [hit["sentence_id"] for hit in whole[: len(listed)]]
        if len(found) < len(whole):
            assert characters(whole[: len(found) + 1]) > budget


def test_a_budget_gives_the_nearest_sentences_to_all_hits_first(client: FlaskClient) -> None:
    arguments = {"document": "a", "fields": "text", "fold": "no", "passages": "no", "window": 2}
    found = by_id(client, **arguments)
    size = sum(len(hit["text"]) for hit in found.values())
    nearest = sum(
        len(t) for n in range(4) for t in [s.text for s in DOCUMENTS[0].sentences[max(0, n - 1) : n + 2]]
    )
    limited = by_id(client, **arguments, budget=nearest)
    assert nearest > size and characters([*limited.values()]) == nearest
    assert limited["a.s1"]["window"] == {"before": ["It blew all night."], "after": ["Nobody was hurt."]}
    assert limited["a.s0"]["window"] == {"before": [], "after": ["The storms damaged forty houses."]}


def test_pages_of_a_budget_fit_together(client: FlaskClient) -> None:
    whole, found, token = ids({"hits": hits(client)}), [], None
    for _ in range(20):
        page = get(client, "/search", q="storm", budget=60, **({"after": token} if token else {}))
        found += ids(page)
        token = page["next"]
        if token is None:
            break
    assert found == whole


def test_a_search_as_json_is_the_same_search(client: FlaskClient) -> None:
    arguments = {
        "q": "storm",
        "k": 3,
        "fields": ["text", "meta.desk"],
        "window": 1,
        "fold": "no",
        "overlap": 0.5,
    }
    filters = {"meta": ["desk=berlin", "desk=bonn"], "document": ["a", "b"]}
    ranking = {"model": "dir", "params": {"mu": 9}}
    body = {**arguments, "k": 3.0, "filters": filters, "ranking": ranking}  # JSON has no other numbers
    answer = client.post(f"{BASE}/search", json=body)
    assert answer.status_code == 200, answer.text
    alone = get(client, "/search", **arguments, **filters, model="dir", params__mu=9)
    assert answer.get_json() | {"took_ms": 0} == alone | {"took_ms": 0}
    assert len(alone["hits"]) == 2


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"q": 7}, "q"),
        ({"k": "3"}, "k"),
        ({"q": "a\x00b"}, "q"),
        ({"sort": "age"}, "sort"),
        ({"filters": {"source": "x"}}, "filters.source"),
        ({"filters": {"from": "soon"}}, "from"),
        ({"ranking": {"model": "nope"}}, "ranking"),
        ({"fields": ["nope"]}, "fields.0"),
        ({"model": "dir"}, None),
        ({"offset": 1, "after": "x"}, "cursor"),
    ],
)
def test_an_error_in_a_body_names_its_key(
    client: FlaskClient, change: dict[str, Any], field: str | None
) -> None:
    answer = client.post(f"{BASE}/search", json={"q": "storm"} | change)
    assert (answer.status_code, answer.get_json()["error"]["field"]) == (400, field)


def test_an_error_in_a_body_keeps_the_case_of_its_key(client: FlaskClient) -> None:
    error = client.post(f"{BASE}/search", json={"q": "storm", "filters": {"source": "x"}}).get_json()["error"]
    assert error["message"] == "Argument 'filters.source': 'x' is not of type 'array'."


ROWS = [
    ("a", "2017-03-01"),
    ("b", "2018"),
    ("a", "2017-03-01"),
    ("c", None),
    ("d", "not a date"),
    ("b", "2018"),
]
HITS = [
    Hit(f"s{n}", -float(n), STORM._replace(text=f"word{n}", document_id=document, date=date))
    for n, (document, date) in enumerate(ROWS)
]

PREPARED = cast(
    PreparedQuery, SimpleNamespace(index=FakeIndex(), plan=SimpleNamespace(terms=()), ranking=Ranking())
)
"""A query without terms: no sentence lacks its words."""


def entries_of(hits: Sequence[Hit], arrangement: Arrangement) -> list[Entry]:
    return build_entries(arrange_hits(hits, arrangement, PREPARED), arrangement)


def arranged_ids(arrangement: Arrangement) -> list[list[str]]:
    return [[each.best.sentence_id for each in entry.passages] for entry in entries_of(HITS, arrangement)]


def test_sorted_by_score_hits_keep_the_order_of_the_engine() -> None:
    assert arranged_ids(Arrangement()) == [["s0"], ["s1"], ["s2"], ["s3"], ["s4"], ["s5"]]


def test_sentences_are_grouped_by_document_at_the_rank_of_the_best() -> None:
    assert arranged_ids(Arrangement(group=True)) == [["s0", "s2"], ["s1", "s5"], ["s3"], ["s4"]]


@pytest.mark.parametrize(
    "arrangement",
    [
        Arrangement(),
        Arrangement("date"),
        Arrangement(group=True),
        Arrangement("date", True),
        Arrangement(fold=False),
    ],
)
def test_requesting_more_entries_moves_none_of_the_first(arrangement: Arrangement) -> None:
    def first_ids(k: int) -> list[str]:
        hits = HITS[: hits_to_fetch(arrangement, k, 3)]
        return [entry.best.sentence_id for entry in entries_of(hits, arrangement)[:k]]

    assert first_ids(3)[:2] == first_ids(2)


def test_a_page_is_full_even_if_each_sentence_has_a_duplicate() -> None:
    hits = [Hit(f"s{n}", -float(n), STORM._replace(text=f"word{n // 2}")) for n in range(60)]
    fetched = hits[: hits_to_fetch(Arrangement(), 10, 100)]
    entries = entries_of(fetched, Arrangement(passages=False))[:10]
    assert len(entries) == 10
    assert all(len(entry.passages[0].similar) == 1 for entry in entries)


QUERY = "earthquakes relief China"
SENTENCE = "earthquake-relief.s0"


def explained(searcher: Searcher, query: str = QUERY) -> ExplainedSentence:
    search = SearchRequest(query, Ranking())
    return explain_sentence(searcher, search, SENTENCE, Settings())


def test_terms_lead_to_the_words_as_they_were_typed(searcher: Searcher) -> None:
    sentence = explained(searcher)
    terms = [part.origin.name for part in sentence.explanation.terms]
    assert [sentence.words[term] for term in terms] == QUERY.split()


def test_an_acronym_is_shown_with_its_periods(searcher: Searcher) -> None:
    assert explained(searcher, "U.S. earthquake's relief").words == {
        "us": "U.S.",
        "earthquak": "earthquake's",
        "relief": "relief",
    }


def test_the_json_has_the_text_and_the_tree(searcher: Searcher) -> None:
    data = explained(searcher).as_dict()
    assert data["text"].startswith("A strong earthquake")
    assert data["tree"]["apart"][0]["distance"] > 0
