"""The encoders and cross-encoders of a process, each loaded once."""

from __future__ import annotations

from functools import partial

from esr.encoders.cross_encoder import CrossEncoder, open_cross_encoder
from esr.encoders.description import HUB_PREFIX, KNOWN
from esr.encoders.encoder import Encoder, require_runtime
from esr.encoders.encoder_folder import find_folder
from esr.encoders.model_server import ServedEncoder
from esr.threads import OnceByKey

AnyEncoder = Encoder | ServedEncoder
encoders: OnceByKey[str, AnyEncoder] = OnceByKey()
cross_encoders: OnceByKey[str, CrossEncoder] = OnceByKey()


def load_encoder(name: str) -> AnyEncoder:
    """The encoder of a known name, of the hub, at an address or in a folder. Raises EsrError."""
    return encoders.make(name, partial(_load, name))


def load_cross_encoder(name: str) -> CrossEncoder:
    """The cross-encoder of the hub, at an address or in a folder. Raises EsrError."""
    return cross_encoders.make(name, partial(open_cross_encoder, name))


def _load(name: str) -> AnyEncoder:
    if name in KNOWN.built_in or name.startswith(HUB_PREFIX):
        require_runtime(KNOWN.built_in.get(name))  # checked before any download
    located = find_folder(name)
    return ServedEncoder(located.description) if located.description.url else Encoder(*located)
