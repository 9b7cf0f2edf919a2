"""The pages of dossiers: the list, a dossier, its history, and what a link shows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any
from urllib.parse import urlencode

from flask import Flask, Response, redirect, request, url_for
from itsdangerous import BadSignature, URLSafeTimedSerializer
from werkzeug.wrappers import Response as AnyResponse

from esr.arguments.types import read_whole
from esr.dossiers.exports.extract import CITATION_STYLES, DEFAULT_STYLE
from esr.dossiers.exports.formats import FORMATS
from esr.dossiers.imports import JUDGEMENT_COLUMNS
from esr.dossiers.readings import Reading
from esr.dossiers.records import Change, Conflict, Dossier, Item, NoDossier, Person, allows
from esr.errors import NotFound, UsageError
from esr.following.alerts.atom import text_digest
from esr.following.exports import cite
from esr.index.contract import Index
from webui.api.dossiers import permanent
from webui.dossiers.files import choose_readings, order_readings, write_file
from webui.dossiers.finder import Finder
from webui.dossiers.forms import FORMS, Outcome, Sent, check_token, make_token
from webui.dossiers.wordings import align_wordings, split_highlights
from webui.pages.rendering import PageRenderer
from webui.running.problems import RequestError
from webui.running.served_desk import ServedDesk, as_request_errors
from webui.running.served_indexes import Page, ServedIndexes, Visit
from webui.running.settings import Settings
from webui.translations.errors import translate_error
from webui.translations.language import N_, _, as_sentence, ngettext

CHANGES = {
    "create": N_("made the dossier"),
    "rename": N_("changed its name or description"),
    "add": N_("added"),
    "bring": N_("imported judgements"),
    "edit": N_("changed"),
    "move": N_("moved"),
    "arrange": N_("changed the order"),
    "remove": N_("removed"),
    "restore": N_("restored an earlier state"),
    "share": N_("shared it"),
    "give": N_("gave it away"),
    "link": N_("made a link"),
    "revoke link": N_("ended a link"),
    "delete": N_("deleted it"),
}
"""What the history says of the kinds of changes."""
_COUNTED = frozenset({"add", "edit", "move", "remove", "bring"})
PAGE_ITEMS = 100
"""Items of a dossier on a page."""
_TOLD_SECONDS = 300
_TOLD_SALT = "dossier-told"
LINK_DAYS = (1, 7, 30, 90)
"""Days for which the page offers to make a link."""


class DossierPages:
    """The pages of dossiers of an application."""

    def __init__(
        self, app: Flask, indexes: ServedIndexes, settings: Settings, desk: ServedDesk, render: PageRenderer
    ) -> None:
        self._indexes = indexes
        self._settings = settings
        self._desk = desk
        self._render = render
        app.jinja_env.globals.update(
            split_highlights=split_highlights,
            align_wordings=align_wordings,
            sentence_address=self._find_address,
            describe_change=describe_change,
            cite_item=lambda item: cite(item.document_id, item),
        )
        route = partial(indexes.route, app)
        for rule, endpoint, method, view in (
            ("/dossiers", "dossiers", "GET", self.list),
            ("/dossiers", "dossiers_answer", "POST", self.answer_list),
            ("/dossier", "dossier", "GET", self.show),
            ("/dossier", "dossier_answer", "POST", self.answer),
            ("/dossier/file", "dossier_file", "GET", self.write),
            ("/dossier/history", "dossier_history", "GET", self.show_history),
            ("/shared", "shared", "GET", self.show_shared),
        ):
            route(rule, endpoint, method=method)(self._for_people(view))

    def _for_people(self, view: Any) -> Page:
        """The view, with errors of dossiers as those of requests."""

        def answer(visit: Visit) -> Response:
            with as_request_errors():
                return view()  # type: ignore[no-any-return]

        return answer

    # The list

    def list(self) -> Response:
        """The dossiers of the person, and the form of a new one."""
        person = self._desk.person
        return self._render(
            None,
            "dossiers.html",
            dossiers=self._desk.dossiers.list_readable(person),
            deleted=self._desk.dossiers.list_readable(person, is_deleted=True),
            person=person,
            csrf=make_token(self._desk, person),
            told=self._read_told(),
        )

    def answer_list(self) -> AnyResponse:
        """Make a dossier, or restore a deleted one."""
        person = self._desk.person
        check_token(self._desk, person)
        id = request.form.get("id", "")
        if request.form.get("do") == "restore":
            self._desk.dossiers.restore(person, id, _read_version(request.form.get("version", "0")) or 0)
            return self._go(id, Outcome(_("Restored.")))
        dossier = self._desk.dossiers.create(person, request.form.get("name", ""))
        return self._go(dossier.id, Outcome())

    # A dossier

    def show(
        self, problem: str = "", conflict: dict[str, Any] | None = None, outcome: Outcome | None = None
    ) -> Response:
        """A dossier, as it is now or was at a version. `conflict`: what a form could not save, and why."""
        person = self._desk.person
        dossier = self._read(person)
        readings = self._desk.read_items(dossier.items)
        is_now = not request.args.get("version")
        response = self._render(
            None,
            "dossier.html",
            **self._describe(dossier, readings),
            dossiers=self._desk.dossiers.list_readable(person),
            links_to_it=self._desk.links.list_links(person, dossier.id)
            if allows(dossier.role, "share")
            else [],
            may_change=is_now and allows(dossier.role, "change"),
            may_share=is_now and allows(dossier.role, "share"),
            is_now=is_now,
            is_shared=False,
            person=person,
            csrf=make_token(self._desk, person),
            told=self._read_told(),
            new_link=outcome and url_for("shared", token=outcome.link, _external=True),
            problem_text=problem and as_sentence(translate_error(problem)),
            conflict=conflict,
            link_days=LINK_DAYS,
            columns=JUDGEMENT_COLUMNS,
        )
        response.status_code = 409 if conflict else 400 if problem else 200
        return response

    def _read(self, person: Person) -> Dossier:
        version = _read_version(request.args.get("version", ""))
        return self._desk.dossiers.read(person, request.args.get("id", ""), version)

    def _describe(self, dossier: Dossier, readings: Sequence[Reading]) -> dict[str, Any]:
        order, tag = request.args.get("order") or "hand", request.args.get("tag", "")
        usual = {"order": order, "tag": tag, "version": request.args.get("version")}
        shown = order_readings(choose_readings(readings, tag), order)
        first = _read_first(len(shown))
        items = [reading.item for reading in readings if reading.item]
        return {
            "dossier": dossier,
            "summary": summarise(items),
            "tags": Counter(tag for item in items for tag in item.tags).most_common(),
            "tag": tag,
            "order": order,
            "readings": shown[first : first + PAGE_ITEMS],
            "first": first,
            "before": shown[first - 1].id if first else "",
            "number": len(shown),
            "page_items": PAGE_ITEMS,
            "withheld": len(readings) - len(items),
            "formats": FORMATS.values(),
            "styles": CITATION_STYLES,
            "style": DEFAULT_STYLE,
            "address": lambda **changes: self._address(dossier, **usual | changes),
        }

    def _address(self, dossier: Dossier, endpoint: str = "dossier", **values: Any) -> str:
        """The address of the dossier's page with other arguments; usual ones are left out."""
        if values.get("order") == "hand":
            values["order"] = None
        target: dict[str, Any] = (
            {"token": request.args["token"]} if "token" in request.args else {"id": dossier.id}
        )
        if endpoint == "dossier" and "token" in target:
            endpoint = "shared"
        return url_for(endpoint, **target, **{name: value or None for name, value in values.items()})

    def answer(self) -> AnyResponse:
        """Do what a form says, and show the page again."""
        person = self._desk.person
        check_token(self._desk, person)
        send = FORMS.get(request.form.get("do", ""))
        if send is None:
            raise RequestError(_("the form does not say what to do"), "do")
        dossier = self._desk.dossiers.read(person, request.args.get("id", ""))
        sent = Sent(person, dossier, self._desk, self._make_finder(), url_for("home", _external=True))
        try:
            outcome = send(sent)
        except Conflict as error:
            return self.show(conflict=self._describe_conflict(error))
        except NoDossier as error:
            message = as_sentence(translate_error(str(error)))
            return self.show(conflict={"message": message, "item": "", "sent": _read_sent()})
        except UsageError as error:
            if isinstance(error, RequestError) and error.status != RequestError.status:
                raise
            return self.show(problem=str(error))
        if outcome.link:
            return self.show(outcome=outcome)
        return self._go(dossier.id, outcome)

    def _describe_conflict(self, error: Conflict) -> dict[str, Any]:
        dossier = self._read(self._desk.person)
        item = next((other for other in dossier.items if other.id == request.form.get("item")), None)
        return {
            "message": "",
            "field": error.field,
            "current": "" if error.current is None else error.current,
            "by": (item.changed_by or item.added_by) if item else dossier.changed_by,
            "item": item.id if item else "",
            "sent": _read_sent(),
        }

    def _go(self, id: str, outcome: Outcome) -> AnyResponse:
        """Redirect to the page of the dossier, which says what was done."""
        values: dict[str, Any] = {
            name: value for name in ("order", "tag", "from") if (value := request.args.get(name))
        }
        if outcome.message:
            values["told"] = self._signer().dumps(outcome.message)
        if outcome.is_gone:
            return redirect(url_for("dossiers", **values), 303)
        place = f"#item-{outcome.item}" if outcome.item else ""
        return redirect(url_for("dossier", id=id, **values) + place, 303)

    def _signer(self) -> URLSafeTimedSerializer:
        return URLSafeTimedSerializer(self._desk.desk.secret(), salt=_TOLD_SALT)

    def _read_told(self) -> str:
        """What the form that led to the page has done: only this server can write it into an address."""
        try:
            return str(self._signer().loads(request.args.get("told", ""), max_age=_TOLD_SECONDS))
        except BadSignature:
            return ""

    # Beside a dossier

    def write(self) -> Response:
        """The dossier as a file: by its id, or by a link."""
        if token := request.args.get("token"):
            dossier, readings = self._desk.read_link(token)
        else:
            dossier = self._read(self._desk.person)
            readings = self._desk.read_items(dossier.items)
        chosen = choose_readings(readings, request.args.get("tag", ""))
        ordered = order_readings(chosen, request.args.get("order") or "hand")
        return write_file(dossier.name, ordered, request.args)

    def show_history(self) -> Response:
        """The changes of a dossier, the newest first."""
        person = self._desk.person
        dossier = self._desk.dossiers.read(person, request.args.get("id", ""))
        return self._render(
            None,
            "dossier_history.html",
            dossier=dossier,
            changes=self._desk.dossiers.history(person, dossier.id),
            may_restore=allows(dossier.role, "restore"),
            csrf=make_token(self._desk, person),
        )

    def show_shared(self) -> Response:
        """The dossier of a link, to read."""
        dossier, readings = self._desk.read_link(request.args.get("token", ""))
        return self._render(
            None,
            "dossier.html",
            **self._describe(dossier, readings),
            dossiers=[],
            may_change=False,
            may_share=False,
            is_now=True,
            is_shared=True,
            told="",
            problem_text="",
            conflict=None,
        )

    # Indices

    def _make_finder(self) -> Finder:
        return Finder(self._open, self._indexes.visible_names, permanent)

    @contextmanager
    def _open(self, name: str) -> Iterator[Index]:
        """An index as the sender may search it. Raises NotFound for one that is hidden or not there."""
        if name not in self._indexes.visible_names:
            raise NotFound(_("there is no index %(name)s", name=repr(name[:60])))
        with Visit(self._indexes, urlencode({"index": name}).encode(), self._settings.deadline) as visit:
            yield visit.searcher.index

    def _find_address(self, item: Item) -> str:
        """The address of an item's sentence or document in this server's pages."""
        names = self._indexes.visible_names
        index = item.index if item.index in names[1:] else None
        if item.kind == "document":
            return url_for("document", id=item.document_id, index=index)
        return url_for("sentence", id=item.document_id, says=text_digest(item.text), index=index)


