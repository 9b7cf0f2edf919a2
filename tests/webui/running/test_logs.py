from __future__ import annotations

import json
import logging

from webui.running.logs import JsonLines


def test_a_line_stays_one_line_whatever_is_in_it() -> None:
    record = logging.LogRecord("webui", logging.INFO, "", 0, "a\nb\u2028c \ud800 \x1b[31m", (), None)
    line = JsonLines().format(record)
    assert len(line.splitlines()) == 1
    assert line.isascii()
    assert json.loads(line)["message"] == "a\nb\u2028c \ud800 \x1b[31m"
