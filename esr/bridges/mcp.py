"""`esr mcp`: a server for assistants that speak the Model Context Protocol."""

from __future__ import annotations

import click

import esr
from esr.plugin import EsrError, index_option
from esr.plugin.provisional import Ranking, ranking_options, redact, require


@click.command()
@index_option
@click.option(
    "--http", is_flag=True, help="Serve streamable HTTP at /mcp, instead of standard input and output."
)
@click.option("--host", default="127.0.0.1", help="Address to listen on, with --http.")
@click.option("--port", type=click.IntRange(1, 65535), default=8090, help="Port to listen on, with --http.")
@click.option(
    "--allow-host",
    "names",
    multiple=True,
    metavar="NAME",
    help="Another name under which clients reach the server, such as search.example.org, with --http. "
    "May be repeated. Requests to other names are refused.",
)
@ranking_options
def mcp(where: str, http: bool, host: str, port: int, names: tuple[str, ...], ranking: Ranking) -> None:
    """Serve an index to assistants (Model Context Protocol).

    Assistants get the tools search, document, timeline, similar, names, quotes, check, check_draft,
    evidence and contents. Answers have a budget in characters, and each sentence comes with its id and a
    citation. Needs the extra mcp.

    \b
    Example:
      esr mcp --index my-index
      esr mcp --index my-index --http --port 8090
    """
    require("esr mcp", "mcp")
    from esr.bridges.mcp_server import build_server, serve_http

    with esr.open(where) as index:
        server = build_server(index, ranking)
        if not http:
            server.run("stdio")
            return
        own = f"[{host}]" if ":" in host else host
        click.echo(f"assistants reach {redact(where)} at http://{own}:{port}/mcp", err=True)
        try:
            serve_http(server, host, port, names)
        except OSError as error:
            raise EsrError(f"cannot listen on {host}:{port}: {error.strerror}") from error
