"""What the forms of a dossier's page do. Each is one change, in the name of whoever sends it.

A form has a token that only pages for this person have, so no page of another site can send it.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from flask import request
from msgspec import Struct
from msgspec.structs import replace

from esr.arguments.types import read_whole
from esr.dossiers.imports import bring, parse_addresses, parse_judgements
from esr.dossiers.records import Dossier, Edit, Highlight, Item, NoDossier, Person
from esr.dossiers.store import Dossiers
from esr.errors import UsageError
from webui.dossiers.files import order_readings
from webui.dossiers.finder import Finder
from webui.dossiers.wordings import find_highlights
from webui.running.problems import Forbidden
from webui.running.served_desk import ServedDesk
from webui.translations.language import _, ngettext

CSRF = "csrf"
"""The field with the token of a form."""


def make_token(desk: ServedDesk, person: Person) -> str:
    """The token of the forms of a person."""
    message = f"form\n{person.name}".encode("utf-8", "replace")
    return hmac.new(desk.desk.secret().encode(), message, hashlib.sha256).hexdigest()


def check_token(desk: ServedDesk, person: Person) -> None:
    """Raise Forbidden for a form that no page of this server made for the person."""
    sent = request.form.get(CSRF, "").encode("utf-8", "replace")
    if not hmac.compare_digest(sent, make_token(desk, person).encode()):
        raise Forbidden(_("the form is not from this page, or of another login: open the page again"), None)


class Outcome(NamedTuple):
    """What a form has done: where on its page to go on, and what to say there.

    `link`: the token of a new link. `is_gone`: whether the dossier is no longer there to be shown.
    """

    message: str = ""
    item: str = ""
    link: str = ""
    is_gone: bool = False


class Sent(Struct, frozen=True):
    """A form that was sent, with what it needs."""

    person: Person
    dossier: Dossier
    desk: ServedDesk
    finder: Finder
    home: str
    """The address of the server's first page."""

    @property
    def store(self) -> Dossiers:
        """The dossiers of all people."""
        return self.desk.dossiers

    def text(self, name: str) -> str:
        """A field of the form; empty if it is not there."""
        return request.form.get(name, "").replace("\r\n", "\n")

    def number(self, name: str) -> int | None:
        """A whole number in a field; None if it is empty. Raises UsageError."""
        text = self.text(name).strip()
        if not text:
            return None
        number = read_whole(text)
        if number is None:
            raise UsageError(_("%(value)s is no whole number", value=repr(text[:40])))
        return number


def send_edit(sent: Sent) -> Outcome:
    """Change the note, tags, judgement and highlights of an item, as far as the form has them."""
    id, base = sent.text("item"), sent.number("base")
    if all(item.id != id for item in sent.dossier.items):
        raise NoDossier(_("somebody has removed this sentence from the dossier; its history can restore it"))
    item = sent.desk.read_item(sent.dossier, id)
    values: dict[str, Any] = {}
    if "note" in request.form:
        values["note"] = sent.text("note")
    if "tags" in request.form:
        values["tags"] = tuple(filter(None, map(str.strip, sent.text("tags").split(","))))
    if "judgement" in request.form:
        values["judgement"] = sent.number("judgement")
    if "marks" in request.form:
        values["highlights"] = _read_marks(item, sent.text("marks"))
    elif (start := sent.number("start")) is not None and (end := sent.number("end")) is not None:
        values["highlights"] = toggle_highlight(item, start, end)
    written = sent.store.edit(sent.person, sent.dossier.id, id, Edit(**values), base=base)
    if "note" in written.merged:
        return Outcome(_("Somebody else changed the note too. It has both texts now."), id)
    if written.merged:
        return Outcome(_("Somebody else changed this too. Both changes are kept."), id)
    return Outcome(_("Saved."), id)


def _read_marks(item: Item, text: str) -> tuple[Highlight, ...]:
    try:
        return find_highlights(item.text, text.splitlines(), item.highlights)
    except ValueError as error:
        words = str(error)[:80]
        raise UsageError(_("the sentence does not have the words “%(words)s”", words=words)) from None


def toggle_highlight(item: Item, start: int, end: int) -> tuple[Highlight, ...]:
    """The highlights with this one; without those that overlap it, if it lies in one."""
    over = [mark for mark in item.highlights if mark.start < end and start < mark.end]
    rest = tuple(mark for mark in item.highlights if mark not in over)
    if any(mark.start <= start and end <= mark.end for mark in over):
        return rest
    spans = [(start, end), *((mark.start, mark.end) for mark in over)]
    return (*rest, Highlight(min(first for first, _ in spans), max(last for _, last in spans)))


def send_move(sent: Sent) -> Outcome:
    """Move an item: up, down, or behind another one (`after`, empty for the start)."""
    id, where = sent.text("item"), sent.text("move")
    order = [item.id for item in sent.dossier.items]
    if id not in order:
        raise UsageError(_("somebody has removed this sentence from the dossier"))
    place = order.index(id)
    if where in ("up", "down"):
        if not 0 <= (target := place + (-1 if where == "up" else 1)) < len(order):
            return Outcome("", id)
        after = order[target] if where == "down" else order[target - 1] if target else None
    else:
        after = sent.text("after") or None
    sent.store.move(sent.person, sent.dossier.id, [id], after=after, base=sent.number("version"))
    return Outcome("", id)


