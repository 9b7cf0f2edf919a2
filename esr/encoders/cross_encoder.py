"""Cross-encoders score pairs of a query and a text.

A score is the unchanged output of the model; higher is better. A model with the labels entailment and
contradiction gives the difference of both: above 0, the text supports the query, below 0 it contradicts it.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import numpy.typing as npt

from esr.encoders.description import (
    HUB_PREFIX,
    TOKENIZER,
    fetch_model,
    find_entailment,
    find_max_tokens,
    find_onnx,
    find_padding,
)
from esr.encoders.encoder import open_session, open_tokenizer, require_runtime
from esr.encoders.model_server import Address, ServerTooSlow, is_address, request_scores
from esr.errors import EsrError, InputError, UsageError, to_one_line

Scores = npt.NDArray[np.float64]
Compute = Callable[[str, Sequence[str], float], Sequence[float]]
"""A function from a query, texts and a time limit in seconds to scores of the texts."""
_BATCH = 16
_CACHED_PAIRS = 20_000
_QUANTIZED = b"DynamicQuantizeLinear"
"""An operator in models whose output for a text depends on the other texts of the batch."""
_THREADS = min(4, os.cpu_count() or 1)


class CrossEncoder:
    """Scores pairs of a query and a text, and caches the scores. Threads may share it.

    `is_entailment`: scores above 0 are of texts that support the query, those below 0 of texts that
    contradict it.
    """

    def __init__(self, compute: Compute, batch: int = _BATCH, is_entailment: bool = False) -> None:
        self.compute: Compute = compute
        self.batch_size: int = batch
        self.is_entailment: bool = is_entailment
        self._cache: dict[tuple[str, str], float] = {}

    def scores(self, query: str, texts: Sequence[str], seconds: float = math.inf) -> Scores:
        """The scores of texts, of shape (n,); NaN for those left when `seconds` are over. Raises EsrError."""
        until = time.monotonic() + seconds
        known = {text: self._cache.get((query, text), math.nan) for text in texts}
        missing = [text for text, score in known.items() if math.isnan(score)]
        for start in range(0, len(missing), self.batch_size):
            left = until - time.monotonic()
            if left <= 0 and start:
                break
            batch = missing[start : start + self.batch_size]
            try:
                new = dict(zip(batch, self.compute(query, batch, max(left, 0.001)), strict=True))
            except ServerTooSlow:
                if time.monotonic() < until:
                    raise
                break
            known |= new
            if len(self._cache) > _CACHED_PAIRS:
                self._cache.clear()
            self._cache |= {(query, text): score for text, score in new.items()}
        return np.array([known[text] for text in texts], float)


def open_cross_encoder(name: str) -> CrossEncoder:
    """The cross-encoder `hf:OWNER/NAME`, at an address or in a folder. Raises EsrError."""
    if is_address(name):
        return CrossEncoder(partial(request_scores, Address.of(name)))
    require_runtime(None)
    path = fetch_model(name).path if name.startswith(HUB_PREFIX) else Path(name)
    if not path.is_dir():
        raise UsageError(
            f"there is no cross-encoder {name!r}: give {HUB_PREFIX}OWNER/NAME of the hub, such as "
            "hf:cross-encoder/ms-marco-MiniLM-L6-v2, the address of a server, or a folder"
        )
    return _open_folder(path)


def shorten_name(name: str) -> str:
    """The name of a cross-encoder for readers: its owner and name, its host, or the name of its folder."""
    if is_address(name):
        return urlsplit(name).hostname or name
    return name.removeprefix(HUB_PREFIX) if name.startswith(HUB_PREFIX) else Path(name).resolve().name


def _open_folder(path: Path) -> CrossEncoder:
    model = path / find_onnx(path)
    is_quantized = _QUANTIZED in model.read_bytes()
    session = open_session(model, threads=_THREADS)
    tokenizer = open_tokenizer(path / TOKENIZER, find_max_tokens(path))
    tokenizer.enable_padding(pad_id=find_padding(path))
    inputs, output = [node.name for node in session.get_inputs()], session.get_outputs()[0].name
    entailment = find_entailment(path)

    def compute(query: str, texts: Sequence[str], seconds: float) -> Sequence[float]:
        # Models of entailment read the text first, and then what may follow from it.
        pairs = [(query, text) if entailment is None else (text, query) for text in texts]
        encodings = tokenizer.encode_batch(pairs)
        feed: dict[str, Any] = {
            "input_ids": np.array([encoding.ids for encoding in encodings], np.int64),
            "attention_mask": np.array([encoding.attention_mask for encoding in encodings], np.int64),
            "token_type_ids": np.array([encoding.type_ids for encoding in encodings], np.int64),
        }
        try:
            (logits,) = session.run([output], {name: feed[name] for name in inputs})
        except Exception as error:  # the runtime raises errors without a common class
            raise EsrError(f"cross-encoder {path}: {to_one_line(error)}") from error
        if entailment is not None and logits.ndim == 2 and logits.shape[1] > max(entailment):
            logits = logits[:, entailment[0]] - logits[:, entailment[1]]
        if logits.size != len(texts):
            raise InputError(
                str(model),
                f"the model makes {logits.size // len(texts)} numbers for a pair, and not one score",
            )
        scores: list[float] = logits.reshape(-1).astype(float).tolist()
        return scores

    return CrossEncoder(compute, 1 if is_quantized else _BATCH, entailment is not None)
