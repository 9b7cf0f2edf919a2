"""Loads encoders and cross-encoders, each once for the whole process."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

from esr.encoders import hub
from esr.encoders.cross_encoder import CrossEncoder, open_cross_encoder
from esr.encoders.description import KNOWN
from esr.encoders.folder import find_folder
from esr.encoders.onnx_encoder import Encoder, require_runtime
from esr.encoders.served import ServedEncoder

T = TypeVar("T")
AnyEncoder = Encoder | ServedEncoder
_lock = threading.Lock()
_encoders: dict[str, AnyEncoder] = {}
_cross_encoders: dict[str, CrossEncoder] = {}


def load_encoder(name: str) -> AnyEncoder:
    """The encoder of a known name, of the hub, at an address or in a folder. Raises EsrError."""
    return _load_once(_encoders, name, _load)


def load_cross_encoder(name: str) -> CrossEncoder:
    """The cross-encoder of the hub, at an address or in a folder. Raises EsrError."""
    return _load_once(_cross_encoders, name, open_cross_encoder)


def _load_once(loaded: dict[str, T], name: str, load: Callable[[str], T]) -> T:
    with _lock:
        if name not in loaded:
            loaded[name] = load(name)
        return loaded[name]


def _load(name: str) -> AnyEncoder:
    if name in KNOWN or name.startswith(hub.PREFIX):
        require_runtime(KNOWN.get(name))  # before anything is fetched
    found = find_folder(name)
    return ServedEncoder(found.description) if found.description.url else Encoder(*found)
