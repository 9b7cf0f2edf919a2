"""The worker process of a load: `python -m esr.folder.write.worker ANALYZER title|no-title`.

It reads some hundred documents at a time as JSON from standard input and answers with their batch. It writes
no files, keeps no state, and ends with its input, so also when the load is killed.
"""

from __future__ import annotations

import pickle
import signal
import sys
from typing import Any, BinaryIO

from esr.folder.write.batches import BatchBuilder

LENGTH_BYTES = 8


def encode_message(content: Any) -> bytes:
    """Encode a message in either direction: its length in bytes, then its content."""
    encoded = pickle.dumps(content, pickle.HIGHEST_PROTOCOL)
    return len(encoded).to_bytes(LENGTH_BYTES) + encoded


def _read_message(stream: BinaryIO) -> Any:
    """Read the next message, None at the end."""
    length = stream.read(LENGTH_BYTES)
    if len(length) < LENGTH_BYTES:
        return None
    encoded = stream.read(int.from_bytes(length))
    return pickle.loads(encoded)


def main(analyzer: str, title: str) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the load gets the signal too, and ends this process
    builder = BatchBuilder(analyzer, title == "title")
    while (documents := _read_message(sys.stdin.buffer)) is not None:
        sys.stdout.buffer.write(encode_message(builder.build_from_json(documents)))
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
