"""Lists, pages and networks of names beside a count by hand, on both engines, in all the ways to get them."""

from __future__ import annotations

import csv
import io
import json
import resource
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner
from jsonschema import Draft202012Validator
from msgspec.structs import replace

import esr
from esr.cli.main import main
from esr.corpus.names_and_quotes import (
    Companion,
    ListedName,
    NameNetwork,
    build_network,
    find_quotations,
    list_names,
    read_name,
    select,
)
from esr.errors import UsageError
from esr.evidence.reuse import Reuse, Taking
from esr.index.filters import NO_FILTERS, Filters
from esr.index.names import Aliases
from esr.index.questions import ByName
from esr.query import parse
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import Searcher, open_searcher
from esr.text.document import CERTAIN, PROBABLE, Quote
from tests.index.test_names import BODY, PERSON, PLACE, RECIPE, enriched
from tests.support.elasticsearch import document, load
from tests.support.runs import need
from webui.api.schemas import SCHEMAS
from webui.app import create_app
from webui.running.settings import Settings

ANN, BO, FEMA, OHIO = ("Ann Lee", PERSON), ("Bo Derr", PERSON), ("FEMA", BODY), ("Ohio", PLACE)
SENTENCES = {
    "a": [
        ("Ann Lee leads FEMA.", [ANN, FEMA]),
        ("Lee spoke in Ohio.", [("Lee", PERSON), OHIO]),
        ("It rained.", []),
    ],
    "b": [("FEMA sent trucks to Ohio.", [FEMA, OHIO]), ("Ann Lee was there.", [ANN])],
    "c": [("Bo Derr sings in Ohio.", [BO, OHIO]), ("Derr went home.", [("Derr", PERSON)])],
    "d": [("Storms came to Ohio.", [OHIO])],
}
DATES = {"a": "2017-02-01", "b": "2017-03-05", "c": "2017-03-09"}
QUOTES = {
    "a": [
        (),
        (Quote(0, 9, "Lee", "ann lee", "said", CERTAIN), Quote(10, 17, "Bo", "bo derr", None, PROBABLE)),
        (Quote(0, 2, "Lee"),),
    ],
    "b": [(Quote(0, 4, "Lee", "bo lee"), Quote(5, 9, "Ann Lee", "bo lee")), (Quote(0, 7, "she", "ann lee"),)],
    "c": [(Quote(0, 2, "Derr", "bo derr"),), ()],
    "d": [()],
}


def fill(where: str) -> None:
    documents = [
        document(id, *(text for text, _ in of_one), date=DATES.get(id), source="x" if id == "a" else "y")
        for id, of_one in SENTENCES.items()
    ]
    quoted = [zip(one.sentences, QUOTES[one.id], strict=True) for one in documents]
    load(
        where,
        [
            replace(one, sentences=tuple(replace(sentence, quotes=quotes) for sentence, quotes in of_one))
            for one, of_one in zip(documents, quoted, strict=True)
        ],
    )
    with open_searcher(where) as opened, opened.index.enrichment() as enrichment:
        found = [(id, enriched([names for _, names in of_one])) for id, of_one in SENTENCES.items()]
        enrichment.store(RECIPE, found)
        enrichment.update_names(Aliases({"Ann Lee": ["Lee", "id:Q7"]}))
        enrichment.finish(RECIPE)


@pytest.fixture
def searcher(anywhere: str) -> Iterator[Searcher]:
    fill(anywhere)
    with open_searcher(anywhere) as opened:
        yield opened


@pytest.fixture
def folder(tmp_path: Path) -> str:
    fill(str(tmp_path / "index"))
    return str(tmp_path / "index")


