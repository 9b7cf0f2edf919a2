"""The arguments of the commands of dossiers. Those that the API has too are in the table of arguments."""

from __future__ import annotations

from functools import partial

from esr.dossiers.exports.extract import CITATION_STYLES, DEFAULT_STYLE, NOTE_KINDS
from esr.dossiers.exports.formats import FORMATS
from esr.dossiers.links import LINK_DAYS, MOST_LINK_DAYS
from esr.plugin.provisional import ArgumentRow
from esr.plugin.provisional import argument_types as types

_positional = partial(ArgumentRow, is_positional=True, is_required=True)
_DESKS = (
    "list show create add remove move note rename share give link history restore delete export backup "
    "restore-backup"
)

DOSSIER_COMMANDS: tuple[ArgumentRow, ...] = (
    _positional(
        "dossier",
        "the id or the name of the dossier",
        types.Text(),
        "show add remove move note rename share give link history restore delete export",
        sets="name",
        metavar="DOSSIER",
    ),
    _positional("name", "the name of the dossier", types.Text(), "create"),
    _positional("new_name", "the new name", types.Text(), "rename", metavar="NEW_NAME"),
    _positional("member", "the account or group", types.Text(), "share give", metavar="ACCOUNT"),
    _positional(
        "restored",
        "the version",
        types.WholeNumber(high=1_000_000_000),
        "restore",
        sets="version",
        metavar="VERSION",
    ),
    _positional("item", "the item", types.Text(), "note", metavar="ITEM"),
    _positional("text", "the note", types.Text(), "note", is_required=False, metavar="[TEXT]"),
    _positional("items", "the items", types.Texts(), "remove move", is_repeatable=True, metavar="ITEM..."),
    _positional(
        "sentences",
        "the sentences",
        types.Texts(),
        "add",
        is_repeatable=True,
        is_required=False,
        metavar="[SENTENCE]...",
    ),
    _positional("backup_file", "the backup", types.FilePath(), "backup restore-backup", metavar="FILE"),
    ArgumentRow(
        "deleted", "list the deleted dossiers, which esr dossier restore restores", types.Flag(), "list"
    ),
    ArgumentRow(
        "version",
        "show it as it was at this version",
        types.WholeNumber(high=1_000_000_000),
        "show",
    ),
    ArgumentRow(
        "document",
        "add a document, by its id",
        types.Texts(),
        "add",
        is_repeatable=True,
        sets="documents",
        metavar="ID",
    ),
    ArgumentRow("clippings", "add what the page has saved to this file", types.FilePath(), "add"),
    ArgumentRow("index_name", "the name of the index on the server", types.Text(usual=""), "add"),
    ArgumentRow("tag", "a tag", types.Texts(), "add note", is_repeatable=True, sets="tags"),
    ArgumentRow("note", "a note on what is added", types.Text(), "add"),
    ArgumentRow(
        "after",
        "the item behind which to put them, by default the start",
        types.Text(),
        "move",
        metavar="ITEM",
    ),
    ArgumentRow(
        "after", "the item behind which to put them, by default the end", types.Text(), "add", metavar="ITEM"
    ),
    ArgumentRow(
        "judgement",
        "how relevant the item is, from -1 to 10",
        types.WholeNumber(low=-1, high=10, most=10),
        "note",
    ),
    ArgumentRow("description", "what the dossier is for", types.Text(), "create rename"),
    ArgumentRow("group", "ACCOUNT is a group of people; the group * is everybody", types.Flag(), "share"),
    ArgumentRow(
        "access",
        "the file of grants of the server, which says who is known to it",
        types.FilePath(),
        "share give",
    ),
    ArgumentRow(
        "days",
        "how many days the link is valid",
        types.Positive(usual=float(LINK_DAYS), high=float(MOST_LINK_DAYS)),
        "link",
    ),
    ArgumentRow("list", "list the links instead", types.Flag(), "link", sets="is_list"),
    ArgumentRow("revoke", "end the link of this id instead", types.Text(), "link", metavar="LINK"),
    _positional("output", "the file", types.FilePath(), "export", metavar="FILE"),
    ArgumentRow(
        "format",
        f"the format, if the ending of FILE does not say it: {', '.join(FORMATS)}",
        types.Text(),
        "export",
        sets="format_name",
        metavar="FORMAT",
    ),
    ArgumentRow(
        "style",
        "the style of citations",
        types.Choice(labels=dict.fromkeys(CITATION_STYLES, ""), usual=DEFAULT_STYLE),
        "export",
    ),
    ArgumentRow(
        "citations",
        "where a Word document has its citations",
        types.Choice(labels=dict.fromkeys(NOTE_KINDS, ""), usual=NOTE_KINDS[0]),
        "export",
        sets="note_kind",
    ),
    ArgumentRow(
        "neighbours",
        "write each sentence between its neighbours in the index at this location",
        types.Text(),
        "export",
        sets="where",
        metavar="INDEX",
    ),
    ArgumentRow("without_notes", "leave out notes, tags and judgements", types.Flag(), "export"),
    ArgumentRow("for_good", "delete its log and all its states too", types.Flag(), "delete"),
    ArgumentRow("yes", "do not ask before the desk is replaced", types.Flag(), "restore-backup"),
    ArgumentRow(
        "desk",
        "the file of the desk, or the address of a PostgreSQL database",
        types.Text(),
        _DESKS,
        sets="at",
        metavar="DESK",
    ),
    ArgumentRow(
        "as",
        "act as this account, with its rights; by default, you may do everything",
        types.Text(),
        _DESKS,
        sets="account",
        metavar="ACCOUNT",
    ),
)
"""The arguments by the commands that take them."""
