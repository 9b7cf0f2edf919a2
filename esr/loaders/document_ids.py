"""Ids of documents: read from a source or made if it has none, checked, and unique in a delivery.

Some sources have placeholders such as `not_available`, or one value for many different documents: `IdCheck`
finds such values. Every command that writes an index reads its documents through `SameIdFilter`, so an engine
sees each id once, even if feeds overlap or exports repeat documents. `DuplicateFilter` detects documents
with other ids that repeat an earlier one, exactly or nearly, as agency copy does across newspapers.

Two documents are near duplicates if the Jaccard similarity of their sets of five-word shingles is about 0.8
or more (Broder, On the resemblance and containment of documents, 1997), by MinHash and LSH of datasketch.
"""

from __future__ import annotations

import json
import os
import re
import sqlite3
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from itertools import chain
from pathlib import PurePath, PurePosixPath
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Any, NamedTuple
from zlib import crc32

from msgspec.json import Encoder
from msgspec.structs import replace

from esr.disk_errors import explain_temporary_file
from esr.errors import EsrError, InputError
from esr.extras import require
from esr.loaders.fields import FIELDS
from esr.loaders.files import display_name, to_utf8_path
from esr.loaders.format import Record, Source
from esr.stdlib import blake2b, import_lazily
from esr.text.document import METADATA, Document, Located
from esr.text.validate import build_document, to_fields
from esr.wording import count

if TYPE_CHECKING:
    import datasketch
else:
    datasketch = import_lazily("datasketch")

_WHITESPACE = re.compile(r"\s+")
_WORD = re.compile(r"\w+")


def make_id(text: str) -> str:
    """The text as an id. Blanks become "_", because ids are single words in run files."""
    return _WHITESPACE.sub("_", text.strip())


def make_id_from_path(source: Source) -> str:
    """The id of a file's only document: its `id_path` without the extension.

    A number is no extension: `sci.space.1` and `sci.space.2` are two documents.
    """
    path = PurePosixPath(source.id_path)
    return make_id(str(path if path.suffix[1:].isdecimal() else path.with_suffix("")))


def make_id_path(path: str, base: str | None = None) -> str:
    """The path of a file for its id, which does not depend on the folder that was named to find the file.

    It is relative to the root of the file system, or to the folder `base`, so that this folder can be moved.
    Links to folders are resolved, links to files are not. Raises InputError if the file is not below `base`.
    """
    folder, name = os.path.split(path)
    if base is None:
        return to_utf8_path(PurePath(os.path.realpath(folder), name).as_posix().lstrip("/"))
    # If a link in the base leads out of it, the path through the link is used.
    for resolve in (os.path.realpath, os.path.abspath):
        below = PurePath(os.path.relpath(os.path.join(resolve(folder), name), resolve(base)))
        if below.parts[0] != os.pardir:
            return to_utf8_path(below.as_posix())
    raise InputError(display_name(path), f"is not in the folder of --base, {display_name(base)}")


MADE_ID_POLICIES: dict[str, str] = {
    "url": "the address of the document",
    "content": "a digest of all its fields, so that equal documents have one id",
    "row": "its file and its number in it",
}
_CONTENT = (*(name for name in FIELDS if name != "id"), METADATA)
_DIGEST_BYTES = 16
# A longer url would leave no room for the suffixes of sentence ids.
_MAX_URL_BYTES = 480


class NoIdPossible(ValueError):
    """A document lacks the field that its id is made of."""


def make_requested_id(policy: str, fields: Mapping[str, Any], source: Source, number: int) -> str:
    """The id of the `number`-th document of a source by one of MADE_ID_POLICIES. Raises NoIdPossible."""
    if policy == "url":
        return _make_from_url(fields.get("url"))
    if policy == "content":
        return make_id_from_content(fields)
    return make_id(f"{source.id_path}:{number}")


def make_id_from_content(fields: Mapping[str, Any]) -> str:
    """The id of a document without one: the digest of all its other fields."""
    content = {name: fields[name] for name in _CONTENT if fields.get(name) is not None}
    return _digest(json.dumps(content, sort_keys=True))


def choose_policy(fields: Mapping[str, Any]) -> str | None:
    """The policy for a document without an id; None if it has an id, or nothing to make one from."""
    if fields.get("id") is not None:
        return None
    if fields.get("url"):
        return "url"
    return "content" if any(fields.get(name) for name in ("title", "text", "sentences")) else None


def _make_from_url(url: Any) -> str:
    """The address, or its digest if it is too long for an id."""
    if not isinstance(url, str) or not url.strip():
        raise NoIdPossible("the document has no url for --id url: use --mapping url=COLUMN, or another --id")
    id = make_id(url)
    return id if len(id.encode("utf-8", "surrogatepass")) <= _MAX_URL_BYTES else _digest(id)


