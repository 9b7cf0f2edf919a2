"""The encoder of an index's queries: loaded at first use, or in the background, or replaced by a table."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, NamedTuple

from esr.errors import EsrError, UsageError
from esr.index.contract import Index
from esr.index.questions import MainEncoder, StoredTable
from esr.stdlib import import_lazily
from esr.text.sentence_enrichment import ENCODER_VARIABLE, QuantizedVector
from esr.threads import start_thread

if TYPE_CHECKING:
    import logging

    from esr import encoders
    from esr.encoders import AnyEncoder, encoder_folder, model_server, table
    from esr.encoders.table import VectorTable
else:
    encoder_folder = import_lazily("esr.encoders.encoder_folder")
    encoders = import_lazily("esr.encoders")
    logging = import_lazily("logging")
    model_server = import_lazily("esr.encoders.model_server")
    table = import_lazily("esr.encoders.table")

CROSS_VARIABLE, ENTAILMENT_VARIABLE = "ESR_CROSS_ENCODER", "ESR_ENTAILMENT"
ENCODER_VARIABLES = {
    ENCODER_VARIABLE: "the folder or address of the encoder of queries, if that of an index has no known "
    "name, and of the encoder of loads",
    CROSS_VARIABLE: "the cross-encoder of the signal `cross`: hf:OWNER/NAME, an address or a folder",
    ENTAILMENT_VARIABLE: "the cross-encoder whose opinion is shown beside evidence: hf:OWNER/NAME, an "
    "address or a folder",
    "ESR_MODEL_KEY": "the bearer token for models on servers",
}


class QueryVector(NamedTuple):
    """The id of an encoder, and its vector of a query."""

    encoder: str
    vector: QuantizedVector


def encode_query(index: Index, text: str) -> QueryVector:
    """Encode a query with the encoder of the index's vectors, or with its table if that cannot be loaded.

    Raises UsageError if the index has no vectors or those of another encoder, EsrError if the encoder cannot
    be loaded and the index has no table that imitates it.
    """
    id = index.status(MainEncoder())
    if id is None:
        raise UsageError(f"{index.where} has no vectors: run esr enrich --only vectors")
    place = index.where, id
    if (stand_in := QUERY_TABLES.get(place)) is not None:
        return QueryVector(id, stand_in.encode_query(text))
    try:
        encoder = _load_encoder(index.where, id)
    except EsrError as error:
        if (stand_in := _use_table(index, id, error)) is None:
            raise
        return QueryVector(id, stand_in.encode_query(text))
    _check_id(index.where, id, encoder)
    return QueryVector(id, encoder.encode_query(text))


QUERY_TABLES: dict[tuple[str, str], VectorTable] = {}
"""The tables that encode queries in this process, by the place of an index and the id of its encoder."""


class _BackgroundLoad:
    """An encoder that a thread loads, unless it would have to be fetched from a network first."""

    def __init__(self, where: str, id: str) -> None:
        self.error: EsrError | None = None
        self.suits_hybrid = True
        self.began = time.monotonic()
        self._thread = start_thread(self._run, where, id, name="encoder")

    def wait(self, seconds: float | None) -> bool:
        """Wait at most so many seconds. Returns whether the load has ended."""
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def _run(self, where: str, id: str) -> None:
        try:
            name = _encoder_name(where, id)
            if not model_server.is_address(name) and not encoder_folder.is_here(name):
                raise UsageError(f"the encoder {name} is not on this machine yet")
            encoder = encoders.load_encoder(name)
            _check_id(where, id, encoder)
            self.suits_hybrid = encoder.description.suits_hybrid
        except EsrError as error:
            self.error = error


LOADS: dict[tuple[int, str, str, str | None], _BackgroundLoad] = {}
_RETRY_SECONDS = 60.0


def find_obstacle(index: Index, seconds: float | None = None) -> str | None:
    """Why queries of an index cannot be ranked by meaning now, or None if they can.

    It is empty if the ranking `hybrid` does not suit the encoder, which is no news for users.

    The encoder is loaded in a thread, and waited for at most so many seconds, by default until it is loaded.
    It is not fetched from a network. Where it cannot be loaded, the table of the index takes its place until
    a later attempt succeeds.
    """
    id = index.status(MainEncoder())
    if id is None:
        return "the index has no vectors"
    # A forked process needs a thread of its own.
    key = os.getpid(), index.where, id, os.environ.get(ENCODER_VARIABLE)
    load = LOADS.get(key)
    if load is None or (load.error is not None and time.monotonic() - load.began > _RETRY_SECONDS):
        load = LOADS[key] = _BackgroundLoad(index.where, id)
    if (index.where, id) in QUERY_TABLES:
        if not load.wait(0) or load.error is not None:
            return None if suits_hybrid(id) else ""
        QUERY_TABLES.pop((index.where, id), None)
    if not load.wait(seconds):
        return "the encoder of queries is being loaded"
    if load.error is None:
        return None if load.suits_hybrid else ""
    if not suits_hybrid(id):
        return ""
    return None if _use_table(index, id, load.error) is not None else str(load.error)


def encoder_name(index: Index) -> str:
    """The name of the encoder of the index's vectors, empty if it has none."""
    return (index.status(MainEncoder()) or "").rpartition(" ")[0]


def suits_hybrid(id: str) -> bool:
    """Whether the ranking `hybrid` suits an encoder that is not loaded, by its name."""
    name = id.rpartition(" ")[0]
    hub_model = encoders.HUB_MODELS.get(name.partition("@")[0])
    return (
        encoders.KNOWN[name].suits_hybrid
        if name in encoders.KNOWN
        else bool(hub_model and hub_model.suits_hybrid)
    )


def _use_table(index: Index, id: str, error: EsrError) -> VectorTable | None:
    """Let the table of an index encode its queries from now on, if there is one."""
    stand_in = _load_table(index, id)
    if stand_in is None:
        return None
    log = logging.getLogger("esr")
    log.warning("%s: queries are encoded by its table, which is less accurate: %s", index.where, error)
    QUERY_TABLES[index.where, id] = stand_in
    return stand_in


def _check_id(where: str, id: str, encoder: AnyEncoder) -> None:
    """Raise UsageError unless this is the encoder of the vectors of an index."""
    if encoder.description.id != id:
        raise UsageError(
            f"the vectors of {where} are of the encoder {id}, and this is {encoder.description.id}: "
            f"set {ENCODER_VARIABLE} to that one, or run esr enrich --only vectors with this one"
        )


def _load_encoder(where: str, id: str) -> AnyEncoder:
    return encoders.load_encoder(_encoder_name(where, id))


def _encoder_name(where: str, id: str) -> str:
    """The name of the encoder with an id. Raises UsageError if it has none and the setting names none."""
    name = os.environ.get(ENCODER_VARIABLE) or id.rpartition(" ")[0]
    if (
        name not in encoders.KNOWN
        and not name.startswith(encoders.HUB_PREFIX)
        and ENCODER_VARIABLE not in os.environ
    ):
        raise UsageError(
            f"the vectors of {where} are of the encoder {id}, which has no known name: "
            f"set {ENCODER_VARIABLE} to its folder or address"
        )
    return name


def _load_table(index: Index, id: str) -> VectorTable | None:
    """The table of an index; None if there is none, it imitates another encoder, or cannot be read here."""
    try:
        stored = index.status(StoredTable())
        loaded = None if stored is None else table.VectorTable.from_bytes(stored)
        if loaded is None or loaded.settings.made_with["encoder"] != id:
            return None
        loaded.encode_query("text")  # needs packages
    except EsrError:
        return None
    return loaded
