"""The arguments of many commands: which index, the format of the output, and the login.

Every start of `esr` imports them, so they need little else.
"""

from __future__ import annotations

from esr.arguments.argument import COMMAND, Argument
from esr.arguments.types import Flag, Text
from esr.index.login_variables import API_KEY_FILE, CA_FILE, INSECURE, PASSWORD_FILE, USER

INDEX = Argument(
    "index",
    "the index: a folder, or http(s)://host:port/alias for Elasticsearch",
    applies_to=COMMAND,
    sets="where",
    metavar="WHERE",
)
JSON = Argument("json", "print JSON, for programs", Flag(), COMMAND, sets="as_json")
FORMAT = Argument("format", "the format of the output", Text(), COMMAND, sets="format_name")
QUERY = Argument("query", "the query", Text(), COMMAND, is_required=True, is_positional=True)
LOGIN: tuple[Argument, ...] = (
    Argument("user", f"a user of Elasticsearch [{USER}]", Text(), COMMAND, sets=USER),
    Argument(
        "api_key_file",
        f"a file with an API key of Elasticsearch [{API_KEY_FILE}]",
        Text(),
        COMMAND,
        sets=API_KEY_FILE,
        metavar="FILE",
    ),
    Argument(
        "password_file",
        f"a file with the user's password [{PASSWORD_FILE}]",
        Text(),
        COMMAND,
        sets=PASSWORD_FILE,
        metavar="FILE",
    ),
    Argument(
        "ca_file",
        f"certificates (PEM) of the authorities to trust [{CA_FILE}]",
        Text(),
        COMMAND,
        sets=CA_FILE,
        metavar="FILE",
    ),
    Argument(
        "insecure",
        f"do not verify Elasticsearch's certificate [{INSECURE}=1]",
        Flag(),
        COMMAND,
        sets=INSECURE,
    ),
)
"""How `esr` logs in to Elasticsearch: the variables that are set. Command lines are public, so secrets are in
files or in the environment."""