def _digest(text: str) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_DIGEST_BYTES).hexdigest()


class KeyStore:
    """A map from keys to values on disk, so that memory does not grow with the number of documents.

    `insert` keeps the first value of a key. The SQLite file is unnamed and deleted with the object. Methods
    raise EsrError if it cannot be written.
    """

    def __init__(self) -> None:
        self.database: sqlite3.Connection = sqlite3.connect("", isolation_level=None, check_same_thread=False)
        self.database.execute("PRAGMA journal_mode = OFF")
        self.database.execute("CREATE TABLE keys (key BLOB PRIMARY KEY, value TEXT) WITHOUT ROWID")
        self.database.execute("BEGIN")

    def insert(self, key: bytes, value: str) -> str | None:
        """Store the value if the key is new. Returns the value already stored, or None for a new key."""
        cursor = self._execute("INSERT OR IGNORE INTO keys VALUES (?, ?)", (key, value))
        return None if cursor.rowcount else self.find(key)

    def find(self, key: bytes) -> str | None:
        """The value of a key, or None."""
        row = self._execute("SELECT value FROM keys WHERE key = ?", (key,)).fetchone()
        return str(row[0]) if row else None

    def replace(self, key: bytes, value: str) -> None:
        """Store another value under an existing key."""
        self._execute("UPDATE keys SET value = ? WHERE key = ?", (value, key))

    def _execute(self, query: str, values: tuple[object, ...]) -> sqlite3.Cursor:
        try:
            return self.database.execute(query, values)
        except sqlite3.OperationalError as error:
            raise EsrError(
                f"cannot write to the folder of temporary files ({error}): make room there, "
                "or name another folder in TMPDIR"
            ) from error

    def close(self) -> None:
        self.database.close()


SAME_ID_POLICIES: dict[str, str] = {
    "refuse": "an error, or a line in the file of --bad-documents",
    "last": "load the last one, as when a publisher sends corrections",
}

_MANY_VERSIONS = 10
"""Number of replacements from which an id is reported."""
_ENCODER = Encoder(order="deterministic")

Reject = Callable[[Located, str], None]
"""Called with a document that is refused, and the reason. It may raise InputError."""


class SameIdFilter:
    """Passes on one document for each id. Use one filter per load.

    A document with the id and the content of an earlier one is left out. If the contents differ, the policy
    decides.
    """

    def __init__(self, policy: str, reject: Reject) -> None:
        self._policy = policy
        self._reject = reject
        self._repeated = self._superseded = 0
        self._first_repeated = self._first_superseded = ""
        self._most_superseded = (0, "")

    def filter(self, documents: Iterable[Located]) -> Iterator[Located]:
        """The documents, one for each id. The policy `last` reads all of them before it yields the first."""
        select = self._keep_last if self._policy == "last" else self._refuse_later
        with closing(KeyStore()) as keys:
            yield from select(documents, keys)

    def notes(self) -> list[str]:
        """The lines about shared ids for the report of a load."""
        notes = []
        if self._repeated:
            notes.append(
                f"{count(self._repeated, 'document', 'repeat')} the id and the content of an earlier one and "
                f"{'was' if self._repeated == 1 else 'were'} left out: the first is {self._first_repeated}"
            )
        if self._superseded:
            notes.append(
                f"{count(self._superseded, 'document', 'were')} replaced by a later one with the same id: "
                f"the first is {self._first_superseded}"
            )
        versions, id = self._most_superseded
        if versions >= _MANY_VERSIONS:
            notes.append(
                f"{versions:,} of them have the id {id!r}: if these are different documents, load them again "
                "with --id content"
            )
        return notes

    def _refuse_later(self, documents: Iterable[Located], keys: KeyStore) -> Iterator[Located]:
        for located in documents:
            where, document = located
            content = _hash_content(document)
            existing = keys.insert(document.id.encode(), f"{content} {where}")
            if existing is None:
                yield located
                continue
            first_content, _, first = existing.partition(" ")
            if first_content == content:
                self._count_repeated(located)
            else:
                self._reject(
                    located,
                    f"document id {document.id!r} is duplicated: first used at {first} with other content "
                    "(--same-id last loads the last one; if these are different documents, --id content "
                    "makes other ids)",
                )

    def _keep_last(self, documents: Iterable[Located], keys: KeyStore) -> Iterator[Located]:
        # The last document with an id is known only at the end of a delivery, so all are spooled to a file.
        written = explain_temporary_file("all documents, as --same-id last needs")
        with written, TemporaryFile("w+", encoding="utf-8", prefix="esr-same-id-") as spool:
            lines = 0
            for located in documents:
                key, content = located.document.id.encode(), _hash_content(located.document)
                existing = keys.insert(key, f"{content} 0 {lines}")
                if existing is not None and existing.partition(" ")[0] == content:
                    self._count_repeated(located)
                    continue
                if existing is not None:
                    versions = int(existing.split(" ")[1]) + 1
                    keys.replace(key, f"{content} {versions} {lines}")
                    self._superseded += 1
                    self._most_superseded = max(self._most_superseded, (versions, located.document.id))
                    self._first_superseded = self._first_superseded or _describe(located)
                spool.write(json.dumps([located.where, to_fields(located.document)]) + "\n")
                lines += 1
            spool.seek(0)
            for number, line in enumerate(spool):
                where, fields = json.loads(line)
                if (keys.find(fields["id"].encode()) or "").endswith(f" {number}"):
                    yield Located(where, build_document(fields))

    def _count_repeated(self, located: Located) -> None:
        self._repeated += 1
        self._first_repeated = self._first_repeated or _describe(located)


