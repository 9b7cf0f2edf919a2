"""Copies in several documents: found, stored, read, delivered, removed, and kept out of sight of others."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, closing
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner

import esr
from esr.cli.main import main
from esr.errors import NotVisible, UsageError
from esr.evidence.reuse import Taking, find_reuse
from esr.index.contract import Index
from esr.index.factory import open_delivery, open_generations
from esr.index.filters import NO_FILTERS, Filters
from esr.index.questions import ByDay, ByField, ByReuse, Copies, HasCopies, Summary
from esr.index.runs.reuse_run import run_reuse
from esr.index.view import restrict
from esr.index.writer import LoadOptions
from esr.plans.plan import HasSource, Not
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import open_searcher
from esr.text.document import Document
from esr.text.validate import to_json_line
from tests.support.elasticsearch import document, fresh, load, located

WIRE = "The harbour authority closed both piers on Monday after a cargo ship struck the northern breakwater."
EDITED = "The harbour authority closed two piers Monday, after a cargo ship struck the northern breakwater."
OTHER = "Farmers in the western valleys expect the smallest olive harvest in three decades this autumn."
TEMPLATE = "Quarterly profit of the company rose to {} million euros from {} million euros a year before."
SHORT = "Read more about this story."
FIRST = [
    document("daily", OTHER, WIRE, SHORT, date="2024-03-04", source="Daily Post"),
    document("wire", WIRE, SHORT, TEMPLATE.format(12, 11), date="2024-03-03", source="Northern Wire"),
    document("evening", EDITED, TEMPLATE.format(85, 91), date="2024-03-05", source="Evening News"),
    document("undated", WIRE, "Nobody was hurt when the vessel hit the wall, a spokesman of the port said."),
]
MORE = [
    document("olives", OTHER.replace("smallest", "poorest"), date="2024-03-07", source="Evening News"),
    document("early", EDITED, date="2024-03-01", source="Harbour Gazette"),
]
Groups = Mapping[str, list[str] | None]


@pytest.fixture(params=["folder", pytest.param("elasticsearch", marks=pytest.mark.elasticsearch)])
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """A place for an index on either engine."""
    with ExitStack() as stack:
        where = str(tmp_path / "index")
        if request.param == "elasticsearch":
            where = stack.enter_context(fresh(request.getfixturevalue("elasticsearch_url")))
        yield where


@pytest.fixture
def place(engine: str) -> str:
    """An index of FIRST on either engine, in which copies were found."""
    load(engine, FIRST)
    find(engine)
    return engine


def find(where: str) -> None:
    with open_searcher(where) as searcher:
        run_reuse(searcher.index)


def deliver(where: str, documents: Iterable[Document]) -> None:
    open_delivery(where, LoadOptions()).append(located(documents))
    find(where)


def read_groups(index: Index, *documents: Document) -> Groups:
    """The ids of the group of each sentence of these documents."""
    ids = [sentence.id for document in documents for sentence in document.sentences]
    groups = index.read(ids, Copies())
    return {
        id: group and [one.sentence_id for one in group.appearances]
        for id, group in zip(ids, groups, strict=True)
    }


def groups_in(where: str, *documents: Document) -> Groups:
    with open_searcher(where) as searcher:
        return {id: group for id, group in read_groups(searcher.index, *documents).items() if group}


ORDER = ["wire.s0", "daily.s1", "evening.s0", "undated.s0"]


def test_copies_are_found_also_edited_but_neither_templates_nor_short_sentences(place: str) -> None:
    assert groups_in(place, *FIRST) == dict.fromkeys(ORDER, ORDER)
    with open_searcher(place) as searcher:
        assert searcher.index.status(HasCopies())
        (group,) = searcher.index.read(["evening.s0"], Copies())
        rows = searcher.index.status(Summary())["enrichment"]
    assert group is not None and group.first == ("wire.s0", "wire", 0, "2024-03-03", "Northern Wire")
    assert (group.documents, group.sources) == (4, ["Northern Wire", "Daily Post", "Evening News"])
    assert [(row["part"], row["documents"]) for row in rows] == [("reuse", 4)]


def test_a_delivery_adds_to_the_groups_what_a_run_over_all_would_find(place: str, tmp_path: Path) -> None:
    deliver(place, MORE)
    at_once = str(tmp_path / "at-once")
    load(at_once, [*FIRST, *MORE])
    find(at_once)
    groups = groups_in(place, *FIRST, *MORE)
    assert groups == groups_in(at_once, *FIRST, *MORE)
    assert groups["olives.s0"] == ["daily.s0", "olives.s0"]
    assert groups["wire.s0"] == ["early.s0", *ORDER], "an older document that comes later is the first"


def test_removed_documents_leave_their_groups_and_a_rollback_brings_them_back(place: str) -> None:
    open_delivery(place, LoadOptions()).remove(["wire"])
    find(place)
    assert groups_in(place, FIRST[0]) == {"daily.s1": ["daily.s1", "evening.s0", "undated.s0"]}
    open_delivery(place, LoadOptions()).remove(["evening", "undated"])
    find(place)
    assert groups_in(place, FIRST[0]) == {}
    with closing(open_generations(place)) as generations:
        generations.rollback()
    assert groups_in(place, FIRST[0]) == {"daily.s1": ["daily.s1", "evening.s0", "undated.s0"]}


def test_a_removed_first_appearance_has_a_successor_at_once(place: str) -> None:
    removed = CliRunner().invoke(main, ["remove", "wire", "--index", place])
    assert removed.exit_code == 0, removed.output
    assert count_independent(place) == 5
    with esr.open(place) as index:
        index.remove(["daily"])
    assert count_independent(place) == 3


def test_independent_is_refused_where_copies_were_not_looked_for(engine: str) -> None:
    load(engine, FIRST)
    with esr.open(engine) as index:
        for ask in (
            lambda: index.search("harbour", independent=True),
            lambda: index.newest("harbour", independent=True),
            lambda: index.timeline("harbour", independent=True),
            lambda: index.evidence("The harbour closed both piers", independent=True),
        ):
            with pytest.raises(UsageError, match="esr enrich --only reuse"):
                ask()
        index.enrich("reuse")
        texts = [hit.text for hit in index.search("harbour piers", independent=True)]
        assert WIRE in texts and EDITED not in texts
    with open_searcher(engine) as searcher:
        (number,) = searcher.index.count([None], Filters(independent=True))
        assert number < searcher.index.count([None], NO_FILTERS)[0]


def count_independent(where: str) -> int:
    with open_searcher(where) as searcher:
        (number,) = searcher.index.count([None], Filters(independent=True))
    return number


def test_facets_and_days_can_count_each_group_once(place: str) -> None:
    independent = Filters(independent=True)
    with open_searcher(place) as searcher:
        index = searcher.index
        assert index.count([None], NO_FILTERS) == [10] and index.count([None], independent) == [7]
        ((days,), (facets,)) = (
            index.count([None], independent, by) for by in (ByDay(), ByField(["source"], 9))
        )
        plan = searcher.prepare("harbour breakwater", Ranking())
        hits = plan.search(10, independent).hits
    assert sum(days.values()) == 6, "the undated document has another one"
    assert dict(facets["source"]) == {"Northern Wire": 3, "Daily Post": 2, "Evening News": 1}
    assert "wire.s0" in {hit.sentence_id for hit in hits}
    assert not {"daily.s1", "evening.s0", "undated.s0"} & {hit.sentence_id for hit in hits}


def test_sources_that_print_a_sentence_later_take_it(place: str) -> None:
    with open_searcher(place) as searcher:
        found = find_reuse(searcher, NO_FILTERS)
        assert found.pairs == [
            Taking("Northern Wire", "Daily Post", 1),
            Taking("Northern Wire", "Evening News", 1),
        ]
        assert find_reuse(searcher, Filters(sources=("Evening News",))).pairs == found.pairs[1:]
        with pytest.raises(esr.UsageError, match="independent leaves out"):
            find_reuse(searcher, Filters(independent=True))
        graph = ElementTree.fromstring(found.to_graphml())
    assert len(graph.findall(".//{*}node")) == 3
    assert [edge.attrib for edge in graph.iter("{http://graphml.graphdrawing.org/xmlns}edge")] == [
        {"source": "n1", "target": "n0"},
        {"source": "n2", "target": "n0"},
    ]


def test_who_sees_some_documents_sees_their_copies_alone(place: str) -> None:
    with open_searcher(place) as searcher:
        view = restrict(searcher.index, Not(HasSource(("Northern Wire", "Daily Post"))))
        assert read_groups(view, FIRST[2])["evening.s0"] == ["evening.s0", "undated.s0"]
        view = restrict(searcher.index, HasSource(("Daily Post",)))
        assert read_groups(view, FIRST[0])["daily.s1"] is None
        for ask in (
            lambda: view.count([None], Filters(independent=True)),
            lambda: view.count([None], NO_FILTERS, ByReuse()),
        ):
            with pytest.raises(NotVisible):
                ask()


def test_an_append_of_the_library_finds_the_copies_of_new_sentences(tmp_path: Path) -> None:
    where = str(tmp_path / "index")
    load(where, FIRST)
    (tmp_path / "more.jsonl").write_text("".join(to_json_line(one) + "\n" for one in MORE))
    with esr.open(where) as index:
        assert index.enrich("reuse").sentences == 10
        index.append(tmp_path / "more.jsonl")
    assert groups_in(where, *MORE)["early.s0"] == ["early.s0", *ORDER]


_KILLED = """
import os, signal, sys
from esr.elastic.write import enrichment
from esr.folder.format import manifest
from esr.index.runs.reuse_run import run_reuse
from esr.ranking.searcher import open_searcher

