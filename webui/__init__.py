"""The search pages and the API: a Flask application over a `Searcher`, and the server that runs it.

The application is imported only by `serve`: it imports the metrics library, which looks for the folder that
workers share at that moment.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from esr.stdlib import import_lazily

if TYPE_CHECKING:
    from flask import Flask

    from webui import app
    from webui.access import guard
    from webui.running import server
    from webui.running.served_indexes import ServedIndexes
    from webui.running.settings import Settings
else:
    app = import_lazily("webui.app")
    guard = import_lazily("webui.access.guard")
    server = import_lazily("webui.running.server")


def serve(where: str, host: str, port: int) -> None:
    """Serve the pages and the API of one index or several until SIGTERM or SIGINT."""
    server.serve(where, host, port, _create_app, _check_access)


def _check_access(settings: Settings, names: Collection[str]) -> None:
    guard.check(settings, names)


def _create_app(indexes: ServedIndexes, settings: Settings, rates: str) -> Flask:
    return app.create_app(indexes, settings, rates)