def _describe(located: Located) -> str:
    return f"{located.document.id} at {located.where}"


def _hash_content(document: Document) -> str:
    """A digest that is equal for equal documents, faster than the checksums of stored documents."""
    return blake2b(_ENCODER.encode(document), digest_size=16).hexdigest()


# Documents that repeat an earlier one


DUPLICATE_POLICIES: dict[str, str] = {
    "keep": "load all documents and do not look for duplicates",
    "count": "load all, and report how many repeat an earlier one",
    "mark": "like count, and give their sentences the feature duplicate: 1, or the similarity",
    "drop": "leave out documents that repeat an earlier one",
}
DUPLICATE_FEATURE = "duplicate"
"""The feature of the sentences of a marked document."""

SIMILARITY = 0.8
# The number of earlier documents that each is compared with, which bounds memory. Copies appear within days.
NEAR_WINDOW = 50_000
_PERMUTATIONS = 64
_SHINGLE_WORDS = 5
# Shorter texts may be similar by chance (weather, results, "no text"), so their titles must match too.
MIN_WORDS = 30
_MAX_EXAMPLES = 5


class _Match(NamedTuple):
    id: str
    similarity: float


class DuplicateFilter:
    """Counts documents that repeat an earlier one, and marks or drops them by policy. Use one per load."""

    def __init__(self, policy: str) -> None:
        require("--duplicates", "datasketch")

        self._policy = policy
        self.exact: int
        self.near: int
        self.exact = self.near = 0
        self.examples: list[str] = []
        self.sketches: OrderedDict[str, Any] = OrderedDict()
        self._index = datasketch.MinHashLSH(threshold=SIMILARITY, num_perm=_PERMUTATIONS)
        self._empty_sketch = datasketch.MinHash(num_perm=_PERMUTATIONS, hashfunc=crc32)

    def filter(self, documents: Iterable[Located]) -> Iterator[Located]:
        """The documents, with duplicates unchanged, marked or left out by policy."""
        with closing(KeyStore()) as digests:
            for located in documents:
                match = self._find_match(located.document, digests)
                if match is None:
                    yield located
                    continue
                if len(self.examples) < _MAX_EXAMPLES:
                    self.examples.append(f"{located.document.id} at {located.where} repeats {match.id}")
                if self._policy == "mark":
                    located = located._replace(document=_mark(located.document, match.similarity))
                if self._policy != "drop":
                    yield located

    def notes(self) -> list[str]:
        """The lines about duplicates for the report of a load."""
        if not self.exact + self.near:
            return ["no document repeats an earlier one"]
        outcome = {"drop": "were left out", "mark": f"have the feature {DUPLICATE_FEATURE}"}.get(
            self._policy, "were loaded"
        )
        return [
            f"{count(self.exact, 'document', 'repeat')} an earlier one word for word, and {self.near:,} "
            f"nearly repeat one of the {NEAR_WINDOW:,} before them; they {outcome}",
            *self.examples,
        ]

    def _find_match(self, document: Document, digests: KeyStore) -> _Match | None:
        """The earlier document that this one repeats, or None. Counts the duplicates."""
        words = _WORD.findall(" ".join(sentence.text for sentence in document.sentences).casefold())
        if not words:
            return None
        is_short = len(words) < MIN_WORDS
        text = " ".join([(document.title or "").casefold(), "", *words] if is_short else words)
        digest = blake2b(text.encode(), digest_size=16).digest()
        if original := digests.insert(digest, document.id):
            self.exact += 1
            return _Match(original, 1.0)
        return None if is_short else self._find_near_match(document.id, words)

    def _find_near_match(self, id: str, words: list[str]) -> _Match | None:
        sketch = self._empty_sketch.copy()
        starts = range(len(words) - _SHINGLE_WORDS + 1)
        sketch.update_batch([" ".join(words[n : n + _SHINGLE_WORDS]).encode() for n in starts])
        for candidate in sorted(self._index.query(sketch)):
            similarity = float(self.sketches[candidate].jaccard(sketch))
            if similarity >= SIMILARITY:
                self.near += 1
                return _Match(str(candidate), similarity)
        if id not in self.sketches:
            self._index.insert(id, sketch)
            self.sketches[id] = sketch
        if len(self.sketches) > NEAR_WINDOW:
            oldest, _ = self.sketches.popitem(last=False)
            self._index.remove(oldest)
        return None


