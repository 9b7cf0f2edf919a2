"""The messages of the errors that readers of the page can cause, from the places that raise them.

The values of a message are placeholders, `%(v1)s` for the first; a comment for translators says what they
are.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

ROOT = Path(__file__).resolve().parent.parent
PLACES = (
    "esr/alerts/alert_conditions.py",
    "esr/alerts/channels.py",
    "esr/alerts/schedule.py",
    "esr/arguments/filters.py",
    "esr/arguments/types.py",
    "esr/corpus/concordance.py",
    "esr/corpus/frequencies.py",
    "esr/corpus/names_and_quotes.py",
    "esr/corpus/statements.py",
    "esr/dossiers/account.py",
    "esr/dossiers/imports.py",
    "esr/dossiers/links.py",
    "esr/dossiers/merging.py",
    "esr/dossiers/records.py",
    "esr/dossiers/saved_searches.py",
    "esr/dossiers/store.py",
    "esr/errors.py",
    "esr/evidence/draft_check.py",
    "esr/evidence/quotation_check.py",
    "esr/evidence/reuse.py",
    "esr/following/overlap.py",
    "esr/following/similar_sentences.py",
    "esr/following/timeline.py",
    "esr/index/contract.py",
    "esr/index/filters.py",
    "esr/index/view.py",
    "esr/models/model.py",
    "esr/models/priors.py",
    "esr/query/query.py",
    "esr/ranking/across.py",
    "esr/ranking/boosts/answer_type.py",
    "esr/ranking/explanation/explain.py",
    "esr/ranking/searcher.py",
    "esr/registry.py",
    "webui/api/alerts.py",
    "webui/arguments/rankings.py",
    "webui/arguments/request.py",
    "webui/dossiers/finder.py",
    "webui/pages/batch.py",
    "webui/pages/checks.py",
    "webui/pages/views.py",
    "webui/pages/words.py",
    "webui/running/problems.py",
    "webui/running/rate_limit.py",
    "webui/running/served_desk.py",
    "webui/running/served_indexes.py",
)
"""The files whose errors readers see."""
_RAISED = frozenset(
    (
        "Conflict",
        "Forbidden",
        "NoAccount",
        "NoDesk",
        "NoDossier",
        "NotFound",
        "NotPermitted",
        "NotVisible",
        "RequestError",
        "TooManyFiles",
        "Unauthorized",
        "UnknownId",
        "UnsearchableQuery",
        "UsageError",
    )
)
_KINDS = frozenset(("Registry", "_check_number", "look_up", "unknown"))
"""Calls whose first argument is the kind of a thing, which a message names."""


_WORDS = ("WORDS", "ROLES")
"""Tables whose values and keys are parts of messages."""


class ErrorMessage(Struct, frozen=True):
    """A message with placeholders. `place`: the file. `values`: the code of each value, in order."""

    place: str
    text: str
    values: tuple[str, ...]


def error_messages() -> Iterator[ErrorMessage]:
    """Each message, in the order of the files and of the code."""
    for place in PLACES:
        for node in ast.walk(ast.parse((ROOT / place).read_text("utf-8"))):
            match node:
                case ast.Call(func=ast.Name(id=name), args=[first, *_]) if name in _RAISED | _KINDS:
                    yield from _read(place, first)
                case ast.Call(func=ast.Name(id="check_text"), args=[ast.Constant() as first, _, ast.Name()]):
                    yield from _read(place, first)
                case ast.Call(func=ast.Name(id="InputError" | "BadLine"), args=[_, problem]):
                    yield from _read(place, problem)
                case ast.AnnAssign(target=ast.Name(id=name), value=ast.Dict(keys, values)) if name in _WORDS:
                    for word in values if name == "WORDS" else keys:
                        yield from _read(place, word)


def _read(place: str, node: ast.expr | None) -> Iterator[ErrorMessage]:
    match node:
        case ast.Constant(value=str(text)):
            yield ErrorMessage(place, text.replace("%", "%%"), ())
        case ast.IfExp(body=one, orelse=other):
            yield from _read(place, one)
            yield from _read(place, other)
        case ast.JoinedStr(values=parts):
            text, values = "", []
            for part in parts:
                if isinstance(part, ast.FormattedValue):
                    values.append(ast.unparse(part.value))
                    text += f"%(v{len(values)})s"
                elif isinstance(part, ast.Constant):
                    text += str(part.value).replace("%", "%%")
            yield ErrorMessage(place, text, tuple(values))
