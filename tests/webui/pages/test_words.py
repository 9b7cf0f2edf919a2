"""The pages of words, names and quotations show what the API has, and lead to its sentences."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient
from markupsafe import escape

from esr.corpus.names_and_quotes import Quotation, call_speakers, find_speakers
from esr.folder.index import FolderSnapshot
from esr.ranking.searcher import Searcher, open_searcher
from esr.text.document import CERTAIN, PROBABLE, Document, Quote, Sentence
from tests.support.elasticsearch import document, load
from tests.support.fake_index import STORM, FakeIndex
from tests.support.page_corpus import get, read_json, read_table
from webui.app import create_app
from webui.pages.words import count_speakers, offer_more
from webui.running.settings import Settings


def cells(html: str) -> list[list[str]]:
    """The texts of the rows of all tables of words."""
    rows = re.findall(r"<tr><th scope=\"row\">.*?</tr>", html, re.DOTALL)
    texts = ([re.sub("<[^>]+>", "", cell).strip() for cell in re.split("</t[hd]>", row)] for row in rows)
    return [[unescape(text) for text in row if text] for row in texts]


def test_the_names_of_a_search_are_those_of_the_api_and_lead_to_their_pages(real: FlaskClient) -> None:
    answer = get(real, "/names", q="relief", source="Northern Wire")["names"]
    html = real.get("/names?q=relief&source=Northern+Wire").text
    shown = re.findall(r'class="value" href="([^"]+)"><bdi>([^<]+)</bdi>.*?>([\d,]+)<span', html, re.DOTALL)
    assert [(name, int(number)) for _, name, number in shown] == [(n["name"], n["count"]) for n in answer]
    page = real.get(unescape(shown[0][0]))
    assert page.status_code == 200 and f"<bdi>{answer[0]['name']}</bdi>" in page.text
    assert read_json(real, "/names.json?q=relief&source=Northern+Wire")["names"] == answer
    assert "No names" in real.get("/names?q=relief&prefix=zyx").text


def test_the_page_of_a_name_has_what_the_api_has_and_its_links_find_its_sentences(real: FlaskClient) -> None:
    answer = get(real, "/names/page", name="location:China", k=5, companions=12)
    html = real.get("/name?name=location:China&q=relief").text
    assert f"{answer['sentences']} sentences</a> in {answer['documents']} documents" in html
    assert html.count("data-sentence-id") == len(answer["best"])
    assert [row[0] for row in cells(html)] == [
        each["name"] for place in ("in_sentences", "in_documents") for each in answer[place]
    ]
    own = unescape(re.findall(r'<p class="count"><a href="([^"]+)"', html)[0])
    assert own == "/search?q=place%3A%22China%22"
    assert read_json(real, own.replace("search", "search.json"))["total"] == answer["sentences"]
    assert 'href="/search?q=relief&amp;entity=location%3AChina"' in html
    assert real.get("/name?name=Zyxia").status_code == 400


def test_the_page_of_a_name_says_its_first_and_last_day_or_its_only_one(real: FlaskClient) -> None:
    several = real.get("/name?name=location:China").text
    assert "8 November 2024 to 2 March 2025" in several
    names = get(real, "/names")["names"]
    only = next(each for each in names if each["count"] == 1)
    (dates,) = re.findall(r"</a> in 1 document, ([^<\n]+)", real.get(f"/name?name={only['name']}").text)
    assert re.match(r"\d+ \w+ 20\d\d(?! to)", dates)


def test_quotations_are_filtered_by_their_speaker(real: FlaskClient) -> None:
    answer = get(real, "/quotes", k=100)["quotations"]
    html = real.get("/quotes?k=3").text
    assert html.count("data-sentence-id") == 3 and "Show more quotations" in html
    speakers = re.findall(r'class="value" href="([^"]+)"><bdi>([^<]+)</bdi>.*?>([\d,]+)<', html)
    assert sum(int(number) for *_, number in speakers) == sum(bool(each["name"]) for each in answer) > 1
    address, speaker, number = speakers[0]
    own = real.get(unescape(address)).text
    assert own.count("data-sentence-id") == int(number) and f"said by <bdi>{speaker}<" in own
    said = next(each for each in answer if each["speaker"] == speaker)
    assert f"<mark>{escape(said['text'])}</mark>" in own
    assert "No quotations about" in real.get("/quotes?q=zyxgarble").text


def said_by(html: str) -> list[str]:
    """Who said the quotations of a page, where it says so of each."""
    return [re.sub("<[^>]+>", "", said) for said in re.findall(r'(?s)<p class="speaker">(.*?)</p>', html)]


def test_speakers_with_a_known_name_are_listed_and_called_by_it(tmp_path: Path) -> None:
    speakers = [
        ("Mrs May", "theresa may"),
        ("She", "theresa may"),
        ("Prime Minister Theresa May", "theresa may"),
        ("he", None),
        ("He", "boris mcdonald"),
    ]
    sentences = [
        Sentence(f"a.s{n}", f'"Storms come," {speaker} said.', quotes=(Quote(0, 14, speaker, name, "said"),))
        for n, (speaker, name) in enumerate(speakers)
    ]
    load(str(tmp_path / "i"), [Document("a", tuple(sentences))])
    with open_searcher(tmp_path / "i") as searcher:
        client = create_app(searcher, Settings(access_log=0)).test_client()
        html = client.get("/quotes?q=storms").text
        by_he, by_may = (client.get(f"/quotes?speaker={speaker}").text for speaker in ("he", "theresa+may"))
    listed = re.findall(
        r'class="value" href="([^"]+)"><bdi>([^<]+)</bdi></a> <span class="number">(\d)', html
    )
    assert [(unescape(address).split("speaker=")[1], *rest) for address, *rest in listed] == [
        ("theresa+may", "Theresa May", "3"),
        ("boris+mcdonald", "Boris Mcdonald", "1"),
    ]
    # Who he is may be in the sentence before.
    assert re.findall(r'class="near"[^>]*>([^<]+)<', html) == [escape(sentences[2].text)]
    kept = dict.fromkeys(re.findall('data-speaker="([^"]+)"', html))  # with a clipping
    assert sorted(kept) == ["Boris Mcdonald", "Theresa May", "he"]
    assert said_by(by_he) == ["he said", "He (Boris Mcdonald) said"] and said_by(by_may) == []
    assert sorted(said_by(html)) == sorted(
        [
            "Mrs May (Theresa May) said",
            "She (Theresa May) said",
            "Prime Minister Theresa May said",
            "he said",
            "He (Boris Mcdonald) said",
        ]
    )


@pytest.fixture
def storms(tmp_path: Path) -> Iterator[FlaskClient]:
    """A client of an index in which Theresa May speaks of storms."""
    text = '"Storms come," Theresa May said.'
    said = Sentence("a.s0", text, quotes=(Quote(0, 14, "Theresa May", "theresa may", "said"),))
    load(str(tmp_path / "i"), [Document("a", (said, Sentence("a.s1", "Storms came.")))])
    with open_searcher(tmp_path / "i") as searcher:
        yield create_app(searcher, Settings(access_log=0)).test_client()


@pytest.mark.parametrize(("view", "part"), [("quotes", "quotations"), ("names", "names")])
def test_what_was_never_computed_is_an_error_and_no_empty_list(tmp_path: Path, view: str, part: str) -> None:
    load(str(tmp_path / "index"), [document("a", "Storms come, he said.")])
    with open_searcher(str(tmp_path / "index")) as searcher:
        client = create_app(searcher, Settings()).test_client()
        for query in ({}, {"q": "storms"}):
            message = get(client, f"/{view}", 400, **query)["error"]["message"]
            assert f"has no {part}" in message and "esr enrich" in message
        answer = client.get(f"/{view}")
        assert answer.status_code == 400 and f"has no {part}" in answer.text


def test_a_search_for_what_somebody_said_leads_to_their_quotations(storms: FlaskClient) -> None:
    query = "what did Theresa May say about the storms"
    html = storms.get("/search", query_string={"q": query, "source": ""}).text
    (line,) = re.findall(r'<p class="suggested"><a href="([^"]+)">(.+)</a></p>', html)
    assert re.sub("<[^>]+>", "", line[1]) == "What Theresa May said about the storms"
    quotations = storms.get(unescape(line[0])).text
    assert "<mark>&#34;Storms come,&#34;</mark>" in quotations and "said by <bdi>Theresa May<" in quotations
    assert get(storms, "/search", q=query)["query"]["quoted"] == {
        **{"speaker": "theresa may", "name": "Theresa May", "about": "the storms"},
        **{"start": 9, "end": 20},
    }
    for other in ("storms", "what did Ann Lee say about storms"):
        assert 'class="suggested"' not in storms.get("/search", query_string={"q": other}).text
        assert get(storms, "/search", q=other)["query"]["quoted"] is None


def test_a_mistyped_speaker_gets_the_nearest_names(storms: FlaskClient) -> None:
    html = storms.get("/quotes?speaker=Teresa+May&q=storms").text
    (link,) = re.findall(r'Did you mean: <a href="([^"]+)"><bdi>Theresa May</bdi></a></p>', html)
    assert unescape(link) == "/quotes?q=storms&speaker=theresa+may"
    assert "data-sentence-id" not in html and "data-sentence-id" in storms.get(unescape(link)).text
    for path in ("/quotes?speaker=Theresa+May", "/quotes?speaker=Theresa+May&q=zyx", "/quotes?speaker=Zyx"):
        assert "Did you mean" not in storms.get(path).text


def test_a_pronoun_is_not_counted_as_an_acronym_of_its_letters() -> None:
    index = FakeIndex(STORM._replace(entities={"organization": ("I.T.", "WHO", "Wire")}))
    said = [(None, "It"), (None, "who"), (None, "the WHO"), ("who", "it"), (None, "wire")]
    record = dict.fromkeys(Quotation.__struct_fields__)
    found = [Quotation(**record | {"name": n, "speaker": s}) for n, s in said]
    names = find_speakers(index, found)
    counted = count_speakers(names, found, call_speakers(names, found))
    assert [form for _, form, _ in counted] == ["WHO", "Wire"] and counted[0][2] == 2


def test_a_pronoun_without_a_name_is_not_listed_as_a_speaker(tmp_path: Path) -> None:
    said = [("he", "en"), ("elle", "fr"), ("the mayor", "en"), ("Er", "en")]
    articles = [
        Document(
            f"a{n}",
            (Sentence(f"a{n}.s0", f'"Storms come," {who} said.', quotes=(Quote(0, 14, who, None, "said"),)),),
            language=language,
        )
        for n, (who, language) in enumerate(said)
    ]
    load(str(tmp_path / "i"), articles)
    with open_searcher(tmp_path / "i") as searcher:
        html = create_app(searcher, Settings(access_log=0)).test_client().get("/quotes").text
    listed = re.findall(r'class="value" href="[^"]+"><bdi>([^<]+)</bdi></a> <span class="number">', html)
    assert sorted(listed) == ["Er", "the mayor"], "Er is a pronoun of no language of these articles"
    assert sorted(said_by(html)) == ["Er said", "elle said", "he said", "the mayor said"]


def test_the_page_marks_who_speaks_and_says_who_is_only_probable(tmp_path: Path) -> None:
    surely = Quote(0, 18, "Ann Lee", "ann lee", "said", CERTAIN)
    probably = Quote(0, 21, "Bo Day", "bo day", "said", PROBABLE)
    sentences = [
        Sentence("a.s0", "Storms said no."),
        Sentence("a.s1", '"Ann Lee said it," Ann Lee said.', quotes=(surely,)),
        Sentence("a.s2", '"Storms & rain come."', quotes=(probably,)),
    ]
    load(str(tmp_path / "i"), [Document("a", tuple(sentences))])
    with open_searcher(tmp_path / "i") as searcher:
        client = create_app(searcher, Settings(access_log=0)).test_client()
        html, own = client.get("/quotes").text, client.get("/quotes?speaker=bo+day").text
        answer = get(client, "/quotes")["quotations"]
        assert "certainty" in client.get("/quotes.csv").text.splitlines()[0]
    assert {each["sentence_id"]: each["certainty"] for each in answer} == {"a.s1": CERTAIN, "a.s2": PROBABLE}
    speaker, verb = (f'<b class="attribution">{text}</b>' for text in ("Ann Lee", "said"))
    assert f"<mark>&#34;Ann Lee said it,&#34;</mark> {speaker} {verb}." in html
    assert "<mark>&#34;Storms &amp; rain come.&#34;</mark></p>" in html
    assert html.count('class="attribution"') == 2
    label = '<span class="certainty">probably</span> <a href'
    assert html.count(label) == 1 and own.count(label) == 1


def test_the_page_of_quotations_counts_the_sentences_with_all_words(real: FlaskClient) -> None:
    text = get(real, "/quotes")["quotations"][0]["sentence"]
    query = " ".join(text.split()[:2])
    quoted = get(real, "/search", q=f"{query} is:quote", require="all", fold="no", k=100)["total"]
    assert get(real, "/quotes", q=query)["sentences"] >= quoted > 0
    html = real.get("/quotes", query_string={"q": query}).text
    assert re.search(rf"{quoted} sentences? with a quotation and all words, best first", html)
    assert "No sentence with a quotation has all words" in real.get("/quotes?q=earthquake+zyxgarble").text
    assert re.search(r"\d+ sentences with a quotation, newest first", real.get("/quotes").text)
    flags = [each["all_words"] for each in get(real, "/quotes", q=query, k=100)["quotations"]]
    assert flags[0] and False in flags
    html = real.get("/quotes", query_string={"q": query, "k": 100}).text
    before, _, after = html.partition('<p class="note">From here on')
    assert before.count("data-sentence-id") == flags.index(False) and "From here on" not in after
    assert "From here on" not in real.get("/quotes").text


def test_more_quotations_are_offered_up_to_the_most_that_can_be_listed() -> None:
    assert [offer_more(20, found, 10) for found in (20, 21)] == [None, 30]
    assert [offer_more(k, 2_000, 10) for k in (995, 1_000)] == [1_000, None]


@pytest.mark.parametrize("measure", ["logdice", "t"])
def test_the_words_near_a_query_are_in_the_order_of_the_measure(real: FlaskClient, measure: str) -> None:
    answer = get(real, "/collocations", q="relief", measure=measure, min_count=2)["collocations"]
    html = real.get(f"/collocations?q=relief&measure={measure}&min_count=2").text
    assert [row[0] for row in cells(html)] == [each["word"] for each in answer]
    assert f"{len(answer)} words, each at least 2 times near " in html
    (head,) = re.findall(r'aria-sort="descending">(?:<a [^>]+>)?([^<]+)<', html)
    assert head == {"logdice": "logDice", "t": "t-score"}[measure]
    lines = re.findall(r'<th scope="row"><a href="([^"]+)"', html)
    assert all("data-sentence-id" not in each and "measure=" not in each for each in lines)
    found = get(real, "/concordance", q=f"relief +{answer[0]['word']}")["lines"]
    assert real.get(unescape(lines[0])).text.count('class="node"') == len(found) > 0


def test_key_words_and_frequencies_are_those_of_the_api(real: FlaskClient) -> None:
    answer = get(real, "/keyness", q="relief", against="earthquake", min_count=1)["words"]
    html = real.get("/keyness?q=relief&against=earthquake&min_count=1").text
    assert [row[0] for row in cells(html)] == [each["word"] for each in answer]
    counted = get(real, "/frequencies", q="relief", also="earthquake", by="source")
    rows = cells(real.get("/frequencies?q=relief&also=earthquake&by=source").text)
    assert [row[0] for row in rows] == counted["groups"]
    assert [[int(row[2]), int(row[4])] for row in rows] == [
        list(pair) for pair in zip(*(series["counts"] for series in counted["series"]), strict=True)
    ]
    assert real.get("/keyness?q=relief&source=x").status_code == 400  # key words know no filters


def test_frequencies_say_what_has_no_date_and_their_numbers_lead_to_lines(tmp_path: Path) -> None:
    dates = {"a": "2025-01-06", "b": "2025-01-14", "c": None}
    texts = {"a": "A storm and a flood.", "b": "A storm.", "c": "A storm."}
    load(str(tmp_path / "i"), [document(id, texts[id], date=date) for id, date in dates.items()])
    with open_searcher(str(tmp_path / "i")) as searcher:
        client = create_app(searcher, Settings(access_log=0)).test_client()
        html = client.get("/frequencies?q=storm&also=flood&by=week").text
        numbers = re.findall(r'<td class="number"><a href="([^"]+)">(\d+)</a>', html)
        lines = [client.get(unescape(address)).text for address, _ in numbers]
        part = client.get("/frequencies?q=storm&by=month&from=2025-01-07").text
    items = re.findall(r"(?s)<li><bdi>.*?</li>", html)
    said = [" ".join(re.sub("<[^>]+>", "", item).split()) for item in items]
    assert said[0].startswith("storm 3 occurrences in 3 sentences with exactly this form, 1 without a date; ")
    assert said[1].startswith("flood 1 occurrence in 1 sentence with exactly this form; ") and said[
        1
    ].endswith("Remove flood")
    assert [number for _, number in numbers] == ["1", "1", "1"]
    assert [line.count('class="node"') for line in lines] == [1, 1, 1]
    assert '<a href="/concordance?q=storm&amp;after=2025-01-07&amp;before=2025-02-01">1</a>' in part
    assert ">flood</bdi>" in lines[1] and ">flood</bdi>" not in lines[0]
    (without,) = re.findall(r'<a href="([^"]+)">Remove', html)
    assert unescape(without) == "/frequencies?q=storm&by=week"


def test_two_parts_are_compared_in_both_directions(real: FlaskClient) -> None:
    parts = {"part": "before:2025", "against": "after:2025", "min_count": 1}
    back = {**parts, "part": parts["against"], "against": parts["part"]}
    html = real.get("/contrast?q=relief&part=before:2025&against=after:2025&min_count=1").text
    words = [
        each["word"]
        for given in (parts, back)
        for each in get(real, "/contrast", q="relief", k=30, **given)["collocations"]
    ]
    assert [row[0] for row in cells(html)] == words and words
    whole = real.get("/contrast?part=before:2025&min_count=2").text
    key_words = get(real, "/keyness", q="before:2025", min_count=2, k=30)["words"]
    assert [row[0] for row in cells(whole)] == [each["word"] for each in key_words]
    offered = [
        unescape(each) for each in re.findall(r'<li><a href="(/contrast[^"]+)"', real.get("/contrast").text)
    ]
    assert offered and all(real.get(address).status_code == 200 for address in offered)
    assert "write filters into both parts" in real.get("/contrast?part=relief&source=x").text


@pytest.mark.parametrize(
    ("address", "counts"),
    [
        ("/contrast?q=relief&part=before:2025&against=after:2025", {"texts": 2}),
        ("/contrast?part=before:2025&against=after:2025", {"count_terms": 2}),
        ("/quotes", {"find_names": 1}),
    ],
)
def test_a_page_counts_each_part_and_looks_up_its_speakers_once(
    searcher: Searcher, monkeypatch: pytest.MonkeyPatch, address: str, counts: dict[str, int]
) -> None:
    called: Counter[str] = Counter()

    def record(method: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **options: Any) -> Any:
            called.update(stage for each in args if (stage := getattr(each, "stage", None)) in counts)
            return method(*args, **options)

        return call

    for name in ("select", "count", "vocabulary"):
        monkeypatch.setattr(FolderSnapshot, name, record(getattr(FolderSnapshot, name)))
    assert create_app(searcher, Settings(access_log=0)).test_client().get(address).status_code == 200
    assert called == counts


def test_the_tables_of_words_are_exported_as_they_are_shown(real: FlaskClient) -> None:
    for address, column in (
        ("/collocations?q=relief&min_count=1", "word"),
        ("/keyness?q=relief&against=earthquake&min_count=1", "word"),
        ("/frequencies?q=relief&also=earthquake&by=source", "group"),
        ("/contrast?q=relief&part=before:2025&against=after:2025&min_count=1", "word"),
        ("/contrast?part=before:2025&min_count=2", "word"),
    ):
        html = real.get(address).text
        (link,) = re.findall(r'href="([^"]+)">CSV</a>', html)
        table = read_table(real, unescape(link))
        shown = [row[0] for row in cells(html)]
        assert shown and [row[column] for row in table][: len(shown)] == shown, address
        assert "{" not in "".join(table[0].values())
    assert read_table(real, "/collocations.csv?q=relief&min_count=1000") == []


@pytest.mark.parametrize(
    "address",
    [
        "/collocations.csv?q=relief&min_count=1",
        "/keyness.csv?q=relief&against=earthquake&min_count=1000",
        "/frequencies.csv?q=relief",
        "/contrast.csv?q=relief&part=before:2025&against=after:2025&min_count=1000",
        "/concordance.csv?q=relief",
        "/quotes.csv?q=relief",
        "/evidence.csv?q=relief+teams",
    ],
)
def test_a_table_without_rows_has_the_head_of_one_with_rows(real: FlaskClient, address: str) -> None:
    with_rows = real.get(address.replace("min_count=1000", "min_count=1")).text.splitlines()
    nowhere = "" if "min_count=1000" in address else "&source=nowhere"
    without = real.get(address + nowhere).text.splitlines()
    assert without == with_rows[:1] and "," in without[0]


def test_a_concordance_has_the_lines_of_the_api_and_leads_to_their_sentences(real: FlaskClient) -> None:
    answer = get(real, "/concordance", q="relief", sort="right1")
    html = real.get("/concordance?q=relief&sort=right1&facet=source").text
    shown = re.findall(r'class="node"><a href="(/document\?[^"]+)"[^>]*><bdi[^>]*>([^<]+)', html)
    assert [unescape(node) for _, node in shown] == [line["node"] for line in answer["lines"]]
    assert f"{len(shown)} lines of {answer['sentences']} sentences" in html
    assert all("sort=" not in address for address, _ in shown)
    assert real.get(shown[0][0].replace("&amp;", "&").split("#")[0]).status_code == 200
    assert real.get("/concordance.json?q=relief&sort=right1&facet=source").json == answer
    assert real.get("/concordance?q=relief&sort=score").status_code == 400


def test_lines_and_quotations_are_exported_as_tables_of_all(real: FlaskClient) -> None:
    for path, query, shown in (
        ("/concordance", {"q": "relief"}, "lines"),
        ("/quotes", {}, "quotations"),
    ):
        page = real.get(path, query_string={**query, "k": 1}).text
        (link,) = re.findall(r'href="([^"]+)">(?:All lines as )?CSV</a>', page)
        everything = get(real, path, **query, k=1000)[shown]
        table = read_table(real, unescape(link))
        assert len(table) == len(everything) > 1
        assert [row["sentence_id"] for row in table] == [each["sentence_id"] for each in everything]
        assert set(table[0]) == set(everything[0])


def test_lines_are_grouped_by_their_next_word_and_a_sample_is_named_with_its_seed(tmp_path: Path) -> None:
    texts = [
        'A storm, "long" and wild.',
        "The storm - long ago.",
        "One storm: (long) gone.",
        "It was a storm.",
    ]
    load(str(tmp_path / "i"), [document("a", *texts)], analyzer="english-stem")
    with open_searcher(str(tmp_path / "i")) as opened:
        client = create_app(opened, Settings(access_log=0)).test_client()
        html = client.get("/concordance?q=storm&sort=right1").text
        headings = re.findall(r'class="group"><th[^>]*><bdi>([^<]+)', html)
        assert headings == ["long: 3 lines", "End of the sentence"]
        assert 'class="group"' not in client.get("/concordance?q=storm").text
        html = client.get("/concordance?q=storm&sample=2&seed=5").text
        assert "2 lines of 2 sentences drawn at random (seed 5) from the 4" in html
        assert html == client.get("/concordance?q=storm&sample=2&seed=5").text and "seed=6" in html


@pytest.mark.parametrize(
    "address",
    [
        "collocations?q=relief&min_count=1",
        "keyness?q=relief&min_count=1",
        "frequencies?q=relief",
        "contrast?part=relief&min_count=1",
    ],
)
def test_each_statistic_leads_to_its_formula(real: FlaskClient, address: str) -> None:
    html = real.get(f"/{address}").text
    assert 'href="#formulas"' in html and 'id="formulas"' in html
    page = Path("docs/formulas.md").read_text("utf-8").replace(" ", "")
    shown = re.findall(r"<code>([^<]+)</code>", html.split('id="formulas"')[1])
    assert shown and all(unescape(text).replace(" ", "") in page for text in shown)


def test_a_concordance_writes_dates_as_other_views_do(real: FlaskClient) -> None:
    page = real.get("/concordance?q=relief").text
    written = re.findall(r'<time datetime="(\d{4}-\d\d-\d\d)">([^<]+)</time>', page)
    assert written and all(day[:4] in text and day not in text for day, text in written)


def test_a_concordance_tells_exact_forms_from_those_that_a_search_finds(tmp_path: Path) -> None:
    texts = "An immigrant came.", "Immigrants left.", "Two immigrants met an immigrant."
    load(str(tmp_path / "i"), [document("a", *texts)], analyzer="english-stem")
    with open_searcher(str(tmp_path / "i")) as opened:
        client = create_app(opened, Settings(access_log=0)).test_client()
        answer = get(client, "/concordance", q="immigrant")
        assert (answer["sentences"], answer["all_words"]) == (2, 3)
        html = client.get("/concordance?q=immigrant").text
        line = re.sub(r"<[^>]+>", "", html.split('class="count" role="status">')[1].split("</p>")[0])
        assert line == "2 lines of 2 sentences with exactly this form, 3 with all forms"
        assert "3 sentences with this word" in client.get("/search?q=immigrant").text
        assert get(client, "/concordance", q="immigrants left")["all_words"] == 1
        assert "all forms" not in client.get("/concordance?q=came").text


@pytest.mark.parametrize(
    "address",
    [
        *(
            "/names",
            "/names?prefix=ch&type=location",
            "/names?source=Northern+Wire",
            "/names?q=relief",
            "/quotes",
        ),
        *(
            "/contrast",
            "/contrast?part=relief",
            "/name?name=location:China",
            "/names?q=source:%22Northern+Wire%22",
        ),
        *("/search?q=relief", "/search?q=place:China", "/search?q=relief*&literal=yes"),
    ],
)
def test_no_tab_leads_to_an_error(real: FlaskClient, address: str) -> None:
    tabs = re.findall(r'<nav class="views.*?</nav>', real.get(address).text, re.DOTALL)
    links = [unescape(link) for tab in tabs for link in re.findall(r'href="([^"]+)"', tab)]
    assert links
    for link in links:
        assert real.get(link).status_code < 400, link


ARABIC = "قال الوزير إن النهر ارتفع"


@pytest.mark.parametrize("language", ["ar", None])
def test_lines_of_arabic_begin_at_the_right(tmp_path: Path, language: str | None) -> None:
    english = document("b", "The flood of الوزير fell.", language="en")
    load(str(tmp_path / "i"), [document("a", ARABIC, f"{ARABIC} 2", language=language), english])
    with open_searcher(str(tmp_path / "i")) as opened:
        client = create_app(opened, Settings(access_log=0)).test_client()
        html = client.get("/concordance", query_string={"q": "الوزير", "sort": "oldest"}).text
        assert '<table class="lines" dir="rtl">' in html
        rows = re.findall(r'<tr id="line-\d+" class="(\w+)">(.*?)</tr>', html, re.DOTALL)
        shown = {
            way: re.findall(r'class="(before|after)" headers="\1"><span dir="(\w+)"', row)
            for way, row in rows
        }
        # In a table from right to left, the first cell is at the right.
        assert shown == {
            "rtl": [("before", "rtl"), ("after", "rtl")],
            "ltr": [("after", "ltr"), ("before", "ltr")],
        }
        assert '<table class="lines" dir="ltr">' in client.get("/concordance?q=flood").text


def test_the_count_of_a_name_in_a_search_is_what_its_click_gives(real: FlaskClient) -> None:
    html = real.get("/names?q=relief+China").text
    links = re.findall(r'class="number" href="([^"]+)" title="Its sentences">([\d,]+)<', html)
    assert links
    for link, number in links:
        assert f"{number} sentence" in real.get(unescape(link)).text.split('class="count"')[1][:200]


def test_a_concordance_offers_more_lines_while_there_are_more(real: FlaskClient) -> None:
    everything = get(real, "/concordance", q="relief")["lines"]
    less = real.get(f"/concordance?q=relief&k={len(everything) - 1}").text
    assert f"The first {len(everything) - 1} lines of" in less
    (link,) = re.findall(r'href="([^"]+)" rel="next">Show more lines', less)
    assert link.endswith(f"#line-{len(everything)}")
    all_of_them = real.get(unescape(link)).text
    assert f'id="line-{len(everything)}"' in all_of_them
    assert "Show more" not in all_of_them and "The first" not in all_of_them
    assert "lines of" not in real.get("/concordance?q=zyxgarble").text


def test_a_concordance_without_lines_leads_to_those_of_each_word(real: FlaskClient) -> None:
    assert get(real, "/concordance", q="China relief earthquake")["lines"] == []
    html = real.get("/concordance?q=China+relief+earthquake").text
    words = re.findall(r'href="/concordance\?q=(\w+)"><bdi>\1</bdi>', html)
    assert words == ["China", "relief", "earthquake"]
    assert all(get(real, "/concordance", q=word)["lines"] for word in words)
    for query in ("zyxgarble", '"China relief" zyxgarble', "relief"):
        assert "the lines of each" not in real.get("/concordance", query_string={"q": query}).text
