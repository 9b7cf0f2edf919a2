"""The arguments of dossiers: those in addresses, and those in the bodies of requests that change something.

An argument of a body applies to the operation's name after `BODY`. Commands take them as options.
"""

from __future__ import annotations

from esr.arguments.argument import Argument
from esr.arguments.types import Choice, Structure, Text, WholeNumber

BODY = "body:"
_ONE = "dossier dossier_history dossier_links"
_CHANGES = (
    "dossier_add dossier_import dossier_edit dossier_move dossier_arrange dossier_remove dossier_rename "
    "dossier_restore dossier_share dossier_give dossier_link dossier_revoke dossier_delete"
)
_MOST_IDS = 1_000
_ID = Text(min_chars=1)
_VERSION = WholeNumber(low=1, high=1_000_000_000)


def _body(*operations: str) -> str:
    return " ".join(f"{BODY}{operation}" for operation in operations)


def _texts(most: int, chars: int = 300, least: int = 0) -> Structure:
    item = {"type": "string", "minLength": 1, "maxLength": chars}
    return Structure(shape={"type": "array", "minItems": least, "maxItems": most, "items": item})


_IDS = _texts(_MOST_IDS)
_SWITCH = Structure(shape={"type": "boolean", "default": False})
DOSSIERS: tuple[Argument, ...] = (
    Argument("id", "the id of the dossier", _ID, _ONE, is_required=True),
    Argument("id", "the id of the dossier", _ID, _body(*_CHANGES.split()), is_required=True),
    Argument(
        "version",
        "an earlier version of the dossier, by default the present one",
        _VERSION,
        "dossier",
    ),
    Argument(
        "version", "the version of the state to restore", _VERSION, _body("dossier_restore"), is_required=True
    ),
    Argument(
        "deleted",
        "which dossiers to list: those that there are, or your deleted ones",
        Choice(labels={"no": "", "yes": ""}, usual="no"),
        "dossiers",
    ),
    Argument(
        "holds",
        "list only dossiers that hold this sentence or document, by its id",
        Text(min_chars=1),
        "dossiers",
        is_repeatable=True,
    ),
    Argument("token", "the token of the link", Text(min_chars=1), "dossier_shared", is_required=True),
    Argument(
        "name",
        "the name of the dossier",
        Structure(shape={"type": "string", "minLength": 1, "maxLength": 200}),
        _body("dossier_create"),
        is_required=True,
    ),
    Argument(
        "name",
        "a new name of the dossier",
        Structure(shape={"type": "string", "minLength": 1, "maxLength": 200}),
        _body("dossier_rename"),
    ),
    Argument(
        "name",
        "the account, or the group",
        Structure(shape={"type": "string", "minLength": 1, "maxLength": 200}),
        _body("dossier_share", "dossier_give"),
        is_required=True,
    ),
    Argument(
        "description",
        "what the dossier is for",
        Structure(shape={"type": "string", "maxLength": 20_000}),
        _body("dossier_create", "dossier_rename"),
    ),
    Argument("sentences", "the ids of sentences of the index", _IDS, _body("dossier_add")),
    Argument("documents", "the ids of documents of the index", _IDS, _body("dossier_add")),
    Argument(
        "clippings",
        "clippings as a browser keeps them, each with sentence_id, text, document_id, title and so on",
        Structure(shape={"type": "array", "maxItems": 5_000, "items": {"type": "object"}}),
        _body("dossier_import"),
        is_required=True,
    ),
    Argument("item", "the id of the item", _ID, _body("dossier_edit"), is_required=True),
    Argument(
        "items",
        "the ids of the items, in their order",
        _texts(5_000, least=1),
        _body("dossier_move", "dossier_arrange", "dossier_remove"),
        is_required=True,
    ),
    Argument(
        "after",
        "the id of the item behind which to put them, by default the start",
        _ID,
        _body("dossier_move"),
    ),
    Argument(
        "after",
        "the id of the item behind which to put them, by default the end",
        _ID,
        _body("dossier_add", "dossier_import"),
    ),
    Argument(
        "note",
        "the note on the item",
        Structure(shape={"type": "string", "maxLength": 20_000}),
        _body("dossier_add", "dossier_edit"),
    ),
    Argument("tags", "the tags of the item", _texts(50, 100), _body("dossier_add", "dossier_edit")),
    Argument(
        "highlights",
        "the marked parts of the text: from the character start to before the character end",
        Structure(
            shape={
                "type": "array",
                "maxItems": 200,
                "items": {
                    "type": "object",
                    "required": ["start", "end"],
                    "additionalProperties": False,
                    "properties": {
                        "start": {"type": "integer", "minimum": 0},
                        "end": {"type": "integer", "minimum": 1},
                        "label": {"type": "string", "maxLength": 100},
                    },
                },
            }
        ),
        _body("dossier_edit"),
    ),
    Argument(
        "judgement",
        "how relevant the item is, from -1 to 10; null: not judged",
        Structure(shape={"anyOf": [{"type": "integer", "minimum": -1, "maximum": 10}, {"type": "null"}]}),
        _body("dossier_edit"),
    ),
    Argument(
        "base",
        "the version of the item that you have read: changes by others since then are merged",
        _VERSION,
        _body("dossier_edit"),
    ),
    Argument(
        "base",
        "the version of the dossier that you have read: changes by others since then are merged",
        _VERSION,
        _body("dossier_move", "dossier_rename"),
    ),
    Argument(
        "role",
        "reader, writer, or none to end it",
        Choice(labels={"reader": "", "writer": "", "none": ""}),
        _body("dossier_share"),
        is_required=True,
    ),
    Argument(
        "group", "whether it is a group of people; the group * is everybody", _SWITCH, _body("dossier_share")
    ),
    Argument(
        "days",
        "for how many days the link is valid",
        Structure(shape={"type": "number", "exclusiveMinimum": 0, "maximum": 366, "default": 30}),
        _body("dossier_link"),
    ),
    Argument("link", "the id of the link", _ID, _body("dossier_revoke"), is_required=True),
    Argument(
        "for_good",
        "whether to delete it with its log and all its states, so that it cannot be restored",
        _SWITCH,
        _body("dossier_delete"),
    ),
)
"""Dossiers."""
