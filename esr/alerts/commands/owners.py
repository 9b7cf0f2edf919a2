"""Whether the owners of alerts may still search their indexes, by the file of grants of the server."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from esr.alerts.runs import OPERATOR, Alert
from esr.plugin.provisional import import_lazily

if TYPE_CHECKING:
    from esr.access import grants
else:
    grants = import_lazily("esr.access.grants")


def find_obstacles(path: Path | None) -> Callable[[Alert], str]:
    """What says why the owner of an alert may not search its index; empty if the owner may.

    Without a file, everybody may. Alerts that the operator added for nobody else are never stopped. The
    function raises EsrError while the file cannot be read, so that nothing is sent meanwhile.
    """
    if path is None:
        return lambda alert: ""
    file = grants.GrantFile(path)

    def find_obstacle(alert: Alert) -> str:
        owner, index = alert.owner, alert.index_name
        if owner == OPERATOR.name and not index:
            return ""
        current = file.read()
        grant = current.by_name.get(owner) or current.find_person(owner, "elsewhere")
        if grant is None:
            return f"stopped: its owner {owner} has no access any more"
        if not grant.is_valid(datetime.now(UTC)):
            return f"stopped: the access of its owner {owner} has expired"
        if index and grant.indexes and index not in grant.indexes:
            return f"stopped: its owner {owner} may no longer search the index {index}"
        if grant.filter:
            return f"stopped: its owner {owner} may now search only a part of the index"
        return ""

    return find_obstacle