@pytest.mark.slow
def test_names_are_listed_told_of_and_joined_alike_on_both_engines(searcher: Searcher) -> None:
    everything = select(searcher, "", NO_FILTERS)
    assert list_names(everything) == [
        ListedName("Ohio", "ohio", PLACE, 4),
        ListedName("Ann Lee", "ann lee", PERSON, 3),
        ListedName("Bo Derr", "bo derr", PERSON, 2),
        ListedName("FEMA", "fema", BODY, 2),
    ]
    assert [name.name for name in list_names(everything, type=PERSON, k=1)] == ["Ann Lee"]
    assert [name.name for name in list_names(everything, prefix="BO")] == ["Bo Derr"]
    assert [(n.name, n.count) for n in list_names(select(searcher, "ohio", Filters(sources=("y",))))] == [
        ("Ohio", 3),
        ("Bo Derr", 1),
        ("FEMA", 1),
    ]
    index = searcher.index
    documents = index.count([None], NO_FILTERS, ByName(9, unit="documents"))[0]
    assert documents == {"ohio": 4, "ann lee": 2, "fema": 2, "bo derr": 1}
    assert index.count(
        [None], Filters(entities=("lee",)), ByName(9, unit="documents", keys=["fema", "ohio"])
    )[0] == {
        "fema": 2,
        "ohio": 2,
    }
    check_page(searcher)
    network = build_network(everything, list_names(everything))
    assert [(edge.one, edge.other, edge.sentences) for edge in network.edges] == [
        ("ann lee", "fema", 1),
        ("ohio", "ann lee", 1),
        ("ohio", "bo derr", 1),
        ("ohio", "fema", 1),
    ]
    assert network.edges[0].log_dice == pytest.approx(14 + -1.3219281)  # log2(2 * 1 / (3 + 2))
    assert build_network(everything, list_names(everything), least=2).edges == []


@pytest.fixture
def weighed(tmp_path: Path) -> Iterator[Searcher]:
    """FEMA and Ohio are in two sentences, and the second sentence of Ann Lee is the most typical."""
    said = [
        ("Ann Lee saw the zebra and the kettle.", [ANN]),
        ("Ann Lee saw the storm and the flood.", [ANN]),
        ("FEMA and Ann Lee met.", [FEMA, ANN]),
        *[("The storm and the flood reached FEMA in Ohio.", [FEMA, OHIO])] * 2,
    ]
    load(str(tmp_path / "index"), [document("a", *(text for text, _ in said)), document("b", "A zebra sat.")])
    with open_searcher(str(tmp_path / "index")) as opened:
        with opened.index.enrichment() as enrichment:
            enrichment.store(RECIPE, [("a", enriched([names for _, names in said]))])
            enrichment.finish(RECIPE)
        yield opened


def test_the_pair_of_most_sentences_comes_first_in_a_network(weighed: Searcher) -> None:
    everything = select(weighed, "", NO_FILTERS)
    edges = build_network(everything, list_names(everything)).edges
    assert [({edge.one, edge.other}, edge.sentences) for edge in edges] == [
        ({"fema", "ohio"}, 2),
        ({"ann lee", "fema"}, 1),
    ]


def test_of_sentences_alike_the_one_most_typical_of_its_document_is_best_for_a_name(
    weighed: Searcher,
) -> None:
    best = [hit.sentence_id for hit in read_name(weighed, "Ann Lee", sentences=3).best]
    assert best.index("a.s1") < best.index("a.s0")


def check_page(searcher: Searcher) -> None:
    page = read_name(searcher, "person:lee", sentences=2)
    assert (page.name, page.type, page.sentences, page.documents) == ("Ann Lee", PERSON, 3, 2)
    assert (page.first, page.last) == ("2017-02-01", "2017-03-05")
    assert list(page.forms.items()) == [("Ann Lee", 2), ("Lee", 1)]
    assert page.sources == {"x": 2, "y": 1} and page.months == {"2017-02": 2, "2017-03": 1}
    # Of 8 sentences, 3 have Ann Lee, 2 FEMA, and 1 both: more than the 0.75 by chance, which Ohio is below.
    assert page.in_sentences == [Companion("FEMA", BODY, 1, 2, pytest.approx(0.1743, abs=1e-4))]
    # Of 4 documents, 2 have Ann Lee, 2 FEMA, and 2 both.
    assert page.in_documents == [Companion("FEMA", BODY, 2, 2, pytest.approx(5.5452, abs=1e-4))]
    assert page.best[0].sentence_id in ("a.s0", "b.s1") and len(page.best) == 2
    # The newest first. "Lee" is another Lee in the first sentence of b, and has no name in the last of a.
    assert [quote.text for quote in page.said] == ["Ann Lee", "Lee spoke"] and page.ids == ("Q7",)
    said = read_name(searcher, "person:q7", sentences=9).said
    assert [(quote.sentence_id, quote.speaker, quote.cue) for quote in said] == [
        ("b.s1", "she", None),
        ("a.s1", "Lee", "said"),
        ("a.s2", "Lee", None),
    ]
    assert [
        quote.text for quote in find_quotations(searcher, "Bo Derr", None, NO_FILTERS, k=1).quotations
    ] == ["Bo"]
    assert len(find_quotations(searcher, "lee", None, NO_FILTERS).quotations) == 4, "also as it is written"
    assert len(find_quotations(searcher, "Ann Lee", parse("lee"), NO_FILTERS).quotations) == 4
    with pytest.raises(UsageError, match="unknown name 'Ann Lea': did you mean 'Ann Lee'"):
        read_name(searcher, "Ann Lea")


