"""The page of alerts: a form that delivers a search, its preview, and the alerts of a person.

The search is in the address, as on the page of results. The form has the words, what else is a condition, and
the delivery. It works without scripts.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any

from flask import Flask, Response, redirect, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from esr.alerts.choices import AT_ONCE, DEFAULT_SIMILARITY, DEFAULT_ZONE
from esr.arguments.tables.table import PAGE, names_of
from esr.dossiers.records import SavedSearch, allows
from esr.errors import UsageError
from esr.stdlib import import_lazily
from esr.wording import shorten_title
from webui.api.alerts import make_alert, read_alert_arguments
from webui.arguments.request import read_search
from webui.dossiers.forms import check_token, make_token
from webui.pages.rendering import PageRenderer
from webui.running.problems import RequestError
from webui.running.served_desk import ServedDesk, as_request_errors
from webui.running.served_indexes import ServedIndexes, Visit
from webui.running.settings import Settings
from webui.translations.language import N_, _, current_language

if TYPE_CHECKING:
    from esr.alerts import outbox, preview, runs, schedule
else:
    outbox = import_lazily("esr.alerts.outbox")
    preview = import_lazily("esr.alerts.preview")
    runs = import_lazily("esr.alerts.runs")
    schedule = import_lazily("esr.alerts.schedule")

CHANNELS = {
    "mail": (N_("Mail"), "mailto:"),
    "webhook": (N_("Webhook"), "http"),
    "service": (N_("Other service"), ""),
}
"""By the name of a channel, what it is called, and how its targets begin."""
SEARCH = [row.name for row in PAGE.values() if row.group in ("reading", "filter")]
"""The arguments of the search that come from the address."""
RANKING = {name.partition(".")[0] for name in names_of("ranking")}
"""The arguments that say how sentences are ranked, by the part of their name before a dot."""
CONDITIONS = ("like", "similarity", "least_score", "unusual")
"""The conditions that the form has beside the words."""
LABELS = {
    "like": N_("Similar in meaning to"),
    "similarity": N_("Least similarity"),
    "least_score": N_("Least score"),
    "unusual": N_("Only days with more sentences than usual"),
}
"""What the conditions are called."""
STATES = {
    "waiting": N_("waits"),
    "sending": N_("is being sent"),
    "sent": N_("sent"),
    "failed": N_("failed"),
}
"""What is said of the states of deliveries."""
_EARLIEST = "08:00"
_A_MONDAY = date(2024, 1, 1)


class AlertPage:
    """The page of alerts of an application."""

    def __init__(
        self, app: Flask, indexes: ServedIndexes, settings: Settings, desk: ServedDesk, render: PageRenderer
    ) -> None:
        self._settings = settings
        self._desk = desk
        self._render = render
        app.jinja_env.globals.update(
            delivers_searches=lambda: bool(settings.alert_to) and desk.has_person,
            delivery_address=_find_address,
        )
        indexes.route(app, "/alerts", "alerts")(self.show)
        indexes.route(app, "/alerts", "alerts_answer", method="POST")(self.answer)

    def show(self, visit: Visit) -> Response:
        """The form, filled by the address, and the alerts of the person."""
        with as_request_errors():
            return self._show(visit, _read_address())

    def answer(self, visit: Visit) -> AnyResponse:
        """Preview or add the alert of the form, or do to one of the list what its button says."""
        person = self._desk.person
        check_token(self._desk, person)
        do, id = request.form.get("do", ""), request.form.get("id", "")
        with as_request_errors("id"):
            if do == "delete":
                self._desk.saved_searches.delete(person, id)
            elif do in ("pause", "resume"):
                runs.set_pause(self._desk.desk, person, id, is_paused=do == "pause")
            elif do == "create":
                return self._create(visit)
            else:
                return self._show(visit, _read_fields(), is_previewed=True)
        return redirect(url_for("alerts", index=request.args.get("index")) + "#list", 303)

    def _create(self, visit: Visit) -> AnyResponse:
        sent = _read_fields()
        try:
            fields: dict[str, Any] = {
                "name": _choose_name(sent),
                "arguments": _read_form(self._settings),
                "to": [_read_target(sent)],
                "every": _read_schedule(sent),
                "zone": sent.get("zone", "").strip() or DEFAULT_ZONE,
            }
            alert = make_alert(self._desk, self._settings, visit, fields)
        except UsageError as error:
            if isinstance(error, RequestError) and error.status != RequestError.status:
                raise
            return self._show(visit, sent, problem=str(error))
        return redirect(url_for("alerts", index=request.args.get("index")) + f"#alert-{alert.id}", 303)

    def _show(
        self, visit: Visit, sent: Mapping[str, str], *, is_previewed: bool = False, problem: str = ""
    ) -> Response:
        desk, person = self._desk, self._desk.person
        previewed = None
        if is_previewed:
            try:
                _table, conditions = read_alert_arguments(_read_form(self._settings))
                previewed = preview.preview_alert(visit.searcher.index.snapshot(), conditions)
            except UsageError as error:
                problem = str(error)
        box = outbox.Outbox(desk.desk)
        failures, last = box.failures(), box.last_deliveries()
        response = self._render(
            None,
            "alerts.html",
            alerts=[
                _describe(search, failures.get(search.id, ""), last.get(search.id))
                for search in desk.saved_searches.list_readable(person)
                if search.delivery.get("collection")
            ],
            sent={"zone": DEFAULT_ZONE, "time": _EARLIEST, **sent},
            previewed=previewed,
            levels=[] if previewed is None else _choose_levels(previewed.by_similarity),
            problem_text=problem,
            allowed=self._settings.alert_to.split(),
            sees_part=desk.sees_part,
            channels=CHANNELS,
            default_similarity=DEFAULT_SIMILARITY,
            filters=[
                (_(name.replace("_", " ")), request.args.getlist(name))
                for name in SEARCH
                if request.args.get(name)
            ],
            action=url_for("alerts_answer", **_read_search(), **_read_ranking()),
            weekdays=[
                (name, current_language().formats.weekday(_A_MONDAY + timedelta(n)))
                for n, name in enumerate(schedule.DAYS)
            ],
            csrf=make_token(desk, person),
        )
        response.status_code = 400 if problem else 200
        return response


def _read_search() -> dict[str, Any]:
    """The arguments of the address that an alert keeps, and the index."""
    return {name: texts for name in ("index", *SEARCH) if (texts := request.args.getlist(name))}


def _read_ranking() -> dict[str, Any]:
    """The arguments of the address that say how sentences are ranked, which a least score depends on."""
    return {name: texts for name, texts in request.args.lists() if _is_of_ranking(name)}


def _is_of_ranking(name: str) -> bool:
    return name.partition(".")[0] in RANKING


def _find_address(arguments: Sequence[tuple[str, str]]) -> str:
    """The address of the form for the search of a page."""
    values: dict[str, Any] = {}
    for name, text in arguments:
        if name in ("q", "index", *SEARCH) or _is_of_ranking(name):
            values.setdefault(name, []).append(text)
    return url_for("alerts", **values)


def _read_address() -> dict[str, str]:
    """The fields of the form that an address fills.

    A search in several languages finds sentences by their meaning, so its words are a sentence to be similar
    to.
    """
    fields = {name: text for name in ("q", *CONDITIONS) if (text := request.args.get(name, ""))}
    if request.args.get("languages") and "q" in fields and "like" not in fields:
        fields["like"] = fields.pop("q")
    return fields


def _read_fields() -> dict[str, str]:
    """The fields of the form that was sent. A number that a button gives counts: it comes last."""
    return {name: texts[-1] for name, texts in request.form.lists()}


def _read_form(settings: Settings) -> dict[str, list[str]]:
    """The conditions of the form and the search of the address, as arguments by name."""
    arguments: dict[str, list[str]] = {
        name: texts for name, texts in _read_search().items() if name != "index"
    }
    fields = _read_fields()
    for name in ("q", *CONDITIONS):
        if text := fields.get(name, "").strip():
            arguments[name] = [text]
    if "like" in arguments:
        lines = map(str.strip, arguments["like"][0].splitlines())
        arguments["like"] = [line for line in lines if line]
    else:
        arguments.pop("similarity", None)
    if "least_score" in arguments and _read_ranking():
        ranking = read_search(request.query_string, settings).ranking
        arguments["ranking"] = [json.dumps(ranking.as_dict())]
    return arguments


def _choose_levels(by_similarity: Mapping[str, int]) -> list[tuple[str, int]]:
    """The least similarities to choose from: each gives another number of sentences, one of them many."""
    levels = list(by_similarity.items())
    following = [*(number for _, number in levels[1:]), 0][: len(levels)]
    return [
        (least, number)
        for (least, number), next_number in zip(levels, following, strict=True)
        if number != next_number <= preview.FEW
    ]


def _read_target(sent: Mapping[str, str]) -> str:
    """Where the form wants it to be delivered. Raises RequestError."""
    target = sent.get("to", "").strip()
    if not target:
        raise RequestError(_("where to? Give an address of mail, of a webhook or of a service"), "to")
    if sent.get("channel", "mail") == "mail" and ":" not in target:
        return f"mailto:{target}"
    return target


def _choose_name(sent: Mapping[str, str]) -> str:
    """The name of the form, or else the words, or the first sentence that others are to be similar to."""
    texts = [sent.get(name, "").strip() for name in ("name", "q", "like")]
    return shorten_title(next(filter(None, texts), "").partition("\n")[0].strip()) or _("Similar sentences")


def _read_schedule(sent: Mapping[str, str]) -> str:
    when, clock = sent.get("when") or AT_ONCE, sent.get("time") or _EARLIEST
    match when:
        case "daily":
            return f"daily {clock}"
        case "weekly":
            return f"weekly {sent.get('day') or schedule.DAYS[0]} {clock}"
        case _:
            return when


def _describe(search: SavedSearch, failure: str, last: outbox.Delivery | None) -> dict[str, Any]:
    """An alert as the list shows it."""
    delivery, arguments = search.delivery, dict(search.arguments)
    when = describe_schedule(delivery.get("every", AT_ONCE))
    index = delivery.get("index", "")
    words = arguments.pop("q", ())
    return {
        "id": search.id,
        "name": search.name,
        "owner": search.owner,
        "index": index,
        "conditions": [
            *([("", words)] if words else []),
            *((_(LABELS.get(name, name.replace("_", " "))), texts) for name, texts in arguments.items()),
        ],
        "address": url_for("results", q=words, index=index or None, **_searchable(arguments))
        if words
        else "",
        "to": [text.removeprefix("mailto:") for text in delivery.get("to", ())],
        "when": when,
        "zone": "" if when == describe_schedule(AT_ONCE) else delivery.get("zone", ""),
        "is_paused": bool(delivery.get("is_paused")),
        "failure": failure,
        "last": last,
        "state": "" if last is None else _(STATES[last.state]),
        "may_change": allows(search.role, "change"),
        "may_delete": allows(search.role, "delete"),
    }


def _searchable(arguments: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    return {name: texts for name, texts in arguments.items() if name in SEARCH}


def describe_schedule(schedule_text: str) -> str:
    """When an alert is delivered, in the language of the page; what cannot be read, as it is."""
    try:
        read = schedule.read_schedule(schedule_text)
    except UsageError:
        return schedule_text
    if read.is_at_once:
        return _("at once")
    if read.hour is None:
        return _("hourly")
    clock = f"{read.hour:02}:{read.minute:02}"
    if read.weekday is None:
        return _("daily at %(time)s", time=clock)
    day = current_language().formats.weekday(_A_MONDAY + timedelta(read.weekday))
    return _("weekly on %(day)s at %(time)s", day=day, time=clock)
