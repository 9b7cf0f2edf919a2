"""Every method of the contract, and every question, asked of a view that hides some documents."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from esr.access.restricted import parse_restriction
from esr.errors import EsrError, NotFound, NotVisible
from esr.index import questions
from esr.index.contract import Index
from esr.index.filters import FACET_FIELDS, NO_FILTERS, Filters
from esr.index.hits import SentenceTexts
from esr.index.values import ValueTable
from esr.index.view import View, restrict
from esr.plans.plan import DateRange, HasPrefix, HasTerm
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import Searcher, open_searcher
from esr.text.sentence_enrichment import QuantizedVector
from tests.webui.access.conftest import MARK

HIDDEN, VISIBLE = "h0.s0", "v0.s0"
VECTOR = QuantizedVector(bytes(4), 1.0)
EVERYTHING = DateRange()
QUESTIONS: Mapping[type[Any], list[tuple[Any, ...]]] = {
    questions.Records: [()],
    questions.Parses: [()],
    questions.Quotes: [()],
    questions.Windows: [([("v0", 0)], [9])],
    questions.Copies: [()],
    questions.Vectors: [("tiny",)],
    questions.VectorOrigins: [("tiny",)],
    questions.SimilaritiesTo: [("tiny", VECTOR, ("neighbours", "document"))],
    questions.EvidenceOf: [(["storm"], ["features.subj"])],
    questions.Hits: [(True,), (False,)],
    questions.Texts: [()],
    questions.ByDay: [()],
    questions.ByDocument: [(["h0", "v0"],)],
    questions.ByField: [([*FACET_FIELDS, "meta.desk", "meta.Zanzukey"], 50)],
    questions.ByName: [(50,), (50, "sentences", "zanz"), (50, "documents")],
    questions.ByTerm: [(1_000_000,)],
    questions.ByReuse: [()],
    questions.TermsBy: [("source",), ("day",)],
    questions.ByValue: [("features.subj",)],
    questions.TermsWithPrefix: [("", 99), (MARK, 99)],
    questions.TermHolders: [(["storm"],)],
    questions.WordsWithPrefix: [("", 99), (MARK, 99)],
    questions.WordCounts: [(["storm"],)],
    questions.SimilarWords: [("zanzuwor", 2, 1)],
    questions.WrittenForms: [(["storm"],)],
    questions.Values: [("source",), ("author",), ("section",), ("keyword",), ("meta",), ("meta.desk",)],
    questions.Names: [(["zanzuton", "avonton"],)],
    questions.NamesWithPrefix: [("", 99), ("zanz", 99)],
    questions.NameForms: [("zanzuton",)],
    questions.FullNames: [(["zanzuton"],)],
    questions.Summary: [()],
    questions.Readiness: [()],
    questions.Languages: [()],
    questions.Features: [()],
    questions.HasParses: [()],
    questions.HasCopies: [()],
    questions.MainEncoder: [()],
    questions.StoredTable: [()],
    questions.NearestIsExact: [()],
    questions.ContentMark: [()],
    questions.DocumentMarks: [()],
    questions.DocumentsBefore: [(2**42,)],
}
"""Arguments that would show what is hidden, by type of question."""
COUNTS = {questions.ByDay: {17230: 6}, questions.ByName: {"avonton": 6}}
"""Of groups, what a view counts whose six visible sentences are of one day and mention one name."""
ASK: Mapping[type[Any], Callable[[Index, Any], Any]] = {
    questions.Column: lambda index, column: index.read([VISIBLE], column),
    questions.Selection: lambda index, selection: index.select(EVERYTHING, 99, NO_FILTERS, selection),
    questions.Grouping: lambda index, by: index.count([None, EVERYTHING], NO_FILTERS, by),
    questions.Lookup: lambda index, lookup: index.vocabulary(lookup),
    questions.Fact: lambda index, fact: index.status(fact),
}


def kinds() -> list[type[Any]]:
    """All types of questions."""
    own = "esr.index.questions"
    return [kind for base in ASK for kind in base.__subclasses__() if kind.__module__ == own]


def readable(answer: Any) -> str:
    """What an answer shows, in lower case."""
    if isinstance(answer, SentenceTexts):
        answer = (list(answer.texts), answer.sources)
    if isinstance(answer, ValueTable):
        answer = answer.with_prefix("", 99)
    return repr(answer).lower().replace("'meta.zanzukey'", "")  # the name that was asked for


@pytest.fixture(scope="module")
def searchers(either: dict[str, str]) -> Any:
    with open_searcher(either["news"]) as searcher:
        yield searcher, restrict(searcher.index, parse_restriction('source:"sports post"'))


@pytest.fixture(scope="module")
def view(searchers: tuple[Searcher, View]) -> View:
    return searchers[1]


def test_each_type_of_question_is_asked() -> None:
    assert set(kinds()) == set(QUESTIONS)


@pytest.mark.parametrize("kind", kinds(), ids=lambda kind: kind.__name__)
def test_no_answer_shows_what_a_view_hides(searchers: tuple[Searcher, View], kind: type[Any]) -> None:
    searcher, view = searchers
    ask = next(ask for base, ask in ASK.items() if issubclass(kind, base))
    for arguments in QUESTIONS[kind]:
        question = kind(*arguments)
        try:
            whole = readable(ask(searcher.index, question))
        except EsrError:  # an engine without vectors
            continue
        try:
            answer = ask(view, question)
        except NotVisible:
            continue
        assert MARK not in readable(answer), question
        if kind in COUNTS and not arguments[1:]:
            assert answer == [COUNTS[kind]] * 2 and readable(answer) != whole


@pytest.mark.parametrize("kind", questions.Column.__subclasses__(), ids=lambda kind: kind.__name__)
def test_no_column_of_a_hidden_sentence_is_read(view: View, kind: type[Any]) -> None:
    with pytest.raises(NotFound, match=r"no sentence 'h0\.s0'"):
        view.read([VISIBLE, HIDDEN], kind(*QUESTIONS[kind][0]))


METHODS: Mapping[str, Callable[[View, Searcher], Any]] = {
    "snapshot": lambda view, _: view.snapshot().documents(["h0", "v0"]),
    "on_latest": lambda view, _: view.on_latest(lambda index: index.documents(["h0", "v0"])),
    "search": lambda view, whole: view.search(whole.prepare("storm", Ranking()).plan, 99, NO_FILTERS),
    "candidates": lambda view, whole: [
        candidates.sentence_id(row)
        for candidates in [view.candidates(whole.prepare("storm", Ranking()).plan, NO_FILTERS)]
        for row in range(len(candidates.evidence.lengths["sentence"]))
    ],
    "nearest": lambda view, _: view.nearest("tiny", VECTOR, 99, None, NO_FILTERS),
    "count": lambda view, _: view.count([HasPrefix(MARK), HasTerm("zanzuword")], NO_FILTERS),
    "documents": lambda view, _: view.documents(["h0", "v0"]),
    "read": lambda view, _: view.read([VISIBLE], questions.Records()),
    "select": lambda view, _: view.select(HasPrefix(MARK), 9, NO_FILTERS, questions.Hits()),
    "vocabulary": lambda view, _: view.vocabulary(questions.WordsWithPrefix("z", 9)),
    "status": lambda view, _: view.status(questions.Languages()),
    "statistics": lambda view, _: view.statistics(["storm"]),
}
"""Methods that a view answers, each with a call of it."""
REFUSED: Mapping[str, Callable[[View, Searcher], Any]] = {
    "request": lambda view, whole: view.request(whole.prepare("storm", Ranking()).plan, 9, NO_FILTERS),
    "documents": lambda view, _: view.documents(),
    "documents at": lambda view, _: view.documents(positions=[0, 4]),
    "enrichment": lambda view, _: view.enrichment(),
    "status": lambda view, _: view.status(questions.Summary()),
}
WITHOUT_ANSWER = {"warm_up", "close"}


def test_each_method_of_the_contract_is_called() -> None:
    methods = {name for name, value in vars(Index).items() if callable(value) and name[0] != "_"}
    assert methods == {*METHODS, *(name for name in REFUSED if " " not in name), *WITHOUT_ANSWER}
    assert len(methods) <= 16


@pytest.mark.parametrize("name", METHODS)
def test_no_method_shows_what_a_view_hides(searchers: tuple[Searcher, View], name: str) -> None:
    whole, view = searchers
    answer = METHODS[name](view, whole)
    assert MARK not in readable(answer) and "'h0" not in readable(answer)
    if name == "count":
        assert answer == [0, 0]


@pytest.mark.parametrize("name", REFUSED)
def test_what_a_view_cannot_restrict_is_refused(searchers: tuple[Searcher, View], name: str) -> None:
    whole, view = searchers
    with pytest.raises(NotVisible):
        REFUSED[name](view, whole)


def test_the_parts_of_a_view_hold_in_any_order(view: View) -> None:
    """A language, or another condition, on top of rights leaves the rights."""
    narrower = restrict(View(view), HasPrefix("goalkeeper"))
    assert narrower.count([None, HasPrefix(MARK)], NO_FILTERS) == [3, 0]
    assert view.count([None], Filters(sources=("Zanzu Post",))) == [0]


class FactOfTomorrow(questions.Fact[str], frozen=True):
    stage = "fact"


class LookupOfTomorrow(questions.Lookup[str], frozen=True):
    stage = "lookup"


def test_what_an_index_learns_to_tell_is_refused_until_it_is_restricted(view: View) -> None:
    with pytest.raises(NotVisible):
        view.status(FactOfTomorrow())
    with pytest.raises(NotVisible):
        view.vocabulary(LookupOfTomorrow())
