"""The encoders and cross-encoders of a process, each loaded once."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from esr.encoders.description import (
    HUB_PREFIX,
    KNOWN,
)

if TYPE_CHECKING:
    pass
from esr.encoders.cross_encoder import CrossEncoder, open_cross_encoder
from esr.encoders.encoder import Encoder, require_runtime
from esr.encoders.encoder_folder import find_folder
from esr.encoders.model_server import ServedEncoder

T = TypeVar("T")
AnyEncoder = Encoder | ServedEncoder
_lock = threading.Lock()
encoders: dict[str, AnyEncoder] = {}
cross_encoders: dict[str, CrossEncoder] = {}


def load_encoder(name: str) -> AnyEncoder:
    """The encoder of a known name, of the hub, at an address or in a folder. Raises EsrError."""
    return _load_once(encoders, name, _load)


def load_cross_encoder(name: str) -> CrossEncoder:
    """The cross-encoder of the hub, at an address or in a folder. Raises EsrError."""
    return _load_once(cross_encoders, name, open_cross_encoder)


def _load_once(loaded: dict[str, T], name: str, load: Callable[[str], T]) -> T:
    with _lock:
        if name not in loaded:
            loaded[name] = load(name)
        return loaded[name]


def _load(name: str) -> AnyEncoder:
    if name in KNOWN.own or name.startswith(HUB_PREFIX):
        require_runtime(KNOWN.own.get(name))  # checked before any download
    found = find_folder(name)
    return ServedEncoder(found.description) if found.description.url else Encoder(*found)
