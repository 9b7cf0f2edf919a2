"""`esr serve`: the search page."""

from __future__ import annotations

import click

from esr.cli import options


@click.command()
@options.index
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", type=click.IntRange(1, 65535), default=8080, show_default=True)
def serve(where: str, host: str, port: int) -> None:
    """Serve the search page and the API until the process is stopped.

    Several indexes are written as NAME=WHERE, separated by blanks; the first is the default. Settings are
    environment variables: see docs/serving.md.

    \b
    Example:
      esr serve --index my-index --port 8080
      esr serve --index "news=my-index old=http://localhost:9200/old"
    """
    from webui.serve import serve as serve_page

    serve_page(where, host, port)
