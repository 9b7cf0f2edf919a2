"""The tools of `esr mcp` for the alerts of a server of esr, where they have the rights of a key."""

from collections.abc import Mapping
from typing import Annotated, Any

from mcp.types import CallToolResult

from esr.bridges.mcp_budget import fit
from esr.bridges.mcp_remote import RemoteServer
from esr.bridges.mcp_schemas import Alerts, KeptAlert, PreviewedAlert

_SHOWN = ("id", "name", "arguments", "to", "every", "zone", "paused", "failure")
Texts = list[str] | str


class AlertTools:
    """The tools for the alerts of a server. They raise EsrError."""

    def __init__(self, server: RemoteServer) -> None:
        self._server = server

    def alerts(self, budget: int) -> Annotated[CallToolResult, Alerts]:
        """List the alerts that you may read: searches whose new sentences are delivered to people."""
        listed = [_describe(alert) for alert in self._server.get("/alerts")["alerts"]]
        return fit({"total": len(listed)}, "alerts", listed, budget)

    def alert_preview(
        self, query: str, days: int, budget: int, **conditions: Any
    ) -> Annotated[CallToolResult, PreviewedAlert]:
        """Show what an alert would have told of the last days: try its conditions before you keep it."""
        arguments = _write_conditions(q=query, **conditions)
        preview = self._server.of_index("GET", "/alerts/preview", None, **arguments, days=days)
        head = {name: preview[name] for name in ("first", "last", "sentences", "by_similarity", "unusual")}
        examples = [
            {name: value for name, value in example.items() if value is not None}
            for example in preview["examples"]
        ]
        return fit({**head, "total": len(examples)}, "examples", examples, budget)

    def alert_create(
        self, name: str, query: str, to: Texts, every: str, zone: str, budget: int, **conditions: Any
    ) -> Annotated[CallToolResult, KeptAlert]:
        """Keep an alert, which delivers to people the new sentences that satisfy all of its conditions."""
        arguments = _write_conditions(q=query, **conditions)
        targets = [to] if isinstance(to, str) else list(to)
        body = {"name": name, "arguments": arguments, "to": targets, "every": every, "zone": zone}
        return _answer(self._server.of_index("POST", "/alerts", body), budget)

    def alert_pause(self, id: str, paused: bool, budget: int) -> Annotated[CallToolResult, KeptAlert]:
        """Let an alert wait, or deliver again: what it finds meanwhile is delivered afterwards."""
        return _answer(self._server.post("/alerts/pause", {"id": id, "paused": paused}), budget)


def _answer(alert: Mapping[str, Any], budget: int) -> CallToolResult:
    return fit({"total": 1}, "alerts", [_describe(alert)], budget)


def _describe(alert: Mapping[str, Any]) -> dict[str, Any]:
    return {name: alert[name] for name in _SHOWN if alert[name] != ""}


def _write_conditions(**conditions: Any) -> dict[str, list[str]]:
    """Conditions as an address has them, without those that are not given."""
    written: dict[str, list[str]] = {}
    for name, value in conditions.items():
        if value in (None, "", [], False):
            continue
        if isinstance(value, list):
            written[name] = list(map(str, value))
        else:
            written[name] = ["yes" if value is True else str(value)]
    return written
