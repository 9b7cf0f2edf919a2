"""What somebody said over time: quotations in their order, with similar ones joined and changed words marked.

Quotations with most of their words in common are wordings of one statement. Copies of a wording are folded
into the one that appeared first. Only quotations whose speaker is certain count.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any, Literal

from msgspec import Struct, to_builtins

from esr.corpus.choices import STATEMENTS
from esr.corpus.names_and_quotes import Quotation, check_quotations, find_quotations
from esr.plugin import NotFound
from esr.plugin.provisional import (
    NO_FILTERS,
    EngineIndex,
    Filters,
    NameKey,
    ParsedQuery,
    Searcher,
    Table,
    compile_lazily,
    date_key,
    find_meant,
    find_overlaps,
    find_unknown_filters,
    group_repeats,
    parse_name_filter,
    questions,
    rarity,
    to_columns,
)

_SAME_STATEMENT = 0.6
"""The least share of a quotation in an earlier one that makes it a wording of the same statement."""
_COPY = 0.95
"""The least likeness of the words of two quotations that are copies."""
_FEW_WORDS = 4
"""Quotations with fewer distinct words, such as "fake news", are joined only with the same words."""


class Piece(Struct, frozen=True):
    """Words of a quotation that are the same as in the wording before, added to it, or removed from it."""

    kind: Literal["same", "added", "removed"]
    text: str


class Wording(Struct, frozen=True):
    """A quotation, the later ones that copy it, and how it differs from the wording before.

    `changes` are pieces of the quotation, with what was removed; empty for the first wording.
    """

    quotation: Quotation
    copies: Sequence[Quotation]
    changes: Sequence[Piece]


class Statement(Struct, frozen=True):
    """The wordings of a statement, oldest first, and the number of sources that print one."""

    wordings: Sequence[Wording]
    sources: int


class Statements(Table, Struct, frozen=True):
    """What somebody said, in the order in which each statement first appeared.

    `quotations` counts the quotations in the statements, `sentences` all sentences that match.
    """

    name: str
    about: str
    statements: Sequence[Statement]
    quotations: int
    sentences: int

    def as_dict(self) -> dict[str, Any]:
        """Return the statements as JSON."""
        data: dict[str, Any] = to_builtins(self)
        return data

    def rows(self) -> list[dict[str, Any]]:
        """A row for each wording, with the number of its statement."""
        return [
            {
                "statement": number,
                "date": wording.quotation.date,
                "source": wording.quotation.source,
                "text": wording.quotation.text,
                "sentence_id": wording.quotation.sentence_id,
                "copies": len(wording.copies),
            }
            for number, statement in enumerate(self.statements, 1)
            for wording in statement.wordings
        ]

    def columns(self) -> dict[str, list[Any]]:
        """Return a table with a row for each wording."""
        return to_columns(("statement", "date", "source", "text", "sentence_id", "copies"), self.rows())


def find_statements(
    searcher: Searcher,
    name: str,
    about: ParsedQuery | None,
    filters: Filters,
    *,
    k: int = STATEMENTS,
) -> Statements:
    """What somebody certainly said, of at most k quotations: the best for a query `about`, or the newest.

    `name` is any form of the name. With `about`, sentences have all of its words. Raises NotFound for an
    unknown name, and UsageError if the index has no quotations.
    """
    snapshot = searcher.snapshot()
    index, wanted = snapshot.index, parse_name_filter(name)
    names = [known for known in find_meant(index, wanted.key) if known.has_type(wanted.type)]
    exact = next((known for known in names if wanted.key in known.keys), None)
    person = exact or min(names, key=lambda known: (-known.sentences, known.key), default=None)
    speaker = NameKey(person.key) if person else name
    quotations = find_quotations(snapshot, speaker, about, filters, k=k)
    if not quotations.quotations:
        check_quotations(index)
    if not person and not find_quotations(snapshot, name, None, NO_FILTERS, k=1).quotations:
        unknown = find_unknown_filters(index, Filters(entities=(name,)))
        raise NotFound(unknown[0].message if unknown else f"unknown name {name!r}")
    attributed = [
        quotation
        for quotation in quotations.quotations
        if not quotation.is_probable and quotation.all_words is not False
    ]
    attributed.sort(key=lambda quotation: (date_key(quotation.date), quotation.sentence_id))
    statements = [_build_statement(group) for group in _group(index, attributed)]
    return Statements(
        person.form if person else name,
        about.text if about else "",
        statements,
        len(attributed),
        quotations.sentences,
    )


def _group(index: EngineIndex, quotations: Sequence[Quotation]) -> list[list[Quotation]]:
    """The quotations of each statement, in their order."""
    terms = [frozenset(index.analyzer.terms(quotation.text)) for quotation in quotations]
    overlaps = find_overlaps(terms, lambda needed: _weigh(index, needed), _FEW_WORDS)
    return [[quotations[place] for place in group] for group in group_repeats(overlaps, _SAME_STATEMENT)]


def _weigh(index: EngineIndex, terms: Collection[str]) -> Mapping[str, float]:
    size = index.statistics(()).collection.sentences
    holders = index.vocabulary(questions.TermHolders(list(terms)))
    return {term: rarity(size, min(holders.get(term, 0), size)) for term in terms}


def _build_statement(group: Sequence[Quotation]) -> Statement:
    wordings: list[tuple[Quotation, list[Quotation]]] = []
    for quotation in group:
        same = next((copies for first, copies in wordings if _is_copy(first.text, quotation.text)), None)
        if same is None:
            wordings.append((quotation, []))
        else:
            same.append(quotation)
    built = []
    for number, (quotation, copies) in enumerate(wordings):
        before = wordings[number - 1][0].text if number else None
        changes = [] if before is None else list(compare_wordings(before, quotation.text))
        built.append(Wording(quotation, copies, changes))
    return Statement(built, len({quotation.source for quotation in group if quotation.source}))


_WORD = compile_lazily(r"\w+(?:[-'’]\w+)*")


def _words(text: str) -> list[str]:
    return [word.lower().replace("’", "'") for word in _WORD.findall(text)]


def _is_copy(earlier: str, later: str) -> bool:
    first, second = _words(earlier), _words(later)
    if first == second:
        return True
    matcher = SequenceMatcher(None, first, second, autojunk=False)
    return matcher.quick_ratio() >= _COPY and matcher.ratio() >= _COPY


def compare_wordings(before: str, after: str) -> Iterator[Piece]:
    """The pieces of a text that are the same as in another, added, or removed, in order.

    Case and kinds of marks are no changes.
    """
    first, second = re.findall(r"\S+", before), re.findall(r"\S+", after)
    plain = [[" ".join(_words(word)) for word in words] for words in (first, second)]
    matcher = SequenceMatcher(None, plain[0], plain[1], autojunk=False)
    for kind, a, b, c, d in matcher.get_opcodes():
        if kind == "equal":
            yield Piece("same", " ".join(second[c:d]))
            continue
        if b > a:
            yield Piece("removed", " ".join(first[a:b]))
        if d > c:
            yield Piece("added", " ".join(second[c:d]))