def send_arrange(sent: Sent) -> Outcome:
    """Keep the order by date or by source as the order of the dossier."""
    readings = order_readings(sent.desk.read_items(sent.dossier.items), sent.text("order"))
    sent.store.arrange(sent.person, sent.dossier.id, [reading.id for reading in readings])
    return Outcome(_("The dossier has this order now."))


def send_remove(sent: Sent) -> Outcome:
    sent.store.remove(sent.person, sent.dossier.id, [sent.text("item")])
    return Outcome(_("Removed. The history can restore it."))


def send_rename(sent: Sent) -> Outcome:
    sent.store.rename(
        sent.person,
        sent.dossier.id,
        name=sent.text("name"),
        description=sent.text("description"),
        base=sent.number("version"),
    )
    return Outcome(_("Saved."))


def send_paste(sent: Sent) -> Outcome:
    """Add the sentences and documents of pasted addresses."""
    contents = sent.finder.find_places(parse_addresses(sent.text("addresses"), sent.home))
    written = sent.store.add(sent.person, sent.dossier.id, contents)
    return Outcome(
        tell_added(len(written.items), len(written.known)), written.items[0].id if written.items else ""
    )


def send_judgements(sent: Sent) -> Outcome:
    """Import a table of judgements: all of its rows, or none. Items that are withheld stay as they are."""
    file = request.files.get("table")
    if file is None or not file.filename:
        raise UsageError(_("no file was chosen"))
    rows = parse_judgements(file.read(), sent.home)
    readings = sent.desk.read_items(sent.dossier.items)
    visible = tuple(reading.item for reading in readings if reading.item)
    contents, edits = sent.finder.find_judged(rows, replace(sent.dossier, items=visible))
    written = bring(sent.store, sent.person, sent.dossier.id, contents, edits)
    added = len(contents)
    return Outcome(
        ngettext("%(num)s judgement was imported.", "%(num)s judgements were imported.", len(rows))
        + (f" {tell_added(added, 0)}" if added else ""),
        written.items[0].id if written.items else "",
    )


def tell_added(added: int, known: int) -> str:
    """What an addition has done, as a sentence or two."""
    message = ngettext("%(num)s was added.", "%(num)s were added.", added) if added or not known else ""
    if known:
        there = ngettext("%(num)s was there already.", "%(num)s were there already.", known)
        message = f"{message} {there}".strip()
    return message


def send_share(sent: Sent) -> Outcome:
    """Give a person or a group a role; the role "none" takes it away, "owner" gives the dossier away."""
    name, role = sent.text("name").strip(), sent.text("role")
    is_group = sent.text("group") == "yes" and role != "owner"
    is_known = role == "none" or sent.desk.is_known(name, is_group=is_group)
    if role == "owner":
        if is_known is False and sent.dossier.role == "owner":
            raise UsageError(_("Nobody of the name %(name)s is known to this server.", name=name))
        sent.store.give(sent.person, sent.dossier.id, name)
        return Outcome(_("%(name)s owns the dossier now. You may change it.", name=name))
    new = None if role == "none" else role
    sent.store.share(sent.person, sent.dossier.id, name, new, is_group=is_group)  # type: ignore[arg-type]
    if is_known is False:
        unknown = _("Nobody of the name %(name)s is known to this server.", name=name)
        return Outcome(f"{_('Saved.')} {unknown}")
    if is_known is None:
        unlisted = _("Accounts are not listed here: %(name)s must be spelled as at the login.", name=name)
        return Outcome(f"{_('Saved.')} {unlisted}")
    return Outcome(_("Saved."))


def send_link(sent: Sent) -> Outcome:
    days = sent.number("days")
    link = sent.desk.links.make(sent.person, sent.dossier.id, **({} if days is None else {"days": days}))
    return Outcome(link=link.token)


def send_revoke(sent: Sent) -> Outcome:
    sent.desk.links.revoke(sent.person, sent.dossier.id, sent.text("link"))
    return Outcome(_("The link leads nowhere now."))


def send_restore(sent: Sent) -> Outcome:
    version = sent.number("version")
    if version is None:
        raise UsageError(_("no state was chosen"))
    sent.store.restore(sent.person, sent.dossier.id, version)
    return Outcome(_("Restored."))


def send_delete(sent: Sent) -> Outcome:
    sent.store.delete(sent.person, sent.dossier.id)
    return Outcome(_("The dossier is deleted. You can restore it."), is_gone=True)


FORMS: Mapping[str, Callable[[Sent], Outcome]] = {
    "edit": send_edit,
    "move": send_move,
    "arrange": send_arrange,
    "remove": send_remove,
    "rename": send_rename,
    "paste": send_paste,
    "judgements": send_judgements,
    "share": send_share,
    "link": send_link,
    "revoke": send_revoke,
    "restore": send_restore,
    "delete": send_delete,
}
"""The forms by the value of their field `do`."""
