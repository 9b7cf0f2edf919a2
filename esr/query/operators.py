"""Operators and parentheses of queries: they bind chunks into groups, AND tighter than OR."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from esr.query.chunks import Chunk
from esr.query.query import (
    OPERATORS,
    Clause,
    Conjunction,
    Disjunction,
    Expression,
    Group,
    Note,
    NoteKind,
    Role,
    clauses_of,
    is_excluded,
    join,
    negate,
    write_note,
)


class Part(NamedTuple):
    """A chunk, or several joined by parentheses or operators, as an expression.

    `is_wanted`: it is a word without a sign, which is wanted if no operator joins it. `parentheses`: the
    positions of those that group in it. `needs_operator`: they group only next to an operator.
    """

    start: int
    end: int
    expression: Expression
    is_operand: bool
    is_wanted: bool = False
    can_be_excluded: bool = False
    parentheses: tuple[int, ...] = ()
    needs_operator: bool = False

    def is_operator(self, *operators: str) -> bool:
        return (
            not self.is_operand and isinstance(self.expression, Clause) and self.expression.text in operators
        )


def _read_part(chunk: Chunk) -> Part:
    clause = Clause(chunk.field, chunk.form, chunk.text, chunk.start, chunk.end)
    expression = negate(clause) if chunk.sign == "-" else clause
    is_wanted = chunk.is_word and not chunk.sign
    is_operand = chunk.is_operand and (not chunk.is_word or _is_balanced(chunk.text))
    return Part(chunk.start, chunk.end, expression, is_operand, is_wanted, chunk.can_be_excluded)


def resolve_parentheses(chunks: Sequence[Chunk], failed: list[Note]) -> list[Part]:
    """Convert chunks to parts. Each outermost pair of parentheses that groups is one part.

    Pairs that look like groups but are not get a note in `failed`.
    """
    partners = _match_parentheses(chunks)
    parts: list[Part] = []
    n = 0
    while n < len(chunks):
        end = partners.get(n, n)
        pair = chunks[n : end + 1]
        part = None
        if end > n and (is_syntax := _is_syntax(pair)) | _is_beside_operator(chunks, n, end):
            part = _read_parentheses(chunks, n, partners)
            if part is None and is_syntax:
                failed.append(write_note(pair[0].start, pair[0].end, NoteKind.PARENTHESIS))
        if part is None:
            parts += map(_read_part, pair)
        else:
            places = tuple(chunk.end - 1 for chunk in pair if chunk.is_parenthesis)
            parts.append(part._replace(parentheses=places, needs_operator=not is_syntax))
        n = end + 1
    return parts


def _match_parentheses(chunks: Sequence[Chunk]) -> dict[int, int]:
    """The number of the closing parenthesis by the number of its opening one, for matched pairs."""
    partners: dict[int, int] = {}
    open_: list[int] = []
    for n, chunk in enumerate(chunks):
        if chunk.is_parenthesis and chunk.text == "(":
            open_.append(n)
        elif chunk.is_parenthesis and open_:
            partners[open_.pop()] = n
    return partners


def _is_syntax(pair: Sequence[Chunk]) -> bool:
    """Whether a pair of parentheses, given with its contents, groups by itself: there are not only words."""
    inner = pair[1:-1]
    return (
        bool(pair[0].sign)
        or any(_is_operator(chunk, *OPERATORS) or not chunk.is_word for chunk in inner)
        or (len(inner) > 1 and any(chunk.sign for chunk in inner))
    )


def _is_beside_operator(chunks: Sequence[Chunk], start: int, end: int) -> bool:
    before, after = chunks[max(0, start - 1) : start], chunks[end + 1 : end + 2]
    return any(_is_operator(chunk, *OPERATORS) for chunk in before) or any(
        _is_operator(chunk, "AND", "OR") for chunk in after
    )


def _read_parentheses(chunks: Sequence[Chunk], start: int, partners: Mapping[int, int]) -> Part | None:
    """Read a pair of parentheses; None if it contains a non-operand. Adjacent operands mean AND."""
    parts: list[Part] = []
    n, end = start + 1, partners[start]
    while n < end:
        chunk = chunks[n]
        if n in partners:
            part = _read_parentheses(chunks, n, partners)
            if part is None:
                return None
            parts.append(part)
        elif chunk.form != "phrase" and (chunk.text[0] == "(" or not _is_balanced(chunk.text)):
            return None
        else:
            parts.append(_read_part(chunk))
        n = partners.get(n, n) + 1
    notes: list[Note] = []
    bound = bind_operators(parts, notes)
    if not bound or not all(part.is_operand for part in bound):
        return None
    expression, sign = join(Conjunction, (part.expression for part in bound)), chunks[start].sign
    if sign == "-":
        expression = negate(expression)
    return Part(chunks[start].start, chunks[end].end, expression, True, can_be_excluded=sign != "-")


def _is_balanced(text: str) -> bool:
    return text.count("(") == text.count(")")


def bind_operators(parts: Sequence[Part], notes: list[Note]) -> list[Part]:
    """Join parts by their operators."""
    parts = list(_bind_not(parts, notes))
    notes.extend(_note_parentheses(parts))
    return list(_bind_binary(parts, notes))


def _note_parentheses(parts: Sequence[Part]) -> Iterator[Note]:
    """Note words with an unmatched parenthesis next to an operator: `a OR (b c`."""
    for n, part in enumerate(parts):
        beside = (*parts[max(0, n - 1) : n], *parts[n + 1 : n + 2])
        word = part.expression.text if isinstance(part.expression, Clause) and part.is_wanted else ""
        if not _is_balanced(word) and any(neighbour.is_operator("AND", "OR") for neighbour in beside):
            yield write_note(part.start, part.end, NoteKind.PARENTHESIS)


def _bind_not(parts: Sequence[Part], notes: list[Note]) -> Iterator[Part]:
    """Yield the parts, joining each NOT with the part that it excludes."""
    remaining = iter(range(len(parts)))
    for n in remaining:
        part = parts[n]
        if part.is_operator("NOT"):
            if n + 1 < len(parts) and parts[n + 1].can_be_excluded:
                excluded, start = parts[next(remaining)], part.start
                expression = excluded.expression
                if isinstance(expression, Clause):
                    expression = expression._replace(start=start)
                yield excluded._replace(
                    start=start,
                    expression=negate(expression),
                    is_wanted=False,
                    can_be_excluded=False,
                    needs_operator=False,
                )
                continue
            notes.append(write_note(part.start, part.end, NoteKind.NOT))
        yield part


def _bind_binary(parts: Sequence[Part], notes: list[Note]) -> Iterator[Part]:
    """Yield the parts, joining those between which there is AND or OR."""
    n = 0
    while n < len(parts):
        first = n
        while n + 2 < len(parts) and _joins(*parts[n : n + 3]):
            n += 2
        yield from _bind_or(parts[first : n + 1], notes)
        n += 1


def _joins(left: Part, middle: Part, right: Part) -> bool:
    return middle.is_operator("AND", "OR") and left.is_operand and right.is_operand


def _bind_or(chain: Sequence[Part], notes: list[Note]) -> Iterator[Part]:
    """Yield the operands of a chain joined by its operators, or a part without operators.

    An OR with a side that only excludes is a word: nearly all sentences would match.
    """
    if len(chain) == 1:
        (part,) = chain
        for operator in ("AND", "OR"):
            if part.is_operator(operator):
                notes.append(write_note(part.start, part.end, NoteKind(operator.lower())))
        yield _alone(part)
        return
    ors = [n for n in range(1, len(chain), 2) if chain[n].is_operator("OR")]
    places = pairwise([-1, *ors, len(chain)])
    first, *others = (_join_parts(Conjunction, chain[start + 1 : end : 2]) for start, end in places)
    alternatives = [first]
    for n, term in zip(ors, others, strict=True):
        if is_excluded(alternatives[-1].expression) or is_excluded(term.expression):
            yield _alone(_join_parts(Disjunction, alternatives))
            notes.append(write_note(chain[n].start, chain[n].end, NoteKind.OR))
            yield chain[n]
            alternatives = []
        alternatives.append(term)
    yield _alone(_join_parts(Disjunction, alternatives))


def _alone(part: Part) -> Part:
    """A part without operators. Its parentheses do not group if they need an operator."""
    return part._replace(parentheses=()) if part.needs_operator else part


def _join_parts(kind: type[Conjunction | Disjunction], parts: Sequence[Part]) -> Part:
    if len(parts) == 1:
        return parts[0]
    places = tuple(place for part in parts for place in part.parentheses)
    expression = join(kind, (part.expression for part in parts))
    return Part(parts[0].start, parts[-1].end, expression, True, parentheses=places)


def make_group(part: Part) -> Group:
    expression = part.expression
    role: Role = "wanted" if part.is_wanted else "required"
    if is_excluded(expression):
        role, expression = "excluded", negate(expression)
    clauses = tuple(clauses_of(expression))
    is_flat = isinstance(expression, Clause) or (
        isinstance(expression, Disjunction) and clauses == expression.parts
    )
    return Group(role, clauses, part.start, part.end, None if is_flat else expression)


def _is_operator(chunk: Chunk, *operators: str) -> bool:
    return not chunk.is_operand and chunk.text in operators