def _read_version(text: str) -> int | None:
    """The number of a state; None without a text. Raises RequestError."""
    if not text:
        return None
    number = read_whole(text)
    if number is None or number < 0:
        raise RequestError(_("there is no such state of the dossier"), "version")
    return number


def _read_sent() -> dict[str, str]:
    """The texts that a form has sent, which its sender must not lose."""
    names = ("note", "tags", "judgement", "marks", "name", "description")
    return {name: request.form[name] for name in names if name in request.form}


def _read_first(number: int) -> int:
    """The position of the first item on the page."""
    first = read_whole(request.args.get("from", "")) or 0
    return first - first % PAGE_ITEMS if 0 < first < number else 0


def describe_change(change: Change) -> str:
    """What a change was, in a few words."""
    text = _(CHANGES[change.action]) if change.action in CHANGES else change.action
    if change.action in _COUNTED and change.items:
        items = ngettext("%(num)s item", "%(num)s items", len(change.items))
        return f"{text}: {items}"
    return text


def summarise(items: Sequence[Item]) -> str:
    """How many articles and sources a dossier has."""
    articles = len({(item.index, item.document_id) for item in items})
    sources = len({item.source for item in items} - {None, ""})
    parts = [ngettext("%(num)s article", "%(num)s articles", articles)]
    parts += [ngettext("%(num)s source", "%(num)s sources", sources)] if sources else []
    return " · ".join(parts)


def install(
    app: Flask, indexes: ServedIndexes, settings: Settings, desk: ServedDesk, render: PageRenderer
) -> None:
    """Add the pages of dossiers to the application."""
    DossierPages(app, indexes, settings, desk, render)
