"""An index in a folder: what it returns, and which commit it shows."""

from __future__ import annotations

import errno
import os
import random
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from esr.errors import UsageError
from esr.folder.format import damage
from esr.folder.format.snapshot import Snapshot
from esr.folder.index import EmbeddedIndex
from esr.folder.write import segment_writer
from esr.index.contract import Index, read_document
from esr.index.filters import Filters
from esr.index.questions import ByReuse, EvidenceOf, Records, Summary
from esr.plans.plan import HasAttribute, HasTerm
from esr.ranking.searcher import open_searcher
from esr.text.document import Sentence
from tests.support.folder_index import append, document, load

pytestmark = pytest.mark.slow


def test_stop_words_are_not_indexed(where: Path) -> None:
    load(where, [document("A", "the storms", "a storm of the and")], analyzer="english-stem")
    index = EmbeddedIndex(str(where))
    statistics = index.statistics(["storm", "the", "and"])
    assert (statistics.collection.occurrences, statistics.terms["storm"].cf) == (2, 2)
    assert not statistics.terms["the"].is_seen and not statistics.terms["and"].is_seen


def test_a_record_has_neighbors_from_its_own_document_only(where: Path) -> None:
    load(where, [document("A", "one", "two", "three", title="T", date="2017"), document("B", "four")])
    index = EmbeddedIndex(str(where))
    first, middle, alone = index.read(["A.s0", "A.s1", "B.s0"], Records())
    assert (first.previous, first.next) == (None, "two")
    assert (middle.previous, middle.text, middle.next, middle.position) == ("one", "two", "three", 1)
    assert (alone.previous, alone.next, alone.title) == (None, None, None)
    assert (middle.title, middle.date, middle.document_id) == ("T", "2017", "A")


@pytest.mark.parametrize(
    "sentence_id",
    ["A.s2", "A.s01", "A.s-1", "A.s", "A", "", "B.s0", "A.s١", "\udcff.s0", "A.s" + "9" * 5_000],
)
def test_an_unknown_sentence_is_named(where: Path, sentence_id: str) -> None:
    load(where, [document("A", "one", "two"), document("B", Sentence("given", "three"))])
    with pytest.raises(UsageError, match="there is no sentence"):
        EmbeddedIndex(str(where)).read([sentence_id], Records())


def test_an_explicit_id_of_the_default_form_belongs_to_its_sentence(where: Path) -> None:
    load(where, [document("A", Sentence("A.s1", "late"), Sentence("A.s0", "early"))])
    assert [r.text for r in EmbeddedIndex(str(where)).read(["A.s0", "A.s1"], Records())] == ["early", "late"]


def test_an_unknown_document_is_named(where: Path) -> None:
    load(where, [document("A", "one")])
    with pytest.raises(UsageError, match="there is no document 'B'"):
        read_document(EmbeddedIndex(str(where)), "B")


def test_an_open_index_sees_the_next_commit(where: Path) -> None:
    load(where, [document("A", "storm")])
    with open_searcher(str(where)) as searcher:
        assert searcher.search("storm").total == 1
        append(where, document("B", "storm"))
        assert searcher.search("storm").total == 2
        load(where, [document("C", "storm storm")], if_exists="replace")
        assert [hit.sentence_id for hit in searcher.search("storm").hits] == ["C.s0"]


def test_an_open_index_adopts_the_analyzer_of_the_next_commit(where: Path) -> None:
    load(where, [document("A", "storms")])
    with open_searcher(str(where)) as searcher:
        load(where, [document("A", "storms")], if_exists="replace", analyzer="english-stem")
        assert searcher.search("the storming").total == 1
        assert searcher.index.description.analyzer == "english-stem"


