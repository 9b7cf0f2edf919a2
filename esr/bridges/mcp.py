"""`esr mcp`: a server for assistants that speak the Model Context Protocol."""

from __future__ import annotations

import click

import esr
from esr.plugin import EsrError, index_option
from esr.plugin.provisional import (
    ArgumentRow,
    Ranking,
    add_arguments,
    ranking_options,
    redact,
    require,
)
from esr.plugin.provisional import argument_types as types

_ROWS = (
    ArgumentRow(
        "http",
        "serve streamable HTTP at /mcp, instead of standard input and output",
        types.Flag(),
        "mcp",
    ),
    ArgumentRow("host", "address to listen on, with --http", types.Text(usual="127.0.0.1"), "mcp"),
    ArgumentRow("port", "port to listen on, with --http", types.WholeNumber(most=65_535, usual=8090), "mcp"),
    ArgumentRow(
        "allow_host",
        "another name under which clients reach the server, such as search.example.org, with --http. "
        "Requests to other names are refused",
        types.Texts(),
        "mcp",
        is_repeatable=True,
        sets="names",
        metavar="NAME",
    ),
)


@click.command()
@index_option
@add_arguments(_ROWS, "mcp")
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