def _mark(document: Document, similarity: float) -> Document:
    sentences = (
        replace(s, features={**s.features, DUPLICATE_FEATURE: similarity}) for s in document.sentences
    )
    return replace(document, sentences=tuple(sentences))


# Values that identify no document


WINDOW = 500
"""Number of documents of a file that are read ahead before the first one gets its id."""
_WINDOW_CHARS = 4 * 2**20
_MIN_DOCUMENTS = 10
_MIN_SHARE = 0.05
"""A value shared by this number, and by this share, of the documents read ahead is no id."""
_MIN_COMMON_WORDS = 0.6
"""Versions of one document share at least this part of the words of the shorter one."""
_COMPARED_CHARS = 4000
_NO_LETTERS = re.compile(r"[\W_]+")
_PLACEHOLDERS = frozenset(
    (
        *("empty", "missing", "na", "nan", "nil", "noid", "nolink", "none", "notapplicable", "notavailable"),
        *("notfound", "notgiven", "notset", "nourl", "null", "tbd", "unavailable", "undefined", "unknown"),
    )
)


def is_placeholder(value: Any) -> bool:
    """Whether this is a placeholder for an unknown id or address."""
    return isinstance(value, str) and _NO_LETTERS.sub("", value).lower() in _PLACEHOLDERS


class IdCheck:
    """Finds values in the id or url of one file's documents that identify no document.

    These are values that many different documents share; placeholders need only two.
    """

    def __init__(self) -> None:
        self._shared: frozenset[str] = frozenset()

    def look_ahead(self, results: Iterator[tuple[int, Any]]) -> Iterator[tuple[int, Any]]:
        """The results unchanged. The first ones are read ahead, to find the values that they share.

        An error while reading ahead is raised after the results before it.
        """
        window: list[tuple[int, Any]] = []
        failure: Exception | None = None
        size = 0
        try:
            for result in results:
                window.append(result)
                size += _estimate_size(result[1])
                if len(window) == WINDOW or size > _WINDOW_CHARS:
                    break
        except Exception as error:  # of any library that reads a format
            failure = error
        self._shared = _find_shared([result.fields for _, result in window if isinstance(result, Record)])
        yield from chain(window, results)
        if failure:
            raise failure

    def is_no_id(self, value: Any) -> bool:
        """Whether a value is shared by too many documents to be an id."""
        return isinstance(value, str) and value in self._shared

    def is_no_address(self, value: Any) -> bool:
        """Whether an address is a placeholder, or shared by too many documents to make an id from it."""
        return is_placeholder(value) or self.is_no_id(value)


def _find_shared(documents: list[Mapping[str, Any]]) -> frozenset[str]:
    """The ids and addresses that too many documents share. Versions of one document count once."""
    first: dict[str, set[str]] = {}
    counts: Counter[str] = Counter()
    for fields in documents:
        values = [fields[name] for name in ("id", "url") if isinstance(fields.get(name), str)]
        for value in dict.fromkeys(filter(None, values)):
            if value not in first:
                first[value] = _words(fields)
                counts[value] = 1
            elif not _has_common_words(first[value], _words(fields)):
                counts[value] += 1
    least = max(_MIN_DOCUMENTS, _MIN_SHARE * len(documents))
    return frozenset(id for id, count in counts.items() if count >= (2 if is_placeholder(id) else least))


def _words(fields: Mapping[str, Any]) -> set[str]:
    text = " ".join(str(fields[name]) for name in ("title", "text", "sentences") if fields.get(name))
    return set(_WORD.findall(text[:_COMPARED_CHARS].casefold()))


def _has_common_words(some: set[str], others: set[str]) -> bool:
    return len(some & others) >= _MIN_COMMON_WORDS * min(len(some), len(others))


def _estimate_size(result: Any) -> int:
    if not isinstance(result, Record):
        return 0
    values = result.fields.values()
    return sum(len(value) if isinstance(value, str) else len(str(value)) for value in values)
