"""The commands `esr dossier …`: dossiers of a desk on the command line."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click
from msgspec import UNSET, Struct, to_builtins

import esr
from esr.access.grants import read_grants
from esr.dossiers.account import AccountDossiers, open_dossiers
from esr.dossiers.backup import back_up_desk, restore_desk
from esr.dossiers.commands.arguments import DOSSIER_COMMANDS
from esr.dossiers.contents import read_clippings
from esr.dossiers.desk import find_desk, open_desk
from esr.dossiers.exports.extract import Entry, Extract
from esr.dossiers.exports.formats import FORMATS, DossierFormat
from esr.dossiers.readings import Reading
from esr.dossiers.records import Change, Dossier, Item, Link, Summary, Written
from esr.plugin import EsrError, UsageError
from esr.plugin.provisional import (
    TABLE,
    add_arguments,
    as_json_option,
    collect_options,
    count,
    optional_index_option,
)

_UNKNOWN = "nobody of the name {name} is known to the server"
_MARKS = {"changed": "changed since", "removed": "removed", "unknown": "", "same": "", "withheld": "withheld"}


def _arguments(command: str, *names: str) -> Callable[[Any], Any]:
    """The positional arguments and options of a command, without those of the desk."""
    return add_arguments(DOSSIER_COMMANDS, command, *names)


_desk_options = add_arguments(
    DOSSIER_COMMANDS, "list", "desk", "as", desk={"envvar": "ESR_DESK", "show_envvar": True}
)
_access = add_arguments(
    DOSSIER_COMMANDS, "share", "access", access={"envvar": "ESR_ACCESS", "show_envvar": True}
)


@click.group()
def dossier() -> None:
    """Keep sentences and documents in dossiers that people share.

    The desk is the database of a server's dossiers: ESR_DESK or --desk names it. DOSSIER is an id or a name;
    ITEM is an id, or the number that esr dossier show prints.
    """


@dossier.command("list")
@_arguments("list", "deleted")
@_desk_options
@as_json_option
def list_(deleted: bool, at: str | None, account: str | None, as_json: bool) -> None:
    """List dossiers, those that changed last first.

    \b
    Example:
      esr dossier list --desk desk.sqlite
    """
    with open_dossiers(find_desk(at), account=account) as desk:
        summaries = desk.summaries(deleted=deleted)
    if as_json:
        _print_json(to_builtins(summaries))
        return
    for summary in summaries:
        click.echo(_draw_summary(summary))


@dossier.command()
@_arguments("show", "dossier", "version")
@optional_index_option
@_desk_options
@as_json_option
def show(
    name: str,
    version: int | None,
    where: str | None,
    at: str | None,
    account: str | None,
    as_json: bool,
) -> None:
    """Show a dossier with its items.

    With --index, each item is compared with the index: it says whether its text has changed since, with both
    wordings, or is removed.

    \b
    Example:
      esr dossier show Floods --index my-index --desk desk.sqlite
    """
    with open_dossiers(find_desk(at), account=account) as desk:
        shown = desk.read(name, version)
        readings = [Reading(id=item.id, status="unknown", item=item) for item in shown.items]
        if where:
            with esr.open(where) as opened:
                readings = desk.compare(name, opened, version)
    if as_json:
        _print_json({**to_builtins(shown), "items": to_builtins(readings)})
        return
    click.echo("\n".join(_draw_dossier(shown, readings)))


@dossier.command()
@_arguments("create", "name", "description")
@_desk_options
def create(name: str, description: str | None, at: str | None, account: str | None) -> None:
    """Make an empty dossier, and print its id.

    \b
    Example:
      esr dossier create Floods --description "For the weekend" --desk desk.sqlite
    """
    with open_dossiers(at, account=account) as desk:
        click.echo(desk.create(name, description or "").id)


class AddOptions(Struct, frozen=True):
    """The arguments of `esr dossier add`: what is added, after which item, with which note and tags."""

    sentences: tuple[str, ...]
    documents: tuple[str, ...]
    clippings: Path | None
    index_name: str
    after: str | None
    note: str | None
    tags: tuple[str, ...]


@dossier.command()
@_arguments("add", *("dossier", "sentences", "document", "clippings", "index_name", "after", "note", "tag"))
@optional_index_option
@_desk_options
@collect_options(AddOptions)
def add(name: str, options: AddOptions, where: str | None, at: str | None, account: str | None) -> None:
    """Add sentences and documents of an index with their texts, by their ids.

    \b
    Example:
      esr dossier add Floods a12.s3 a17.s0 --index my-index --desk desk.sqlite
      esr dossier add Floods --clippings esr-saved.json --desk desk.sqlite
    """
    is_of_index = bool(options.sentences or options.documents)
    if not (is_of_index or options.clippings):
        raise UsageError("name the sentences, or give --document or --clippings")
    if is_of_index and not where:
        raise UsageError("sentences and documents are of an index: give --index, or set ESR_INDEX")
    if not is_of_index and (options.note or options.tags):
        raise UsageError("clippings keep their own notes and tags: leave out --note and --tag")
    with open_dossiers(find_desk(at), account=account) as desk:
        behind = options.after and _find_items(desk, name, [options.after])[0]
        contents = _read_saved(options.clippings, options.index_name) if options.clippings else []
        if where and is_of_index:
            with esr.open(where) as opened:
                written = desk.add(
                    name,
                    options.sentences,
                    documents=options.documents,
                    index=opened,
                    index_name=options.index_name,
                    contents=contents,
                    after=behind,
                    note=options.note or "",
                    tags=options.tags,
                )
        else:
            written = desk.add(name, contents=contents, after=behind)
    known = f", {count(len(written.known), 'item')} there already" if written.known else ""
    _echo_version(written, f"added {count(len(written.items), 'item')}{known}")


@dossier.command()
@_arguments("remove", "dossier", "items")
@_desk_options
def remove(name: str, items: tuple[str, ...], at: str | None, account: str | None) -> None:
    """Remove items from a dossier.

    \b
    Example:
      esr dossier remove Floods 3 7 --desk desk.sqlite
    """
    with open_dossiers(find_desk(at), account=account) as desk:
        written = desk.remove(name, _find_items(desk, name, items))
    _echo_version(written, f"removed {count(len(items), 'item')}")


@dossier.command()
@_arguments("move", "dossier", "items", "after")
@_desk_options
def move(name: str, items: tuple[str, ...], after: str | None, at: str | None, account: str | None) -> None:
    """Move items behind another one, or to the start.

    \b
    Example:
      esr dossier move Floods 5 --after 1 --desk desk.sqlite
    """
    with open_dossiers(find_desk(at), account=account) as desk:
        *moved, behind = _find_items(desk, name, [*items, *([after] if after else [items[0]])])
        written = desk.move(name, moved, after=behind if after else None)
    _echo_version(written, f"moved {count(len(items), 'item')}")


@dossier.command()
@_arguments("note", "dossier", "item", "text", "tag", "judgement")
@_desk_options
def note(
    name: str,
    item: str,
    text: str | None,
    tags: tuple[str, ...],
    judgement: int | None,
    at: str | None,
    account: str | None,
) -> None:
    """Write the note, the tags or the judgement of an item. An empty TEXT deletes the note.

    \b
    Example:
      esr dossier note Floods 2 "Ask the ministry" --tag open --desk desk.sqlite
    """
    if text is None and not tags and judgement is None:
        raise UsageError("give a note, --tag or --judgement")
    with open_dossiers(find_desk(at), account=account) as desk:
        (id,) = _find_items(desk, name, [item])
        written = desk.edit(
            name,
            id,
            note=UNSET if text is None else text,
            tags=tags or UNSET,
            judgement=UNSET if judgement is None else judgement,
        )
    _echo_version(written, "changed the item")


@dossier.command()
@_arguments("rename", "dossier", "new_name", "description")
@_desk_options
def rename(name: str, new_name: str, description: str | None, at: str | None, account: str | None) -> None:
    """Give a dossier another name.

    \b
    Example:
      esr dossier rename Floods "Floods of 2017" --desk desk.sqlite
    """
    with open_dossiers(find_desk(at), account=account) as desk:
        _echo_version(desk.rename(name, new_name, description=description), "renamed")


@dossier.command()
@_arguments("share", "dossier", "member")
@add_arguments(TABLE, "body:dossier_share", "role")
@_arguments("share", "group")
@_access
@_desk_options
def share(
    name: str, member: str, role: str, group: bool, access: Path | None, at: str | None, account: str | None
) -> None:
    """Let an account or a group read or change a dossier.

    With the file of grants of the server, it says if nobody of that name is known.

    \b
    Example:
      esr dossier share Floods bob --role writer --desk desk.sqlite
      esr dossier share Floods politics --group --role reader --desk desk.sqlite
    """
    is_known = role == "none" or access is None or read_grants(access).is_known(member, is_group=group)
    with open_dossiers(find_desk(at), account=account) as desk:
        new_role: Any = None if role == "none" else role
        written = desk.share(name, member, new_role, group=group)
    _echo_version(written, f"{member}: {role}")
    if is_known is False:
        click.echo(f"note: {_UNKNOWN.format(name=member)}", err=True)
    elif is_known is None:
        click.echo(f"note: accounts are not listed: {member} must be spelled as at the login", err=True)


@dossier.command()
@_arguments("give", "dossier", "member")
@_access
@_desk_options
def give(name: str, member: str, access: Path | None, at: str | None, account: str | None) -> None:
    """Make another account the owner of a dossier.

    With the file of grants of the server, an account that is not known is refused.

    \b
    Example:
      esr dossier give Floods bob --desk desk.sqlite
    """
    if access is not None and read_grants(access).is_known(member) is False:
        raise UsageError(_UNKNOWN.format(name=member))
    with open_dossiers(find_desk(at), account=account) as desk:
        _echo_version(desk.give(name, member), f"{member} owns it")


@dossier.command()
@_arguments("link", "dossier", "days", "list", "revoke")
@_desk_options
def link(
    name: str, days: float, is_list: bool, revoke: str | None, at: str | None, account: str | None
) -> None:
    """Make a link for reading a dossier, and print the end of its address.

    \b
    Example:
      esr dossier link Floods --days 7 --desk desk.sqlite
    """
    with open_dossiers(find_desk(at), account=account) as desk:
        if revoke is not None:
            desk.revoke(name, revoke)
            click.echo(f"revoked {revoke}")
        elif is_list:
            for listed in desk.links(name):
                click.echo(_draw_link(listed))
        else:
            click.echo(f"/shared?token={desk.link(name, days).token}")


@dossier.command()
@_arguments("history", "dossier")
@_desk_options
@as_json_option
def history(name: str, at: str | None, account: str | None, as_json: bool) -> None:
    """List the changes of a dossier, the newest first.

    \b
    Example:
      esr dossier history Floods --desk desk.sqlite
    """
    with open_dossiers(find_desk(at), account=account) as desk:
        changes = desk.history(name)
    if as_json:
        _print_json(to_builtins(changes))
        return
    for change in changes:
        click.echo(_draw_change(change))


@dossier.command()
@_arguments("restore", "dossier", "restored")
@_desk_options
def restore(name: str, version: int, at: str | None, account: str | None) -> None:
    """Make an earlier state of a dossier the present one, also of a deleted dossier.

    \b
    Example:
      esr dossier restore Floods 12 --desk desk.sqlite
    """
    with open_dossiers(find_desk(at), account=account) as desk:
        _echo_version(desk.restore(name, version), f"restored version {version}")


class ExportOptions(Struct, frozen=True):
    """The options of `esr dossier export`: how the file is written."""

    format_name: str | None
    style: str
    note_kind: str
    where: str | None
    without_notes: bool


@dossier.command()
@_arguments("export", "dossier", "output", "format", "style", "citations", "neighbours", "without_notes")
@_desk_options
@collect_options(ExportOptions)
def export(name: str, output: Path, options: ExportOptions, at: str | None, account: str | None) -> None:
    """Write a dossier to a file, in the format of its ending: docx, md, txt, html, bib, ris, csv and others.

    \b
    Example:
      esr dossier export Floods floods.docx --desk desk.sqlite
      esr dossier export Floods floods.html --style apa --without-notes --desk desk.sqlite
      esr dossier export Floods floods.md --neighbours my-index --desk desk.sqlite
    """
    format = _choose_format(output, options.format_name)
    format.check()
    with open_dossiers(find_desk(at), account=account) as desk:
        read = desk.read(name)
        readings = [Reading(id=item.id, status="unknown", item=item) for item in read.items]
        if options.where:
            with esr.open(options.where) as opened:
                readings = desk.compare(name, opened)
    entries = [Entry.from_reading(reading) for reading in readings if reading.item]
    extract = Extract(read.name, entries, options.style, not options.without_notes, options.note_kind)
    content = format.write(extract)
    try:
        output.write_bytes(content)
    except OSError as error:
        raise EsrError(f"cannot write {output}: {(error.strerror or str(error)).lower()}") from None
    click.echo(f"wrote {count(len(entries), 'item')} to {output}")


def _choose_format(path: Path, name: str | None) -> DossierFormat:
    """The format of a name or else of the ending of a file. Raises UsageError."""
    if name:
        return FORMATS.find(name)
    ending = path.suffix.removeprefix(".").lower()
    by_ending = {format.ending: format for format in reversed([*FORMATS.values()])}
    if ending not in by_ending:
        raise UsageError(f"no format has the ending {ending!r}: {', '.join(by_ending)}; or give --format")
    return by_ending[ending]


@dossier.command()
@_arguments("delete", "dossier", "for_good")
@_desk_options
def delete(name: str, for_good: bool, at: str | None, account: str | None) -> None:
    """Delete a dossier. esr dossier restore restores it, unless it is deleted for good.

    \b
    Example:
      esr dossier delete Floods --desk desk.sqlite
    """
    with open_dossiers(find_desk(at), account=account) as desk:
        desk.delete(name, for_good=for_good)
    click.echo(f"deleted {name}")


@dossier.command()
@_arguments("backup", "backup_file")
@_desk_options
def backup(backup_file: Path, at: str | None, account: str | None) -> None:
    """Back the whole desk up to FILE, with all dossiers and saved searches.

    esr backup does the same beside the backup of an index folder.

    \b
    Example:
      esr dossier backup /backups/desk.sqlite --desk desk.sqlite
    """
    _refuse_account(account)
    with open_desk(find_desk(at)) as desk:
        size = back_up_desk(desk, backup_file)
    click.echo(f"backed the desk up to {backup_file}: {size:,} bytes")


@dossier.command("restore-backup")
@_arguments("restore-backup", "backup_file", "yes")
@_desk_options
def restore_backup(backup_file: Path, yes: bool, at: str | None, account: str | None) -> None:
    """Make the desk equal to the backup FILE. What it has now is lost.

    A backup of one kind of database can be restored in the other, so this also moves a desk to PostgreSQL.

    \b
    Example:
      esr dossier restore-backup /backups/desk.sqlite --desk desk.sqlite
    """
    _refuse_account(account)
    with open_desk(at) as desk:
        if not yes:
            click.confirm(
                f"Replace all dossiers in the desk by those of {backup_file}?", abort=True, err=True
            )
        restore_desk(backup_file, desk)
    click.echo(f"restored the desk from {backup_file}")


def _refuse_account(account: str | None) -> None:
    if account is not None:
        raise UsageError("a backup has the dossiers of all accounts: leave out --as")


def _read_saved(path: Path, index_name: str) -> list[Any]:
    """The clippings in a file that the page has saved, or in a JSON list of clippings."""
    try:
        saved = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot read clippings of {path}: {error}") from None
    return read_clippings(saved.get("clippings") if isinstance(saved, dict) else saved, name=index_name)


def _find_items(desk: AccountDossiers, name: str, items: Sequence[str]) -> list[str]:
    """The ids of items that are given by id, or by number from 1."""
    ids = [item.id for item in desk.read(name).items]
    chosen = []
    for item in items:
        if item in ids:
            chosen.append(item)
        elif item.isdecimal() and 1 <= int(item) <= len(ids):
            chosen.append(ids[int(item) - 1])
        else:
            raise UsageError(f"the dossier has no item {item!r}: it has {count(len(ids), 'item')}")
    return chosen


def _echo_version(written: Written, done: str) -> None:
    click.echo(f"{done}; version {written.version}")


def _print_json(data: Any) -> None:
    click.echo(json.dumps(data, indent=1, ensure_ascii=False))


def _draw_summary(summary: Summary) -> str:
    name = click.style(summary.name, bold=True)
    return (
        f"{summary.id}  {name}  {count(summary.items, 'item')}, {summary.owner}, changed "
        f"{summary.changed_at[:16]} by {summary.changed_by}"
    )


def _draw_dossier(dossier: Dossier, readings: Sequence[Reading]) -> list[str]:
    shared = [f"{'group ' * member.is_group}{member.name} ({member.role})" for member in dossier.members]
    lines = [
        f"{click.style(dossier.name, bold=True)}  ({dossier.id}, version {dossier.version})",
        *([dossier.description] if dossier.description else []),
        f"owner {dossier.owner}{'; ' if shared else ''}{', '.join(shared)}",
    ]
    for number, reading in enumerate(readings, 1):
        lines += ["", *_draw_item(number, reading)]
    return lines


def _draw_item(number: int, reading: Reading) -> list[str]:
    item: Item | None = reading.item
    if item is None:
        return [f"{number}. withheld"]
    about = ", ".join(filter(None, (item.title, item.source, (item.date or "")[:10])))
    lines = [f"{number}. {item.text}", f"   {about} ({item.sentence_id or item.document_id})"]
    if mark := _MARKS[reading.status]:
        lines.append(f"   {mark}{': ' if reading.now else ''}{reading.now}")
    if item.note:
        lines.append(f"   note: {item.note}")
    if item.tags:
        lines.append(f"   tags: {', '.join(item.tags)}")
    if item.judgement is not None:
        lines.append(f"   judgement: {item.judgement}")
    return [line.replace("\n", "\n   ") for line in lines]


def _draw_change(change: Change) -> str:
    about = f" {count(len(change.items), 'item')}" if change.items else ""
    detail = f": {change.detail}" if change.detail else ""
    note = "" if change.can_be_restored else " (not kept)"
    return f"{change.version:>5}  {change.at[:19]}  {change.who}  {change.action}{about}{detail}{note}"


def _draw_link(link: Link) -> str:
    state = "revoked" if link.is_revoked else f"until {link.expires_at[:16]}"
    return f"{link.id}  made {link.made_at[:16]} by {link.made_by}, {state}"