def test_an_index_sees_a_commit_that_came_while_it_was_opened(
    where: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load(where, [document("A", "storm")])

    def open_slowly(*arguments: Any) -> Snapshot:
        monkeypatch.undo()
        snapshot = Snapshot(*arguments)
        append(where, document("B", "storm"))
        return snapshot

    monkeypatch.setattr("esr.folder.index.Snapshot", open_slowly)
    index = EmbeddedIndex(str(where))
    assert index.statistics(["storm"]).terms["storm"].df == 2


def test_a_snapshot_stays_on_its_commit(where: Path) -> None:
    load(where, [document("A", "storm")])
    index = EmbeddedIndex(str(where))
    snapshot = index.snapshot()
    load(where, [document("B", "flood"), document("C", "flood")], if_exists="replace", analyzer="english")
    assert index.statistics(["flood"]).terms["flood"].df == 2
    assert snapshot.statistics(["flood"]).terms["flood"].df == 0
    assert snapshot.analyzer.name == "plain"
    assert read_document(snapshot, "A").id == "A"
    assert snapshot.read(["A.s0"], Records())[0].text == "storm"


def test_filters_are_resolved_on_the_commit_that_is_searched(
    where: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load(where, [document("a", "harbour strike")])
    index, resolved_on = EmbeddedIndex(str(where)), []

    def resolve_after_a_commit(searched: Index, filters: Filters) -> Filters:
        append(where, document("b", "harbour toll"))
        resolved_on.append(searched.statistics(()).collection.documents)
        return filters

    monkeypatch.setattr("esr.folder.index.resolve_filters", resolve_after_a_commit)
    term = HasTerm("harbour")
    assert index.count([term], Filters()) == [1]
    assert resolved_on == [1]


def test_an_open_index_answers_after_its_folder_was_deleted(where: Path) -> None:
    load(where, [document("A", "storm")])
    with open_searcher(str(where)) as searcher:
        for path in sorted(where.rglob("*"), reverse=True):
            path.rmdir() if path.is_dir() else path.unlink()
        where.rmdir()
        assert searcher.search("storm").total == 1
        assert searcher.index.status(Summary())["documents"] == 1


def test_an_index_of_documents_without_sentences_can_be_searched(where: Path) -> None:
    load(where, [document("A", title="storm"), document("B")])
    with open_searcher(str(where)) as searcher:
        for candidates in ("matching", "context", "all"):
            assert searcher.search("storm", candidates=candidates).hits == []
        assert searcher.index.status(Summary())["documents"] == 2


def test_paragraphs_are_stored_in_the_smallest_integers_that_hold_them(where: Path) -> None:
    paragraphs = [[0, 0, 1], [None, 254, None], []]
    documents = [
        document(str(n), *(Sentence(f"{n}.s{m}", "storm", paragraph=p) for m, p in enumerate(of_document)))
        for n, of_document in enumerate(paragraphs)
    ]
    load(where, documents)
    index = EmbeddedIndex(str(where))
    assert [[s.paragraph for s in d.sentences] for d in index.documents()] == paragraphs
    assert [record.paragraph for record in index.read(["1.s1", "0.s2", "1.s0"], Records())] == [254, 1, None]
    (path,) = where.glob("segments/*/paragraph.npy")
    assert np.load(path).tolist() == [1, 1, 2, 0, 255, 0] and np.load(path).dtype == np.uint8


def test_an_empty_index_returns_no_hits(where: Path) -> None:
    load(where, [])
    with open_searcher(str(where)) as searcher:
        answer = searcher.search("storm", priors={"length": 1.0})
        assert searcher.index.count([None], Filters(), ByReuse()) == [{}]
    assert (answer.hits, answer.total, answer.unseen) == ([], 0, ("storm",))


def test_the_evidence_of_no_sentence_has_a_row_for_each_term(where: Path) -> None:
    load(where, [document("A", "storm")])
    evidence = EmbeddedIndex(str(where)).read([], EvidenceOf(["storm", "flood"], ["length"]))
    assert {counts.shape for counts in evidence.counts.values()} == {(2, 0)}
    assert evidence.columns["length"].shape == (0,)


def test_statistics_are_those_of_all_segments(where: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(7)
    documents = [
        document(f"d{n}", *(" ".join(rng.choices("abcdef", k=rng.randrange(6))) for _ in range(n % 4)))
        for n in range(30)
    ]
    load(where, documents)
    monkeypatch.setattr(segment_writer, "FULL_TERMS", 9)
    load(where.with_name("many"), documents)
    single, segmented = EmbeddedIndex(str(where)), EmbeddedIndex(str(where.with_name("many")))
    assert segmented.status(Summary())["segments"] > 3 and single.status(Summary())["segments"] == 1
    assert segmented.statistics([*"abcdef", "unseen"]) == single.statistics([*"abcdef", "unseen"])
    assert single.statistics(["unseen"]).terms["unseen"].is_seen is False
    assert single.statistics([]).collection.longest_sentence == 5


def test_ties_keep_the_collection_order_across_segments(where: Path, small_segments: None) -> None:
    load(where, [document(f"d{n}", "storm", "storm flood") for n in (3, 1, 2, 0)])
    with open_searcher(str(where)) as searcher:
        for k in (1, 2, 3, 4, 5, 8):
            answer = searcher.search("storm", k, model="tfisf")
            assert [hit.sentence_id for hit in answer.hits] == [
                f"d{n}.s{m}" for n in (3, 1, 2, 0) for m in (0, 1)
            ][:k]


def test_a_filter_that_nothing_satisfies_gives_no_hits(where: Path) -> None:
    load(where, [document("A", "storm")])
    with open_searcher(str(where)) as searcher:
        assert searcher.search("storm", filters=Filters(documents=("B",))).total == 0


def test_an_index_whose_files_may_not_be_opened_for_a_while_is_not_damaged(
    where: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server whose process had no more files to open would refuse the index until the next commit."""
    load(where, [document("A", "storm")])

    def refuse(path: str) -> Any:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE), path)

    with closing(EmbeddedIndex(str(where))) as index:
        with monkeypatch.context() as patched:
            patched.setattr(damage, "check_file", refuse)
            index.warm_up()
            for thread in threading.enumerate():
                if thread.name == "esr-examine":
                    thread.join()
        assert index.snapshot().damage is None
        assert index.count([HasTerm("storm")], Filters()) == [1]


def test_a_filter_on_an_attribute_passes_over_segments_without_any(where: Path) -> None:
    load(where, [document("a", "harbour strike")])
    append(where, document("b", "harbour toll", section="Sports"))
    index = EmbeddedIndex(str(where))
    assert index.count([HasAttribute(("section",), ("Sports",))], Filters()) == [1]


LIMITED = """
import resource, sys
hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1] if sys.argv[2] == "soft" else int(sys.argv[1])
resource.setrlimit(resource.RLIMIT_NOFILE, (int(sys.argv[1]), hard))
if sys.argv[3] == "program":
    sys.argv[1:] = ["search", "storm", "--index", sys.argv[4]]
    from esr.cli.main import run
    run()
else:
    import esr
    with esr.open(sys.argv[4]) as index:
        print(*(hit.text for hit in index.search("storm")))
"""


@pytest.mark.parametrize("kind", ["program", "library"])
@pytest.mark.parametrize("limit", ["soft", "hard"])
def test_an_index_of_many_segments_raises_the_limit_of_open_files(
    where: Path, small_segments: None, limit: str, kind: str
) -> None:
    load(where, [document(f"d{n}", "storm") for n in range(8)])
    assert len([*where.glob("segments/*")]) == 8
    command = [sys.executable, "-c", LIMITED, "200", limit, kind, str(where)]
    done = subprocess.run(command, capture_output=True, text=True)
    if limit == "soft":
        assert "storm" in done.stdout and done.stderr == ""
    else:
        assert "this process may have no more files open; raise the limit" in done.stderr.splitlines()[-1]
