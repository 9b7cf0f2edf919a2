"""The desk of a server: its dossiers for the sender of a request, who sees of them what may be searched."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from esr.dossiers.records import Conflict, Dossier, Item, NoDossier, NotPermitted, Person
from esr.errors import EsrError, UsageError
from esr.stdlib import cached_property, import_lazily
from esr.threads import OnceByKey
from webui.running.problems import Forbidden, RequestError, UnknownId
from webui.running.served_indexes import ServedIndexes, Visit
from webui.running.settings import Settings
from webui.translations.language import N_

if TYPE_CHECKING:
    from esr.dossiers import desk as desks
    from esr.dossiers import links, readings, saved_searches, store
else:
    desks = import_lazily("esr.dossiers.desk")
    links = import_lazily("esr.dossiers.links")
    readings = import_lazily("esr.dossiers.readings")
    saved_searches = import_lazily("esr.dossiers.saved_searches")
    store = import_lazily("esr.dossiers.store")

BY_READER, BY_MAKER = "login", "maker"
"""What decides which documents a link shows: the rights of its reader, or those of its maker."""


class EditConflict(RequestError):
    """Somebody else changed the same value."""

    status, code, title = 409, "edit_conflict", N_("Somebody else changed this")


class NoDesk(RequestError):
    """The server keeps no dossiers."""

    status, code, title = 404, "no_desk", N_("This server keeps no dossiers")


class NoAccount(RequestError):
    """The sender of the request has no login, and dossiers belong to people."""

    status, code, title = 403, "no_account", N_("Dossiers need a login")


def check_desk(settings: Settings) -> None:
    """Open the desk once, to report mistakes before the server starts. Raises EsrError."""
    if settings.desk_links not in (BY_READER, BY_MAKER):
        raise UsageError(f"ESR_DESK_LINKS is {BY_READER} or {BY_MAKER}, not {settings.desk_links!r}")
    if settings.desk:
        with desks.open_desk(settings.desk) as desk, desk.reading():
            pass


class ServedDesk:
    """The dossiers and saved searches of a server. The first request that needs them opens the desk."""

    def __init__(self, indexes: ServedIndexes, settings: Settings) -> None:
        self._indexes = indexes
        self._settings = settings
        self._opened: OnceByKey[str, desks.Desk] = OnceByKey()

    @property
    def is_kept(self) -> bool:
        """Whether the server keeps dossiers at all."""
        return bool(self._settings.desk)

    @property
    def person(self) -> Person:
        """Who sends the current request. Raises NoDesk, NoAccount."""
        if not self.is_kept:
            raise NoDesk("this server keeps no dossiers: its operator can set ESR_DESK", None)
        person = self._indexes.guard.person
        if person is None:
            raise NoAccount("dossiers belong to people with a login: log in, or send a key", None)
        return person

    @property
    def has_person(self) -> bool:
        """Whether the sender of the current request can have dossiers."""
        return self.is_kept and self._indexes.guard.person is not None

    def is_known(self, name: str, *, is_group: bool = False) -> bool | None:
        """Whether an account or a group has this name; None if a provider or a proxy may know it."""
        return self._indexes.guard.is_known(name, is_group=is_group)

    @property
    def sees_part(self) -> bool:
        """Whether the sender of the current request may search only a part of an index."""
        return bool(self._indexes.guard.part)

    @property
    def desk(self) -> desks.Desk:
        """The open desk, of which a process has one."""
        where = self._settings.desk
        return self._opened.make(where, lambda: desks.open_desk(where))

    @cached_property
    def dossiers(self) -> store.Dossiers:
        """The dossiers of all people: methods take the person."""
        return store.Dossiers(self.desk)

    @cached_property
    def links(self) -> links.ReadingLinks:
        """The links for reading."""
        return links.ReadingLinks(self.desk)

    @cached_property
    def saved_searches(self) -> saved_searches.SavedSearches:
        """The saved searches of all people: methods take the person."""
        return saved_searches.SavedSearches(self.desk)

    def read_items(self, items: Sequence[Item]) -> list[readings.Reading]:
        """Items beside the indexes as they are now. Those that the sender may not see are withheld."""
        with ExitStack() as visits:
            return readings.read_items(items, lambda name: self._look_at(name, visits))

    def read_link(self, token: str) -> tuple[Dossier, list[readings.Reading]]:
        """The dossier of a link, with its items as the settings let a link show them. Raises UnknownId."""
        if not self.is_kept:
            raise NoDesk("this server keeps no dossiers", None)
        with as_request_errors("token"):
            dossier, maker = self.links.read(token)
        if self._settings.desk_links == BY_READER:
            return dossier, self.read_items(dossier.items)
        with self._indexes.guard.act_as(maker):
            return dossier, self.read_items(dossier.items)

    def read_item(self, dossier: Dossier, id: str) -> Item:
        """An item that the sender may see. Raises UnknownId, Forbidden."""
        with as_request_errors("item"):
            item = dossier.item(id)
        (reading,) = self.read_items([item])
        if reading.item is None:
            raise Forbidden("this item is of a document that you may not see", "item")
        return reading.item

    def _look_at(self, index: str, visits: ExitStack) -> readings.Look:
        guard, visible = self._indexes.guard, self._indexes.visible_names
        name = self._indexes.find_name(index)
        if name is None:
            return readings.Look(None, bool(guard.part) or len(visible) < len(self._indexes.by_name))
        if name not in visible:
            return readings.WITHHELD
        query = urlencode({"index": name}).encode()
        visit = visits.enter_context(Visit(self._indexes, query, self._settings.deadline))
        try:
            return readings.Look(visit.searcher.index, bool(guard.part))
        except EsrError:
            return readings.Look(None, bool(guard.part))


@contextmanager
def as_request_errors(field: str | None = None) -> Iterator[None]:
    """Convert errors of dossiers to errors of requests. `field`: the argument that they are about."""
    try:
        yield
    except RequestError:
        raise
    except NoDossier as error:
        raise UnknownId(str(error), field or "id") from error
    except NotPermitted as error:
        raise Forbidden(str(error), None) from error
    except Conflict as error:
        raise EditConflict(str(error), error.field) from error
    except UsageError as error:
        raise RequestError(str(error), field) from error
