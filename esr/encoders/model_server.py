"""Models on a server: encoders that speak the JSON of OpenAI's embeddings, and rerankers.

An address is the URL of requests, such as `http://localhost:8080/v1/embeddings`, and may end in `#` and the
name of the model. ESR_MODEL_KEY is sent as a bearer token. Requests that fail temporarily are repeated.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from esr.encoders.description import (
    EncoderDescription,
)
from esr.encoders.encoder import CACHED_QUERIES, Floats, normalize, quantize
from esr.errors import EsrError, to_one_line
from esr.processes import after_fork
from esr.stdlib import import_lazily
from esr.text.sentence_enrichment import QuantizedVector

if TYPE_CHECKING:
    import urllib3
    from urllib3 import exceptions
else:
    exceptions = import_lazily("urllib3.exceptions")
    urllib3 = import_lazily("urllib3")

KEY_VARIABLE = "ESR_MODEL_KEY"
_TEXTS = 32
"""Maximum texts in one request: the default limit of text-embeddings-inference."""
_SECONDS = 60.0
_REPEATED = (429, 502, 503, 504)
BACKOFF_SECONDS = 0.2


def is_address(name: str) -> bool:
    return name.startswith(("http://", "https://"))


class Address(NamedTuple):
    """The URL of requests, and the name of the model, if any."""

    url: str
    model: str

    @classmethod
    def of(cls, text: str) -> Address:
        url, _, model = text.partition("#")
        return cls(url, model)


class ServerProblem(EsrError):
    """The server of a model failed or returned an invalid answer."""


class ServerTooSlow(ServerProblem):
    """The server of a model did not answer in time."""


@cache
def connections() -> urllib3.PoolManager:
    retries = urllib3.Retry(
        3,
        read=0,
        backoff_factor=BACKOFF_SECONDS,
        status_forcelist=_REPEATED,
        allowed_methods=None,
        respect_retry_after_header=False,
    )
    return urllib3.PoolManager(maxsize=16, retries=retries)


after_fork(connections.cache_clear)  # connections belong to one process


def post(address: Address, body: dict[str, Any], seconds: float = _SECONDS) -> Any:
    """Send JSON to a model's server and return its answer. Raises ServerProblem."""
    headers = {"Content-Type": "application/json"}
    if key := os.environ.get(KEY_VARIABLE):
        headers["Authorization"] = f"Bearer {key}"
    if address.model:
        body = {**body, "model": address.model}
    try:
        answer = connections().request(
            "POST",
            address.url,
            body=json.dumps(body).encode(),
            headers=headers,
            timeout=seconds,
            redirect=False,
        )
    except (exceptions.HTTPError, ValueError) as error:
        reason = error.reason if isinstance(error, exceptions.MaxRetryError) and error.reason else error
        problem = ServerTooSlow if isinstance(reason, exceptions.TimeoutError) else ServerProblem
        raise problem(f"the model's server {address.url} does not answer: {to_one_line(reason)}") from None
    if answer.status != 200:
        hint = f": set {KEY_VARIABLE}" if answer.status in (401, 403) else ""
        message = to_one_line(answer.data[:300].decode("utf-8", "replace"))
        raise ServerProblem(f"the model's server {address.url} answers {answer.status} ({message}){hint}")
    try:
        return json.loads(answer.data)
    except ValueError:
        raise ServerProblem(f"the model's server {address.url} answers no JSON: is the path right?") from None


class ServedEncoder:
    """An encoder on a server. Threads may share it."""

    def __init__(self, description: EncoderDescription) -> None:
        """Raises ServerProblem if the server does not answer, or has vectors of other dimensions."""
        self._address = Address.of(description.url)
        self.description = description
        self.encode_query: Callable[[str], QuantizedVector] = lru_cache(CACHED_QUERIES)(self._encode_query)
        """The quantized vector of a query."""

    def encode_passage(self, text: str) -> Floats:
        """The vector of a sentence, of shape (dimensions,)."""
        return self.encode_passages([text])[0]

    def encode_passages(self, texts: Sequence[str]) -> list[Floats]:
        """The vectors of sentences, each of shape (dimensions,)."""
        return self._encode([self.description.passage_prefix + text for text in texts])

    def _encode_query(self, text: str) -> QuantizedVector:
        return quantize(self._encode([self.description.query_prefix + text])[0])

    def _encode(self, texts: Sequence[str]) -> list[Floats]:
        """The vectors of texts. A text without visible characters gets zeros, since servers refuse it."""
        vectors = [np.zeros(self.description.dimensions, np.float32)] * len(texts)
        places = [place for place, text in enumerate(texts) if text.strip()]
        for start in range(0, len(places), _TEXTS):
            batch = places[start : start + _TEXTS]
            answered = request_vectors(self._address, [texts[place] for place in batch])
            for place, vector in zip(batch, answered, strict=True):
                if len(vector) != self.description.dimensions:
                    raise ServerProblem(
                        f"the model's server {self._address.url} makes {len(vector)} dimensions instead of "
                        f"{self.description.dimensions}: it has another model"
                    )
                vectors[place] = normalize(vector) if self.description.normalize else vector
        return vectors


def request_vectors(address: Address, texts: Sequence[str]) -> list[Floats]:
    """The vectors of texts from a server. Raises ServerProblem."""
    answer = post(address, {"input": list(texts)})
    try:
        rows = sorted(answer["data"], key=lambda row: row["index"])
        vectors = [np.array(row["embedding"], np.float32) for row in rows]
        if len(vectors) != len(texts) or any(v.ndim != 1 or not np.isfinite(v).all() for v in vectors):
            raise ValueError
    except (KeyError, TypeError, ValueError):
        raise ServerProblem(
            f"the model's server {address.url} does not answer with a vector for each text, as "
            '{"data": [{"index": 0, "embedding": [...]}]}: is the path right?'
        ) from None
    return vectors


@cache
def describe_address(name: str) -> EncoderDescription:
    """Describe the encoder at an address, with the dimensions of a vector that the server returns."""
    (vector,) = request_vectors(Address.of(name), ["vector"])
    return EncoderDescription(name, len(vector), url=name)


def request_scores(address: Address, query: str, texts: Sequence[str], seconds: float) -> list[float]:
    """The scores of texts for a query, by a cross-encoder on a server. Raises ServerProblem.

    A path with a version, such as `/v1/rerank`, gets the JSON of Cohere, Jina and vLLM; any other path, such
    as `/rerank`, that of text-embeddings-inference, with a request for raw scores (logits).
    """
    body: dict[str, Any] = {"query": query}
    if re.search(r"/v\d+/", address.url):
        body |= {"documents": list(texts), "top_n": len(texts)}
    else:
        body |= {"texts": list(texts), "raw_scores": True}
    answer = post(address, body, min(seconds, _SECONDS))
    try:
        rows = answer if isinstance(answer, list) else answer["results"]
        scores = dict.fromkeys(range(len(texts)), np.nan)
        for row in rows:
            scores[row["index"]] = float(row.get("relevance_score", row.get("score")))
        if len(scores) != len(texts) or not np.isfinite([*scores.values()]).all():
            raise ValueError
    except (KeyError, TypeError, ValueError, AttributeError):
        raise ServerProblem(
            f"the model's server {address.url} does not answer with a score for each text, as "
            '[{"index": 0, "score": 0.5}] or {"results": [{"index": 0, "relevance_score": 0.5}]}: '
            "is the path right?"
        ) from None
    return [scores[n] for n in range(len(texts))]
