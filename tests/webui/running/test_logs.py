from __future__ import annotations

import json
import logging

from webui.running.logs import JsonFormatter


def test_any_message_makes_one_line() -> None:
    record = logging.LogRecord("webui", logging.INFO, "", 0, "a\nb\u2028c \ud800 \x1b[31m", (), None)
    line = JsonFormatter().format(record)
    assert len(line.splitlines()) == 1
    assert line.isascii()
    assert json.loads(line)["message"] == "a\nb\u2028c \ud800 \x1b[31m"
