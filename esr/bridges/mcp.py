"""`esr mcp`: a server for assistants that speak the Model Context Protocol."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import esr
from esr.plugin import EsrError, UsageError, index_option
from esr.plugin.provisional import (
    ArgumentRow,
    Ranking,
    add_arguments,
    import_lazily,
    ranking_options,
    redact,
    require,
)
from esr.plugin.provisional import argument_types as types

if TYPE_CHECKING:
    from esr.bridges import mcp_remote
else:
    mcp_remote = import_lazily("esr.bridges.mcp_remote")

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
    ArgumentRow(
        "dossiers",
        "also offer the dossiers and alerts of this server of esr, such as https://search.example.org",
        types.Text(),
        "mcp",
        metavar="URL",
    ),
    ArgumentRow(
        "key_file",
        "the file with the key of esr keys for --dossiers, whose rights the tools have",
        types.FilePath(),
        "mcp",
    ),
    ArgumentRow(
        "index_name", "the name of the index on that server, if it has several", types.Text(usual=""), "mcp"
    ),
)


@click.command()
@index_option
@add_arguments(_ROWS, "mcp")
@ranking_options
def mcp(
    where: str, http: bool, host: str, port: int, names: tuple[str, ...], ranking: Ranking, **options: Any
) -> None:
    """Serve an index to assistants (Model Context Protocol).

    Assistants get the tools search, document, timeline, similar, names, quotes, check, check_draft,
    evidence, reuse and contents. Answers have a budget in characters, and each sentence comes with its id
    and a citation. With --dossiers, they also get tools to read and to add to the dossiers and
    alerts of a server. Needs the extra mcp.

    \b
    Example:
      esr mcp --index my-index
      esr mcp --index my-index --http --port 8090
      esr mcp --index my-index --dossiers https://search.example.org --key-file key
    """
    require("esr mcp", "mcp")
    from esr.bridges.mcp_server import build_server, serve_http

    tools = _open_dossiers(**options)
    with esr.open(where) as index:
        server = build_server(index, ranking, tools)
        if not http:
            server.run("stdio")
            return
        bound_host = f"[{host}]" if ":" in host else host
        click.echo(f"assistants reach {redact(where)} at http://{bound_host}:{port}/mcp", err=True)
        try:
            serve_http(server, host, port, names)
        except OSError as error:
            raise EsrError(f"cannot listen on {host}:{port}: {error.strerror}") from error


def _open_dossiers(
    dossiers: str | None, key_file: Path | None, index_name: str
) -> mcp_remote.RemoteServer | None:
    """The server of the dossiers and alerts. Raises UsageError."""
    if (dossiers is None) != (key_file is None):
        raise UsageError("--dossiers and --key-file need each other: give both or none")
    if dossiers is None or key_file is None:
        return None
    if not dossiers.startswith(("http://", "https://")):
        raise UsageError(f"--dossiers is an address such as https://search.example.org, not {dossiers!r}")
    try:
        key = key_file.read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not a text"
        raise UsageError(f"cannot read the key in {key_file}: {reason.lower()}") from None
    if len(key.split()) != 1 or not key.isascii():
        raise UsageError(f"{key_file} must hold one key, as esr keys add prints it, and nothing else")
    return mcp_remote.RemoteServer(dossiers, key, index_name)
