"""`esr alerts`: saved searches whose news comes by itself."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import click

from esr.alerts.alert_conditions import is_given, read_conditions, read_tables
from esr.alerts.channels import Channels
from esr.alerts.commands.owners import find_obstacles
from esr.alerts.outbox import Delivery, Outbox
from esr.alerts.preview import Preview, preview_alert
from esr.alerts.runs import (
    OPERATOR,
    AlertRuns,
    add_alert,
    list_locations,
    make_delivery,
    set_pause,
    settle_location,
)
from esr.arguments.tables.alerts import ALERTS, CONDITIONS, DELIVERY, RUN
from esr.dossiers.desk import Desk, find_desk, open_desk
from esr.dossiers.records import Person, SavedSearch
from esr.dossiers.saved_searches import SavedSearches
from esr.following.alerts.saved_searches import list_deprecations
from esr.plugin import NotFound, UsageError, index_option
from esr.plugin.provisional import (
    ArgumentRow,
    add_arguments,
    as_json_option,
    build_option,
    count,
    open_searcher,
    redact,
    set_at_end,
)

_NAME = ArgumentRow("name", "the name of the alert", is_positional=True)
_CHOSEN = ArgumentRow("name", "the name or the id of an alert", is_positional=True, is_required=True)
_desk = add_arguments(ALERTS, "alert_desk", desk={"envvar": "ESR_DESK", "show_envvar": True})
_access = add_arguments(ALERTS, "alert_access", access={"envvar": "ESR_ACCESS", "show_envvar": True})


def _add_rows(rows: tuple[ArgumentRow, ...]) -> Callable[[Any], Any]:
    def add(command: Any) -> Any:
        for row in reversed(rows):
            command = build_option(row)(command)
        return command

    return add


def _add_conditions(command: Any) -> Any:
    """Add the conditions of an alert, which a command receives by their names in the table."""
    for row in reversed(CONDITIONS):
        command = build_option(row, parameter=row.name)(command)
    return command


@click.group()
def alerts() -> None:
    """Deliver what saved searches find in new documents.

    They are delivered by mail, webhook, or another service. Alerts are kept in a desk, which ESR_DESK names.
    `esr alerts run` matches what was loaded since its last run, and delivers what is due: start it by a
    timer, or let it run.
    """


@alerts.command()
@build_option(_NAME)
@_add_conditions
@index_option
@_add_rows(DELIVERY)
@_desk
def add(
    name: str | None,
    where: str,
    to: tuple[str, ...],
    every: str,
    zone: str,
    owner: str,
    path: Path | None,
    desk_where: str | None,
    **conditions: Any,
) -> None:
    """Add an alert for new documents of an index.

    Its conditions are a query with filters, sentences to be similar to, or both.

    \b
    Example:
      esr alerts add floods "flood OR storm" --to mailto:ann@example.org --index my-index
      esr alerts add aid --like "Relief goods reached the town." --to https://hooks.example.org/esr
      esr alerts add daily "relief" --to mailto:ann@example.org --every "daily 07:30" --zone Europe/Berlin
      esr alerts add quiet "strike" --unusual --to mailto:desk@example.org --index my-index
      esr alerts add --file searches.toml --to mailto:ann@example.org --every hourly --index my-index
    """
    table = _read_table(conditions)
    if path is not None:
        if name or table:
            raise UsageError("give a file with searches, or the name and conditions of one alert, not both")
        tables = read_tables(path)
        for line in list_deprecations(path):
            click.echo(f"esr: {line}", err=True)
    elif name is None:
        raise UsageError("the name of the alert is missing")
    else:
        tables = {name: table}
    if not to:
        raise UsageError("where to? Give --to mailto:ann@example.org, https://… or an address of apprise")
    delivery = make_delivery(settle_location(where), to, every, zone)
    with open_searcher(where), open_desk(desk_where) as desk:
        for of_name, of_table in tables.items():
            search = add_alert(desk, Person(owner), of_name, of_table, delivery)
            click.echo(f"{search.id}  {search.name}")


@alerts.command("list")
@as_json_option
@_desk
def list_alerts(as_json: bool, desk_where: str | None) -> None:
    """List the alerts of a desk: conditions, delivery, the last one, and why the last run failed.

    \b
    Example:
      esr alerts list --desk desk.sqlite
    """
    with open_desk(find_desk(desk_where)) as desk:
        box = Outbox(desk)
        failures, last = box.failures(), box.last_deliveries()
        listed = [
            _describe(search, failures.get(search.id, ""), last.get(search.id)) for search in _read_all(desk)
        ]
    if as_json:
        click.echo(json.dumps(listed, indent=1, ensure_ascii=False))
        return
    for alert in listed:
        when = "paused" if alert["is_paused"] else f"{alert['every']}, {alert['zone']}"
        click.echo(f"{alert['id']}  {click.style(alert['name'], bold=True)}  {alert['owner']}  {when}")
        conditions = "  ".join(f"{name}: {', '.join(texts)}" for name, texts in alert["arguments"].items())
        click.echo(f"    {conditions}  in {redact(alert['collection'])}")
        click.echo(f"    to {', '.join(map(redact, alert['to'])) or 'nobody'}")
        if last := alert["last"]:
            problem = f": {last['error']}" if last["error"] else ""
            click.echo(f"    last {last['made_at'][:16]} {last['state']}{problem}")
        if alert["failure"]:
            is_stopped = alert["failure"].startswith("stopped: ")
            click.echo(f"    {'' if is_stopped else 'failed: '}{alert['failure']}")


def _describe(search: SavedSearch, failure: str, last: Delivery | None) -> dict[str, Any]:
    delivery = search.delivery
    return {
        "id": search.id,
        "name": search.name,
        "owner": search.owner,
        "arguments": search.arguments,
        "collection": delivery.get("collection", ""),
        "to": delivery.get("to", []),
        "every": delivery.get("every", ""),
        "zone": delivery.get("zone", ""),
        "is_paused": bool(delivery.get("is_paused")),
        "failure": failure,
        "last": None if last is None else last._asdict(),
    }


@alerts.command()
@_add_rows(RUN)
@_access
@_desk
def run(
    collections: tuple[str, ...],
    once: bool,
    pause: int,
    from_start: bool,
    access: Path | None,
    desk_where: str | None,
) -> None:
    """Match new documents against all alerts, and deliver what is due.

    It runs until it is stopped. SIGTERM ends it after the present step. The first run over an index tells
    nothing of what that has, unless --from-start.

    \b
    Example:
      esr alerts run --once
      esr alerts run --pause 300 --desk desk.sqlite
    """
    with open_desk(find_desk(desk_where)) as desk, Channels() as channels, set_at_end() as stop:
        runs = AlertRuns(
            desk,
            channels,
            locations=list_locations(collections),
            is_stopped=stop.is_set,
            find_obstacle=find_obstacles(access),
        )
        while not stop.is_set():
            try:
                done = runs.run(tell_all=from_start)
                for collection, documents in runs.begun.items():
                    has = count(documents, "document")
                    click.echo(f"{redact(collection)}: has {has}; alerts tell what comes from now on")
                if any(done.values()):
                    click.echo("  ".join(f"{name} {number:,}" for name, number in done.items()))
                elif once and not runs.begun:
                    click.echo("nothing new")
            except click.ClickException as error:
                if once:
                    raise
                click.echo(f"Error: {error.format_message()}", err=True)
            for name in runs.newly_stopped:
                click.echo(f"{name}: stopped, see esr alerts log", err=True)
            channels.close()
            if once:
                break
            stop.wait(pause)


@alerts.command()
@_add_conditions
@index_option
@add_arguments(ALERTS, "alert_preview", "days")
@as_json_option
def preview(where: str, days: int, as_json: bool, **conditions: Any) -> None:
    """Show what an alert would have told of the last days of an index.

    With --like, it shows how many sentences each least similarity gives, and the ones that just suffice.

    \b
    Example:
      esr alerts preview "flood OR storm" --index my-index
      esr alerts preview --like "Relief goods reached the town." --similarity 0.7 --index my-index
    """
    wanted = read_conditions(_read_table(conditions))
    with open_searcher(where) as searcher:
        answer = preview_alert(searcher.index.snapshot(), wanted, days)
    if as_json:
        click.echo(json.dumps(answer.as_dict(), indent=1, ensure_ascii=False))
    else:
        click.echo("\n".join(_draw(answer)))


def _draw(preview: Preview) -> Iterator[str]:
    days = len(preview.by_day)
    yield f"{preview.first} to {preview.last}: {count(preview.sentences, 'sentence')} on {count(days, 'day')}"
    if preview.incomplete:
        yield f"only the first {preview.incomplete:,} were read"
    for day, number in preview.by_day.items():
        yield f"  {day}  {number:,}{'  more than usual' if day in preview.unusual else ''}"
    for least, number in preview.by_similarity.items():
        yield f"  similarity {least}  {number:,}"
    for example in preview.examples:
        similarity = "" if example["similarity"] is None else f"{example['similarity']:.2f}  "
        place = ", ".join(filter(None, (example["source"], (example["date"] or "")[:10])))
        yield f"{similarity}{example['text']} ({place})"


@alerts.command()
@add_arguments(ALERTS, "alert_deliver")
@_access
@_desk
def deliver(retry: bool, access: Path | None, desk_where: str | None) -> None:
    """Deliver what is due, without matching.

    \b
    Example:
      esr alerts deliver --retry
    """
    with open_desk(find_desk(desk_where)) as desk, Channels() as channels, set_at_end() as stop:
        runs = AlertRuns(desk, channels, is_stopped=stop.is_set, find_obstacle=find_obstacles(access))
        again = runs.retry() if retry else 0
        counts = {"again": again, **runs.deliver()}
    click.echo("  ".join(f"{name} {number:,}" for name, number in counts.items()))


@alerts.command()
@as_json_option
@_desk
def log(as_json: bool, desk_where: str | None) -> None:
    """List the last 100 deliveries, the newest first.

    \b
    Example:
      esr alerts log --json
    """
    with open_desk(find_desk(desk_where)) as desk:
        names = {search.id: search.name for search in _read_all(desk)}
        deliveries = [
            {**delivery._asdict(), "name": names.get(delivery.search, "")}
            for delivery in Outbox(desk).deliveries()
        ]
    if as_json:
        click.echo(json.dumps(deliveries, indent=1, ensure_ascii=False))
        return
    if not deliveries:
        click.echo("no deliveries yet")
    for delivery in deliveries:
        begin = f"{delivery['made_at'][:16]}  {delivery['state']:<7}  {delivery['attempts']}  "
        error = f"  {delivery['error']}" if delivery["error"] else ""
        name = delivery["name"] or delivery["search"]  # of a removed alert, only the id is left
        click.echo(f"{begin}{name}  {redact(delivery['target'])}{error}")


@alerts.command()
@build_option(_CHOSEN)
@_desk
def pause(name: str, desk_where: str | None) -> None:
    """Let an alert wait. What it finds meanwhile is delivered when it resumes.

    \b
    Example:
      esr alerts pause "Storms"
    """
    _set_pause(name, desk_where, is_paused=True)


@alerts.command()
@build_option(_CHOSEN)
@_desk
def resume(name: str, desk_where: str | None) -> None:
    """Let a paused alert deliver again.

    \b
    Example:
      esr alerts resume "Storms"
    """
    _set_pause(name, desk_where, is_paused=False)


@alerts.command()
@build_option(_CHOSEN)
@_desk
def remove(name: str, desk_where: str | None) -> None:
    """Remove an alert with what it has not delivered.

    \b
    Example:
      esr alerts remove "Storms"
    """
    with open_desk(find_desk(desk_where)) as desk:
        search = _find(desk, name)
        SavedSearches(desk).delete(OPERATOR, search.id)
    click.echo(f"removed {search.name}")


def _set_pause(name: str, desk_where: str | None, *, is_paused: bool) -> None:
    with open_desk(find_desk(desk_where)) as desk:
        search = _find(desk, name)
        set_pause(desk, OPERATOR, search.id, is_paused=is_paused)
    click.echo(f"{'paused' if is_paused else 'resumed'} {search.name}")


def _read_all(desk: Desk) -> list[SavedSearch]:
    searches = SavedSearches(desk).list_readable(OPERATOR)
    return [search for search in searches if search.delivery.get("collection")]


def _find(desk: Desk, name: str) -> SavedSearch:
    """The alert of this id, or the one of this name. Raises UsageError if there is none, or are several."""
    named = [search for search in _read_all(desk) if name in (search.id, search.name)]
    if not named:
        raise NotFound(f"there is no alert {name!r}: esr alerts list shows them")
    if len(named) > 1:
        ids = ", ".join(search.id for search in named)
        raise UsageError(f"several alerts are called {name!r}: give one of the ids {ids}")
    return named[0]


def _read_table(conditions: Mapping[str, Any]) -> dict[str, Any]:
    """The conditions that are given, as a table of a file of searches."""
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in conditions.items()
        if is_given(value)
    }
