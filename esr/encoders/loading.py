"""Loads an encoder once for a process."""

from __future__ import annotations

import threading

from esr.encoders.folder import find_folder
from esr.encoders.known import KNOWN
from esr.encoders.onnx_encoder import Encoder, require_runtime

_lock = threading.Lock()
_loaded: dict[str, Encoder] = {}


def load_encoder(name: str) -> Encoder:
    """The encoder of a known name or of a folder, loaded when it is first asked for. Raises EsrError."""
    with _lock:
        if name not in _loaded:
            if name in KNOWN:
                require_runtime(KNOWN[name])  # before anything is fetched
            _loaded[name] = Encoder(*find_folder(name))
        return _loaded[name]