def test_the_query_language_tells_certain_speakers_from_probable_ones(searcher: Searcher) -> None:
    def found(query: str) -> list[str]:
        return sorted(hit.sentence_id for hit in searcher.search(parse(query)).hits)

    assert found('speaker:"Bo Derr"') == ["c.s0"], "of the document, whose certainty is unknown"
    assert found('speaker~:"Bo Derr"') == found('speaker~"Bo Derr"') == ["a.s1", "c.s0"]
    assert found('speaker:"Ann Lee"') == found('speaker~:"Ann Lee"') == ["a.s1", "a.s2", "b.s0", "b.s1"]
    listed = find_quotations(searcher, "Bo Derr", None, NO_FILTERS).quotations
    assert [(quote.sentence_id, quote.certainty) for quote in listed] == [("c.s0", None), ("a.s1", PROBABLE)]


def test_quotations_tell_which_sentences_have_all_words_of_the_query(searcher: Searcher) -> None:
    def complete(query: str, ranking: Mapping[str, Any], k: int = 20) -> list[tuple[str, bool | None]]:
        read = Ranking.from_dict(ranking)
        found = find_quotations(searcher, None, parse(query), NO_FILTERS, ranking=read, k=k)
        flags = [quotation.all_words for quotation in found.quotations]
        assert found.first_incomplete == (flags.index(False) if False in flags else None)
        return sorted((quotation.sentence_id, quotation.all_words) for quotation in found.quotations)

    reranked = {"rerank": [{"signal": "bm25"}], "depth": 2}
    for ranking in ({}, reranked):
        assert complete("lee ohio", ranking) == [
            *[("a.s1", True)] * 2,
            ("a.s2", False),
            *[("b.s0", False)] * 2,
            ("b.s1", False),
            ("c.s0", False),
        ]
    assert complete("lee spoke in ohio", {}, 1) == [("a.s1", True)]
    assert complete("lee ohio -rained", {})[:2] == [("a.s1", True)] * 2
    anything = find_quotations(searcher, None, None, NO_FILTERS)
    assert {quotation.all_words for quotation in anything.quotations} == {None}
    assert anything.first_incomplete is None


def test_the_command_says_where_quotations_have_only_some_words(folder: str) -> None:
    def lines(*arguments: str) -> list[str]:
        result = CliRunner().invoke(main, ["quotes", *arguments, "--index", folder], catch_exceptions=False)
        return result.output.splitlines()

    shown = lines("--about", "lee ohio")
    assert [line.startswith("From here on") for line in shown].index(True) == 4, "after both of a.s1"
    assert not any(line.startswith("From here on") for line in lines())
    assert "  probably Bo, Bo Derr (x, 2017-02-01, a.s1)" in shown


