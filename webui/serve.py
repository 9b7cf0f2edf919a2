"""Starts the server with the application. Only this module imports both."""

from __future__ import annotations

from collections.abc import Collection

from flask import Flask

from webui.running import server
from webui.running.served_indexes import ServedIndexes
from webui.running.settings import Settings


def serve(where: str, host: str, port: int) -> None:
    """Serve the pages and the API of one index or several until the process is told to stop."""
    server.serve(where, host, port, _create_app, _check_access)


def _check_access(settings: Settings, names: Collection[str]) -> None:
    from webui.access import guard  # imports the metrics library, as below

    guard.check(settings, names)


def _create_app(indexes: ServedIndexes, settings: Settings, rates: str) -> Flask:
    # Imported here, as it imports the metrics library, which looks for the folder that workers share.
    from webui.app import create_app

    return create_app(indexes, settings, rates)
