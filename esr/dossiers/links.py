"""Links for reading a dossier without being its member: signed, with an expiry, and revocable.

The token of a link has its id, signed with the secret of the desk. What it shows is decided when it is used:
a revoked or expired link shows nothing, and the dossier is shown as it is then.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from itsdangerous import BadSignature, URLSafeSerializer
from msgspec import structs

from esr.dossiers.desk import Desk, make_id, write_time
from esr.dossiers.records import Dossier, Link, NoDossier, Person
from esr.dossiers.store import Dossiers, OpenedDossier, Outcome
from esr.plugin import UsageError
from esr.plugin.provisional import import_lazily

if TYPE_CHECKING:
    import sqlalchemy as sql

    from esr.dossiers import tables
else:
    sql = import_lazily("sqlalchemy")
    tables = import_lazily("esr.dossiers.tables")

LINK_DAYS, MOST_LINK_DAYS = 30, 366
"""Days for which a link is valid by default, and at most."""
_SALT = "dossier-link"


class ReadingLinks:
    """The links of a desk. Methods raise as those of `Dossiers`."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._dossiers = Dossiers(desk)

    def make(self, person: Person, id: str, days: float = LINK_DAYS) -> Link:
        """Make a link that is valid for some days, with its token. Only its owner shares a dossier."""
        if not 0 < days <= MOST_LINK_DAYS:
            raise UsageError(
                f"a link is valid for more than 0 and at most {MOST_LINK_DAYS} days, not {days:g}"
            )
        now = datetime.fromisoformat(self._desk.now())
        link = Link(
            id=make_id(),
            made_by=person.name,
            made_at=write_time(now),
            expires_at=write_time(now + timedelta(days=days)),
        )

        def add(opened: OpenedDossier, now: str) -> Outcome:
            row = {name: getattr(link, name) for name in ("id", "made_by", "made_at", "expires_at")}
            opened.connection.execute(tables.links.insert().values(dossier=id, is_revoked=False, **row))
            return Outcome("link", opened.state, detail=f"until {link.expires_at[:10]}", is_forced=True)

        self._dossiers.change(person, id, add, work="share")
        return structs.replace(link, token=self._serializer().dumps(link.id))

    def list_links(self, person: Person, id: str) -> list[Link]:
        """The links of a dossier, without their tokens, the newest first."""
        with self._desk.reading() as connection:
            OpenedDossier.find(connection, id, person).check("share")
            table = tables.links
            query = sql.select(table).where(table.c.dossier == id).order_by(table.c.made_at.desc())
            return [_read_row(row) for row in connection.execute(query).mappings()]

    def revoke(self, person: Person, id: str, link: str) -> None:
        """End a link at once. Raises NoDossier for one that is not of this dossier."""

        def end(opened: OpenedDossier, now: str) -> Outcome:
            table = tables.links
            changed = opened.connection.execute(
                table.update().where(table.c.id == link, table.c.dossier == id).values(is_revoked=True)
            )
            if not changed.rowcount:
                raise NoDossier(f"this dossier has no link {link!r}")
            return Outcome("revoke link", opened.state, is_forced=True)

        self._dossiers.change(person, id, end, work="share")

    def read(self, token: str) -> tuple[Dossier, str]:
        """The dossier of a link, and who made the link. Raises NoDossier if it is not valid any more."""
        refused = NoDossier("this link is not valid: it has expired, was revoked, or is not complete")
        try:
            id = self._serializer().loads(token)
        except BadSignature:
            raise refused from None
        with self._desk.reading() as connection:
            row = (
                connection.execute(sql.select(tables.links).where(tables.links.c.id == id)).mappings().first()
            )
            if row is None or row["is_revoked"] or row["expires_at"] <= self._desk.now():
                raise refused
            opened = OpenedDossier.find(connection, row["dossier"], Person(""), role="link")
            return opened.dossier(), row["made_by"]

    def _serializer(self) -> URLSafeSerializer:
        return URLSafeSerializer(self._desk.secret(), salt=_SALT)


def _read_row(row: Any) -> Link:
    return Link(**{name: row[name] for name in ("id", "made_by", "made_at", "expires_at", "is_revoked")})
