"""The second process of a load: `python -m esr.engines.segments.writer.worker ANALYZER title|no-title`.

It is given documents as JSON on standard input, some hundred at a time, and answers with the batch of them.
It writes no file and keeps nothing that an answer depends on. It ends with its input, so also when the load
is killed.
"""

from __future__ import annotations

import pickle
import signal
import sys
from typing import Any, BinaryIO

from esr.engines.segments.writer.batch import Preparing

LENGTH_BYTES = 8


def message(content: Any) -> bytes:
    """What is sent either way: how many bytes follow, and these."""
    code = pickle.dumps(content, pickle.HIGHEST_PROTOCOL)
    return len(code).to_bytes(LENGTH_BYTES) + code


def _received(stream: BinaryIO) -> Any:
    """The next message; None at the end."""
    length = stream.read(LENGTH_BYTES)
    if len(length) < LENGTH_BYTES:
        return None
    code = stream.read(int.from_bytes(length))
    return pickle.loads(code)


def main(analyzer: str, title: str) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # it goes to both: the load hears it and ends this one
    preparing = Preparing(analyzer, title == "title")
    while (codes := _received(sys.stdin.buffer)) is not None:
        sys.stdout.buffer.write(message(preparing.of_codes(codes)))
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
