"""The views of a search's page, and the page "More like this" with its JSON; feeds and citations."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path
from urllib.parse import quote_plus

import feedparser
import pytest
from flask.testing import FlaskClient

from esr.enrichment.recipe import Recipe
from esr.errors import UsageError
from esr.following.alerts.atom import text_digest
from esr.following.exports import CITATIONS
from esr.index.names import name_key
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import Searcher, open_searcher
from esr.text.analyzer import get_analyzer
from esr.text.document import CERTAIN, PROBABLE, Document, Quote, Sentence
from esr.text.sentence_enrichment import Entity, SentenceEnrichment
from esr.wording import shorten_title
from tests.support.elasticsearch import document, load
from tests.support.fake_index import FakeIndex
from tests.support.page_corpus import get, read_json, read_table
from webui.app import create_app
from webui.pages.home import Listed, frequent_pairs, make_asks
from webui.running.served_indexes import ServedIndexes
from webui.running.settings import Settings

Q = "q=earthquake+relief+China"


def test_each_page_links_to_the_same_answer_as_json(real: FlaskClient) -> None:
    for path, query in (
        ("search", Q),
        ("document", f"{Q}&id=earthquake-relief"),
        ("explain", f"{Q}&id=earthquake-relief.s0"),
        ("compare", f"{Q}&vs.model=bm25"),
    ):
        assert read_json(real, f"/{path}.json?{query}")
        assert f'href="/{path}.json?' in real.get(f"/{path}?{query}").text


@pytest.mark.parametrize("model", ["2si", "tdsr", "mrf_fdm"])
def test_the_scores_of_a_document_are_those_of_the_search(real: FlaskClient, model: str) -> None:
    found = read_json(real, f"/search.json?{Q}&model={model}&k=100&document=earthquake-relief")
    scores = {hit["sentence_id"]: hit["score"] for hit in found["hits"]}
    assert len(scores) >= 5
    document = read_json(real, f"/document.json?{Q}&model={model}&id=earthquake-relief")
    for sentence in document["sentences"]:
        if sentence["id"] in scores:
            assert sentence["score"] == pytest.approx(scores[sentence["id"]], abs=1e-5)


def test_the_table_of_a_document_has_its_sentences_in_order(real: FlaskClient) -> None:
    found = read_table(real, f"/document.csv?{Q}&id=earthquake-relief")
    assert [row["position"] for row in found] == [str(n) for n in range(len(found))]


def test_a_comparison_says_what_moved(real: FlaskClient) -> None:
    found = read_json(real, f"/compare.json?{Q}&vs.model=bm25")
    ranks = {hit["sentence_id"]: hit["rank"] for hit in found["right"]["hits"]}
    for hit in found["left"]["hits"]:
        assert hit["other"] == ranks.get(hit["sentence_id"])
        assert hit["moved"] == (None if hit["other"] is None else hit["other"] - hit["rank"])
    assert found["right"]["ranking"]["model"] == "bm25"
    table = read_table(real, f"/compare.csv?{Q}&vs.model=bm25")
    assert [row["side"] for row in table].count("left") == len(found["left"]["hits"])


def test_a_comparison_names_the_default_ranking_of_the_index_on_both_sides(
    real: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def choose(ranking: Ranking, *_: object) -> Ranking:
        return ranking if ranking.model == "bm25" else Ranking("dir")

    monkeypatch.setattr("webui.answers.explanations.choose_ranking", choose)
    for versus, model in (("", "dir"), ("&vs.model=bm25", "bm25")):
        found = read_json(real, f"/compare.json?{Q}{versus}")
        assert [found[side]["ranking"]["model"] for side in ("left", "right")] == ["dir", model]


@pytest.mark.parametrize("path", ["search?", "search.json?", "search.csv?", "compare?vs.model=dir&"])
def test_a_second_stage_of_nothing_shows_an_empty_answer(real: FlaskClient, path: str) -> None:
    response = real.get(f"/{path}q=%2Bearthquake+-earthquake&rerank=bm25:1")
    assert response.status_code == 200, response.text


def test_the_reason_in_words_comes_before_any_number(real: FlaskClient) -> None:
    for address in (f"/explain?{Q}&id=earthquake-relief.s0", f"/compare?{Q}&vs.model=bm25"):
        page = real.get(address).text.split("<main", 1)[1]
        reason = re.search(r'<p class="reason">(All|Both|One|Two) [a-z ]*words', page)
        assert reason, address
        assert not re.search(r"[−-]\d+\.\d+", page[: reason.start()])
    compared = real.get(f"/compare?{Q}&vs.model=bm25").text
    assert (
        ">With context</h2>" in compared and ">Sentence alone</h2>" in compared and "score −" not in compared
    )


def test_the_run_of_a_search_is_its_ranking(real: FlaskClient) -> None:
    found = read_json(real, f"/search.json?{Q}&k=20&fold=no&passages=no")
    ids = [hit["sentence_id"] for hit in found["hits"]]
    run = real.get(f"/search.run?{Q}&k=20").text.splitlines()
    assert [line.split()[2] for line in run] == ids


@pytest.mark.parametrize("path", ["/document", "/document.json", "/explain", "/explain.json"])
@pytest.mark.parametrize("given", ["", "&id=nowhere", "&id=%00", "&id=" + "x" * 400])
def test_an_unknown_id_is_a_clear_error(real: FlaskClient, path: str, given: str) -> None:
    response = real.get(f"{path}?{Q}{given}")
    assert 400 <= response.status_code < 500
    assert "Traceback" not in response.text


@pytest.mark.parametrize("path", ["/document?id=gone", "/similar?id=gone.s1", "/explain?id=gone.s1&q=storm"])
def test_what_is_gone_is_not_found_and_leads_to_the_first_page(real: FlaskClient, path: str) -> None:
    response = real.get(path)
    assert response.status_code == 404 and "<h1>Not found</h1>" in response.text
    assert 'href="/">Go to the first page' in response.text
    assert '<details class="controls">' in response.text  # closed: no setting is wrong


@pytest.mark.parametrize(
    ("given", "address"),
    [
        ("q=storm&view=timeline&sort=date&k=50&source=Wire", "/timeline?q=storm&source=Wire"),
        ("q=&view=names", "/names"),
        ("q=&view=timeline", "/"),
        ("q=storm&view=document", "/search?q=storm"),
    ],
)
def test_a_form_of_a_view_leads_to_the_view_with_what_it_takes(
    real: FlaskClient, given: str, address: str
) -> None:
    sent = real.get(f"/search?form=2si&fold=yes&{given}")
    assert (sent.status_code, sent.headers["Location"]) == (302, address)
    assert real.get(address).status_code == 200


def test_spreadsheet_formulas_are_escaped(real: FlaskClient) -> None:
    table = real.get("/search.csv?q=pilot&k=3").text
    assert all(not row.startswith(("=", "+", "@")) for row in table.splitlines())


@pytest.mark.parametrize("path", ["/search", "/search.json", "/compare?vs.model=bm25&", "/api/v1/search"])
@pytest.mark.parametrize("ranking", ["model=tdsr", "rerank=mrf_sdm:2", "rerank=meaning:50"])
def test_a_ranking_that_the_index_cannot_answer_is_an_error_and_not_offered(
    client: FlaskClient, index: FakeIndex, path: str, ranking: str
) -> None:
    index.is_parsed = False
    response = client.get(f"{path}{'' if path.endswith('&') else '?'}q=storm&{ranking}")
    noun, part = ("vectors", "vectors") if "meaning" in ranking else ("parses", "parse")
    assert response.status_code == 400
    assert f"has no {noun}: run esr enrich --only {part}" in response.text
    form = client.get("/").text
    assert 'value="tdsr"' not in form and 'value="meaning"' not in form and 'value="mrf_fidm"' in form
    assert "Words and meaning" not in form


def test_views_that_the_index_has_nothing_for_are_not_offered(tmp_path: Path, real: FlaskClient) -> None:
    def views(html: str) -> list[str]:
        (nav,) = re.findall(r'aria-label="Views">.*?</nav>', html, re.DOTALL)
        return re.findall(">([A-Z][^<]+)</a>", nav)

    always = ["Sentences", "Articles", "Over time", "Concordance"]
    all_views = [*always, "Names", "Quotations", "Nearby words"]
    assert views(real.get(f"/search?{Q}").text) == all_views
    for address in re.findall(r'<li><a href="([^"]+)"', real.get(f"/search?{Q}&k=20").text)[:7]:
        page = real.get(unescape(address))
        assert page.status_code == 200 and views(page.text) == all_views
    load(str(tmp_path / "i"), [document("a", "A storm came.")])
    with open_searcher(str(tmp_path / "i")) as searcher:
        html = create_app(searcher).test_client().get("/search?q=storm").text
        first = create_app(searcher).test_client().get("/").text
    assert views(html) == [*always, "Nearby words"]
    fields = ["source", "author", "section", "keyword", "entity"]
    assert [name for name in fields if f'<label for="{name}"' in first] == []
    assert 'for="source"' in real.get("/").text and 'for="entity"' in real.get("/").text


@pytest.mark.parametrize(
    "query",
    [
        "earthquake",
        "source:Harbour",
        "after:2017",
        "-storm earthquake",
        "(a OR b) AND relief",
        "is:quote",
        "50",
    ],
)
@pytest.mark.parametrize(
    "arguments", ["", "&sort=oldest", "&literal=yes", "&after=2017&source=Northern+Wire"]
)
def test_no_view_of_a_search_leads_to_an_error(real: FlaskClient, query: str, arguments: str) -> None:
    page = real.get(f"/search?q={quote_plus(query)}{arguments}")
    if page.status_code == 200:
        (nav,) = re.findall(r'aria-label="Views">.*?</nav>', page.text, re.DOTALL)
        for address in re.findall(r'href="([^"]+)"', nav):
            assert real.get(unescape(address)).status_code == 200, unescape(address)


def test_an_article_has_its_names_its_hits_and_articles_like_it(real: FlaskClient) -> None:
    html = real.get(f"/document?id=earthquake-relief&{Q}").text
    assert "location%3AChina" in html and html.count('<span class="spoken">Number </span>') > 1
    (section,) = re.findall(r'<section class="like-it".*?</section>', html, re.DOTALL)
    others = re.findall(r'href="(/document\?[^"#]+)', section)
    assert 0 < len(others) == len(set(others)) <= 5
    assert not any("id=earthquake-relief&" in unescape(each) + "&" for each in others)
    assert all(real.get(unescape(each)).status_code == 200 for each in others)


# The first page.


def test_the_first_page_says_what_the_collection_is_and_its_links_find_something(real: FlaskClient) -> None:
    html = real.get("/").text
    text = " ".join(re.sub("<[^>]+>", " ", html).split())
    assert "Sources" in text and "Northern Wire" in text and "Begin with" in text
    assert "Languages of all sentences English" in text
    assert re.search(r'aria-label="Sentences from [\w ]+ to [\w ]+"', html)
    (asks,) = re.findall('<dl class="asks">(.*?)</dl>', html, re.DOTALL)
    assert asks.count("<dt><a href=") == 6
    for view in ["timeline", "collocations", "names", "quotes", "contrast", "batch"]:
        addresses = set(re.findall(rf'<li><a href="(/{view}[^"]*)"', html))
        assert addresses and all(real.get(unescape(each)).status_code == 200 for each in addresses), view
    searches = {unescape(each) for each in re.findall(r'<a[^>]* href="(/search\?q=[^"]+)"', html)}
    assert searches
    for address in searches:
        assert real.get(address.replace("/search?", "/search.json?")).json["hits"], address  # type: ignore[index]


def test_example_queries_are_pairs_of_words_that_recur_in_headlines() -> None:
    terms = get_analyzer("english-stem").terms
    titles = [
        "Travel ban blocked",
        "A new travel ban",
        "The ban on travel",
        "Oil price up",
        "oil price, again",
    ]
    assert frequent_pairs(titles, terms) == ["oil price", "travel ban"]
    assert frequent_pairs(["White House", "The white house says", "House of the white"], terms) == [
        "white house"
    ]


def test_the_examples_of_the_query_language_are_of_what_the_collection_has() -> None:
    people, sources = (
        [Listed("Ann Lee", 'person:"Ann Lee"', 3)],
        [Listed(s, f'source:"{s}"', 2) for s in "xy"],
    )
    asks = [ask.query for ask in make_asks(["white house", "travel ban"], people, sources, has_dates=True)]
    assert asks[:6] == [
        '"white house"',
        "white house -ban",
        '"white house" OR "travel ban"',
        'person:"Ann Lee"',
        'white house source:"x"',
        "white house after:7d",
    ]
    fewer = [ask.query for ask in make_asks(["white house", "travel ban"], [], sources[:1], has_dates=False)]
    assert fewer == [*asks[:3], *asks[6:]] and fewer[3:] == ['title:"white house"']
    assert make_asks(["white house"], people, sources, has_dates=True) == []


def test_an_operator_names_the_page_and_chooses_its_examples(tmp_path: Path) -> None:
    load(str(tmp_path / "i"), [document("a", "It blew.", "A storm came.", date="2017-03-05")])
    settings = Settings(
        title="Archive", motto="News <b>of</b> 2017", note="Ask Ann.", examples="storm | a blow"
    )
    with open_searcher(str(tmp_path / "i")) as searcher:
        client = create_app(searcher, settings).test_client()
        html = client.get("/").text
        assert ">Archive</a>" in html and "News &lt;b&gt;of&lt;/b&gt; 2017" in html and "Ask Ann." in html
        assert "<code>after:</code>" in html and "<code>author:</code>" not in html  # nothing has an author
        assert 'href="/search?q=storm"' in html and 'href="/search?q=a+blow"' in html
        assert "<title>storm – Archive</title>" in client.get("/search?q=storm").text


def test_an_operator_has_a_logo(index: FakeIndex, tmp_path: Path) -> None:
    (tmp_path / "logo.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'/>")
    client = create_app(Searcher(index), Settings(logo=str(tmp_path / "logo.svg"))).test_client()
    assert '<img src="/logo" alt="">' in client.get("/").text
    with client.get("/logo") as answer:
        assert (answer.mimetype, answer.headers["Cache-Control"]) == ("image/svg+xml", "max-age=3600")
    for name, message in (("none.svg", "cannot read ESR_LOGO"), ("logo.pdf", "cannot be shown")):
        with pytest.raises(UsageError, match=message):
            create_app(Searcher(index), Settings(logo=str(tmp_path / name)))


def test_the_first_page_of_several_indexes_names_its_own_and_leads_to_the_others(index: FakeIndex) -> None:
    served = ServedIndexes({name: lambda: Searcher(index) for name in ("news", "old")}, Settings())
    client = create_app(served, Settings()).test_client()
    of_first, of_second = client.get("/").text, client.get("/?index=old").text
    assert '<b aria-current="page">news</b>' in of_first and '<a href="/?index=old">old</a>' in of_first
    assert '<b aria-current="page">old</b>' in of_second and '<a href="/?index=news">news</a>' in of_second
    assert "Indices" not in create_app(Searcher(index), Settings()).test_client().get("/").text


def test_the_first_page_of_an_empty_index_says_so_and_names_no_fields(tmp_path: Path) -> None:
    load(str(tmp_path / "i"), [])
    with open_searcher(str(tmp_path / "i")) as searcher:
        html = create_app(searcher).test_client().get("/").text
    assert "This index has no documents yet." in html
    assert "combine them.</p>" in html and "0 sentences" not in html


def test_a_title_that_is_a_whole_text_is_cut_in_lists_and_whole_in_its_article(tmp_path: Path) -> None:
    load(str(tmp_path / "i"), [document("a", "A storm came.", title="budget " * 200 + "end")])
    with open_searcher(str(tmp_path / "i")) as searcher:
        client = create_app(searcher).test_client()
        (headline,) = re.findall('class="open"[^>]*>(.*?)</a>', client.get("/search?q=storm").text)
        assert len(headline) <= 160 and headline.endswith("budget…")
        assert "budget end" in client.get("/document?id=a").text


def test_a_title_is_cut_at_a_blank_unless_it_is_far_away() -> None:
    assert shorten_title("one two three", 13) == "one two three"
    assert shorten_title("one two three", 12) == "one two…"
    assert shorten_title("one two three", 8) == "one two…"
    assert shorten_title("【社論】 " + "暴" * 20, 12) == "【社論】 " + "暴" * 6 + "…"


def test_no_view_shows_a_title_of_a_megabyte_whole(tmp_path: Path) -> None:
    spoken = "“A storm came over the bay,” said Ann Lee."
    load(str(tmp_path / "i"), [document("a", spoken, title="budget " * 150_000, date="2017-03-05")])
    with open_searcher(str(tmp_path / "i")) as searcher:
        client = create_app(searcher).test_client()
        for view in ("search?", "search.atom?", "timeline?", "concordance?", "document?id=a&"):
            answer = client.get(f"/{view}q=storm")
            assert answer.status_code == 200 and len(answer.text) < 100_000, view
        assert len(client.get("/api/v1/document?id=a").text) > 1_000_000


def test_the_first_page_shows_a_new_state_of_the_index(tmp_path: Path) -> None:
    where = str(tmp_path / "i")
    load(where, [document("a", "It blew.", title="Storm one", date="2017-03-05")])
    with open_searcher(where) as searcher:
        client = create_app(searcher).test_client()
        assert "Storm one" in client.get("/").text and "Storm two" not in client.get("/").text
        again = document("b", "It blew again.", title="Storm two", date="2017-04-05")
        load(where, [again], if_exists="append")
        assert "Storm two" in client.get("/").text


def test_the_first_page_has_only_quotations_of_persons_that_are_certain(tmp_path: Path) -> None:
    """Neither what a lawyer only probably said, nor what a name said that is no person, or no full one."""
    said, where = [], str(tmp_path / "i")
    for number, (speaker, kind, certainty) in enumerate(SPEAKERS):
        text = f"“Nobody at all saw the storm coming {number}.” {speaker} said."
        quote = Quote(0, text.index("”") + 1, speaker, name_key(speaker), "said", certainty)
        sentence = Sentence(f"{number}.s0", text, quotes=(quote,))
        said.append((Document(f"{number}", (sentence,), date="2017-03-05"), Entity(speaker, kind)))
    load(where, [each for each, _ in said])
    with open_searcher(where) as searcher, searcher.index.enrichment() as stored:
        recipe = Recipe(("entities",), {"made": "links"})
        stored.store(recipe, [(each.id, [SentenceEnrichment({}, (name,), None)]) for each, name in said])
        stored.finish(recipe)
    with open_searcher(where) as searcher:
        html = create_app(searcher).test_client().get("/").text
    assert re.findall(r"What <bdi>(.*?)</bdi> said", html) == ["Ann Lee"]
    assert "saw the storm coming 3" in html.split('id="said"')[1].split("</section>")[0]


SPEAKERS = (
    ("Brexit", "person", CERTAIN),
    ("Storm Watch", "organization", CERTAIN),
    ("Bo Day", "person", PROBABLE),
    ("Ann Lee", "person", CERTAIN),
    ("Cy Roe", "person", None),
)


ID = "earthquake-relief.s0"


def test_the_page_lists_what_the_api_gives(real: FlaskClient) -> None:
    answer = get(real, "/similar", id=ID)
    assert answer["hits"] and all(hit["document_id"] != "earthquake-relief" for hit in answer["hits"])
    html = real.get(f"/similar?id={ID}").text
    assert html.count("<article") == len(answer["hits"])
    assert real.get(f"/similar.json?id={ID}").json["hits"] == answer["hits"]  # type: ignore[index]


def test_its_own_document_is_shown_by_choice(real: FlaskClient) -> None:
    answer = get(real, "/similar", id=ID, own="yes")
    documents = [hit["document_id"] for hit in answer["hits"]]
    assert "earthquake-relief" in documents and ID not in [hit["sentence_id"] for hit in answer["hits"]]
    assert "Without its own document" in real.get(f"/similar?id={ID}&own=yes").text


def test_every_result_leads_to_it(real: FlaskClient) -> None:
    arguments = "q=earthquake&k=100&per_document=all"
    html = unescape(real.get(f"/search?{arguments}").text)
    assert f"/similar?{arguments}&id={ID}" in html


def test_what_is_wrong_is_said(real: FlaskClient) -> None:
    assert real.get("/similar?id=nowhere").status_code == 404
    assert real.get("/similar").status_code == 400
    assert real.get(f"/similar?id={ID}&own=perhaps").status_code == 400


ATOM = "{http://www.w3.org/2005/Atom}"


def test_a_feed_has_the_newest_sentences_with_all_words(real: FlaskClient) -> None:
    newest = real.get("/search.json?q=earthquake&sort=date&fold=no").json
    assert newest is not None
    feed = feedparser.parse(real.get("/search.atom?q=earthquake").data)
    assert not feed.bozo
    assert [entry.content[0].value for entry in feed.entries] == [hit["text"] for hit in newest["hits"]]
    assert len({entry.id for entry in feed.entries}) == len(feed.entries) > 1
    dated = [entry.updated for entry in feed.entries]
    assert dated == sorted(dated, reverse=True) and feed.feed.updated == dated[0]
    assert real.get(feed.entries[0].link.removeprefix("http://localhost")).status_code == 302


def test_the_page_links_its_feed_with_the_same_filters(real: FlaskClient) -> None:
    html = real.get("/search?q=earthquake&source=Northern+Wire&group=document").text
    address = re.search(r'<link rel="alternate" type="application/atom\+xml"[^>]*href="([^"]+)"', html)
    assert address
    feed = feedparser.parse(real.get(address[1].replace("&amp;", "&")).data)
    assert {entry.author for entry in feed.entries} <= {"Northern Wire", "esr"}


def test_ids_stay_whatever_the_order_the_number_and_the_host(real: FlaskClient) -> None:
    first = feedparser.parse(real.get("/search.atom?q=earthquake&from=2000&k=5").data)
    other = feedparser.parse(
        real.get("/search.atom?from=2000&q=earthquake&sort=date", base_url="https://news.example/x").data
    )
    assert first.feed.id == other.feed.id
    assert {e.id for e in first.entries} <= {e.id for e in other.entries}


def test_a_feed_that_did_not_change_is_not_sent_again(real: FlaskClient) -> None:
    answer = real.get("/search.atom?q=earthquake")
    tag = answer.headers["ETag"]
    again = real.get("/search.atom?q=earthquake", headers={"If-None-Match": tag})
    assert (again.status_code, again.data) == (304, b"")
    assert real.get("/search.atom?q=relief", headers={"If-None-Match": tag}).status_code == 200


def test_a_feed_satisfies_the_specification(real: FlaskClient) -> None:
    from lxml import etree

    for address in ("q=earthquake", "q=harbour", "q=qwertyuiop"):
        root = etree.fromstring(real.get(f"/search.atom?{address}").data)
        for parent in (root, *root.findall(f"{ATOM}entry")):
            for name in ("id", "title", "updated"):  # RFC 4287, 4.1.1 and 4.1.2: exactly one of each
                assert len(parent.findall(f"{ATOM}{name}")) == 1, name
            assert re.fullmatch(
                r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(Z|[+-]\d\d:\d\d)", parent.findtext(f"{ATOM}updated") or ""
            )
            assert re.match(r"urn:uuid:[0-9a-f-]{36}$", parent.findtext(f"{ATOM}id") or "")
            assert len(parent.findall(f"{ATOM}link[@rel='alternate']")) == 1
        assert root.find(f"{ATOM}author/{ATOM}name") is not None  # 4.1.1: for entries without one
        assert root.find(f"{ATOM}link[@rel='self']") is not None


@pytest.mark.parametrize("name", CITATIONS)
def test_citations_of_the_page_and_of_one_sentence(real: FlaskClient, name: str) -> None:
    suffix = CITATIONS[name].suffix
    html = real.get("/search?q=earthquake").text
    assert f'formaction="/search.{suffix}"' in html and f"/sentence.{suffix}?" in html
    page = real.get(f"/search.{suffix}?q=earthquake")
    one = real.get(f"/sentence.{suffix}?id=earthquake-relief.s0")
    assert page.status_code == one.status_code == 200
    assert page.mimetype == CITATIONS[name].media_type
    kind = "inline" if page.mimetype == "text/plain" else "attachment"
    assert kind in one.headers["Content-Disposition"]
    assert "http://localhost/sentence?id=earthquake-relief&says=" in one.text or kind == "inline"
    assert len(page.text) > len(one.text)
    assert real.get(f"/sentence.{suffix}?id=nowhere").status_code == 404


def test_a_quotation_says_where_it_is_from(real: FlaskClient) -> None:
    html = real.get("/search?q=earthquake&source=Northern+Wire").text
    quotation = re.search(r'(?s)<p class="quotation" data-copy>(.*?)</p>', html)
    assert quotation
    text = " ".join(re.sub("<[^>]+>", "", quotation[1]).split())
    assert re.fullmatch(r"“.+” — .+, Northern Wire, \d+ [A-Z][a-z]+ \d{4}(, https?://\S+)?", text), text


def test_a_link_to_a_sentence_stays_valid_after_a_load_that_moves_it(tmp_path: Path) -> None:
    where = str(tmp_path / "index")
    load(where, [document("a", "It blew.", "A storm  came.", "Then calm.")])
    with open_searcher(where) as searcher:
        client = create_app(searcher).test_client()
        html = client.get("/search?q=storm").text
        link = re.search(r'href="(/sentence\?[^"]+)"', html)
        assert link and text_digest("a STORM came.") in link[1]
        address = link[1].replace("&amp;", "&")
        assert client.get(address).location == "/document?id=a#s1"
        load(
            where,
            [document("a", "New: it blew.", "Hail fell.", "It blew.", "A storm came.")],
            if_exists="replace",
        )
        assert client.get(address).location == "/document?id=a#s3"
        load(where, [document("a", "Nothing.")], if_exists="replace")
        lost = client.get(address, follow_redirects=True)
        assert lost.status_code == 200 and "no longer has the sentence" in lost.text
        load(where, [document("b", "Nothing.")], if_exists="replace")
        assert client.get(address).status_code == 404