def die(*args):
    os.kill(os.getpid(), signal.SIGKILL)

where, point = sys.argv[1:]
send = enrichment.send_updates

def send_half(cluster, actions):
    actions = list(actions)
    send(cluster, actions[: len(actions) // 2])
    enrichment.refresh(cluster, cluster.alias)
    die()

manifest.commit = die
if point == "among sentences":
    enrichment.send_updates = send_half
elif point == "before the switch":
    enrichment.serve_slot = die
else:
    serve = enrichment.serve_slot
    enrichment.serve_slot = lambda *args: (serve(*args), die())
with open_searcher(where) as searcher:
    run_reuse(searcher.index)
"""


@pytest.mark.slow
@pytest.mark.parametrize("point", ["among sentences", "before the switch"])
def test_a_run_that_is_killed_leaves_the_former_groups(place: str, point: str) -> None:
    open_delivery(place, LoadOptions()).append(located(MORE))
    for _ in range(2):
        kill_run(place, point)
        assert groups_in(place, *FIRST, *MORE) == dict.fromkeys(ORDER, ORDER)
        assert count_independent(place) == 9
    find(place)
    assert groups_in(place, *MORE)["early.s0"] == ["early.s0", *ORDER]
    assert count_independent(place) == 7


def kill_run(where: str, point: str) -> None:
    killed = subprocess.run([sys.executable, "-c", _KILLED, where, point], check=False)
    assert killed.returncode == -signal.SIGKILL


@pytest.mark.elasticsearch
def test_a_run_that_is_killed_after_the_switch_has_stored_its_groups(elasticsearch_url: str) -> None:
    with fresh(elasticsearch_url) as where:
        load(where, FIRST)
        find(where)
        open_delivery(where, LoadOptions()).append(located(MORE))
        for _ in range(2):
            kill_run(where, "after the switch")
            assert groups_in(where, *MORE)["early.s0"] == ["early.s0", *ORDER]
        find(where)
        assert groups_in(where, *MORE)["early.s0"] == ["early.s0", *ORDER]
        open_delivery(where, LoadOptions()).remove(["early", "olives"])
        find(where)
        assert groups_in(where, *FIRST) == dict.fromkeys(ORDER, ORDER)


@pytest.mark.elasticsearch
def test_a_first_run_that_is_killed_counts_as_none(elasticsearch_url: str) -> None:
    with fresh(elasticsearch_url) as where:
        load(where, FIRST)
        kill_run(where, "before the switch")
        with open_searcher(where) as searcher:
            assert not searcher.index.status(HasCopies())
        find(where)
        assert groups_in(where, *FIRST) == dict.fromkeys(ORDER, ORDER)


@pytest.mark.elasticsearch
def test_indices_that_serve_different_slots_have_their_groups_together(elasticsearch_url: str) -> None:
    with fresh(elasticsearch_url) as where:
        load(where, FIRST)
        find(where)
        load(where, MORE, if_exists="append")
        for _ in range(2):
            find(where)
            assert groups_in(where, *MORE)["early.s0"] == ["early.s0", *ORDER]
            assert count_independent(where) == 7


@pytest.mark.elasticsearch
def test_a_migration_keeps_the_groups(elasticsearch_url: str) -> None:
    with fresh(elasticsearch_url) as where:
        load(where, FIRST)
        for _ in range(3):
            migrated = CliRunner().invoke(main, ["migrate", "--index", where])
            assert migrated.exit_code == 0, migrated.output
            find(where)
            assert groups_in(where, *FIRST) == dict.fromkeys(ORDER, ORDER)


def test_the_command_lists_who_takes_from_whom(tmp_path: Path) -> None:
    where = str(tmp_path / "index")
    load(where, FIRST)
    run = CliRunner().invoke
    result = run(main, ["reuse", "--index", where])
    assert result.exit_code == 2 and "esr enrich --only reuse" in result.output
    enriched = run(main, ["enrich", "--only", "reuse", "--index", where])
    assert "4 sentences stand in several documents, in 1 group" in enriched.output
    assert run(main, ["enrich", "--only", "reuse", "--slice", "1/2", "--index", where]).exit_code
    assert "4 of 4 documents" in run(main, ["status", "--index", where]).output
    listed = run(main, ["reuse", "--index", where, "--format", "csv"]).output
    assert listed.splitlines()[:2] == ["origin,taker,sentences", "Northern Wire,Daily Post,1"]
    assert run(main, ["reuse", "--index", where]).output.startswith(
        "     1  Daily Post    from Northern Wire"
    )
    assert run(main, ["reuse", "--index", where, "--least", "2"]).output.startswith("No source")