def test_the_commands_and_python_give_the_same(folder: str, tmp_path: Path) -> None:
    def run(*arguments: str) -> str:
        result = CliRunner().invoke(main, [*arguments, "--index", folder], catch_exceptions=False)
        assert result.exit_code == 0, result.output
        return result.output

    with esr.open(folder) as index:
        page = json.dumps(index.name("lee").as_dict())
        assert json.loads(run("name", "lee", "--format", "json")) == json.loads(page)
        listed = json.loads(run("names", "ohio", "--type", PERSON, "--format", "json"))
        assert [(n["name"], n["count"]) for n in listed] == [("Ann Lee", 1), ("Bo Derr", 1)]
        assert [name.name for name in index.names("ohio", type=PERSON)] == ["Ann Lee", "Bo Derr"]
        graphml = index.network("ohio").to_graphml()
    with open_searcher(folder) as searcher:
        answer = create_app(searcher, Settings()).test_client().get("/api/v1/names/page?name=person:q7").json
    assert answer == json.loads(page) and answer["said"] and answer["ids"] == ["Q7"]  # type: ignore[index]
    check = Draft202012Validator(
        {"$ref": "#/components/schemas/NamePage", "components": {"schemas": SCHEMAS}}
    )
    assert not list(check.iter_errors(answer))
    assert run("names", "--type", PLACE).split() == ["4", "location", "Ohio"]
    shown = run("name", "FEMA")
    assert "what it said\nAnn Lee (b.s1)\nLee spoke (a.s1)" in run("name", "lee")
    assert "\nids: Q7\n" in run("name", "q7") and "what it said" not in run("name", "lee", "-k", "0")
    assert "2 sentences, 2 documents" in shown and "first 2017-02-01, last 2017-03-05" in shown
    said = run("quotes", "ann lee")
    assert "Ann Lee\n  she, Ann Lee (y, 2017-03-05, b.s1)" in said and "Lee, Ann Lee (x" in said
    assert run("quotes", "anne lee") == "Nothing matched. Did you mean Ann Lee?\n"
    assert run("quotes", "zyx") == "Nothing matched.\n"
    asked = "What Ann Lee said about trucks: esr quotes 'ann lee' --about trucks"
    assert asked in run("search", "what did Ann Lee say about trucks")
    file, table = tmp_path / "names.graphml", tmp_path / "names.csv"
    run("names", "ohio", "--network", str(file))
    assert file.read_text() == graphml
    run("names", "ohio", "--network", str(table))
    rows = list(csv.reader(io.StringIO(table.read_text())))
    assert rows[0] == ["Source", "Target", "Type", "Weight", "LogDice"]
    assert rows[1][:4] == ["Ohio", "Ann Lee", "Undirected", "1"] and len(rows) == 4
    result = CliRunner().invoke(main, ["names", "--network", "x.txt", "--index", folder])
    assert result.exit_code == 2 and "ends in .graphml or .csv" in str(result.output) + str(result.exception)


def test_the_file_of_a_network_that_cannot_be_written_stays_as_it_was(
    folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # Python 3.11 would leave it cut off by the limit
    file, elsewhere = tmp_path / "names.graphml", tmp_path / "missing" / "names.csv"
    file.write_text("of yesterday")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (50, before[1]))
    try:
        full = CliRunner().invoke(main, ["names", "--network", str(file), "--index", folder])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert full.exit_code == 1 and full.output == f"Error: cannot write {file}: File too large\n"
    assert file.read_text() == "of yesterday" and not [*tmp_path.glob("*.new")]
    missing = CliRunner().invoke(main, ["names", "--network", str(elsewhere), "--index", folder])
    assert missing.output == f"Error: cannot write {elsewhere}: create the folder {elsewhere.parent} first\n"


def test_an_index_without_names_is_told_from_names_that_do_not_match(folder: str, tmp_path: Path) -> None:
    load(str(tmp_path / "i"), [document("a", "It rained in Ohio.")])
    none, other = (
        CliRunner().invoke(main, ["names", "--prefix", "zyx", "--index", where])
        for where in (str(tmp_path / "i"), folder)
    )
    assert none.exit_code == 2 and "has no names: find them with esr enrich" in none.output
    assert (other.exit_code, other.output) == (0, "No name was found.\n")


def test_networks_keep_invisible_signs_of_names_and_no_control_characters() -> None:
    name = "می\u200cخواهم"
    names = NameNetwork([ListedName(f"{name}\x01", "k", PERSON, 1)], ()).to_graphml()
    sources = Reuse((Taking(f"{name}\x01", "Wire", 1),)).to_graphml()
    for graphml in (names, sources):
        labels = [node.text or "" for node in ElementTree.fromstring(graphml).iter() if node.text]
        assert name in map(str.strip, labels)


def test_other_programs_read_the_network(folder: str, tmp_path: Path) -> None:
    need("networkx")
    import networkx

    with esr.open(folder) as index:
        (tmp_path / "names.graphml").write_text(index.network().to_graphml(), "utf-8")
    graph = networkx.read_graphml(tmp_path / "names.graphml")
    labels = networkx.get_node_attributes(graph, "label")
    counts = {labels[node]: count for node, count in networkx.get_node_attributes(graph, "count").items()}
    assert counts == {"Ohio": 4, "Ann Lee": 3, "Bo Derr": 2, "FEMA": 2}
    weights = {frozenset((labels[a], labels[b])): data["weight"] for a, b, data in graph.edges(data=True)}
    assert weights[frozenset(("Ann Lee", "FEMA"))] == 1 and len(weights) == 4
