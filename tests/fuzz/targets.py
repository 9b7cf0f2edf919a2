"""What is fuzzed: by name, a function of any bytes, and the inputs to begin with.

A function raises what a person would see as a crash. Errors that esr means to raise pass.
"""

from __future__ import annotations

import atexit
import io
import json
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from functools import cache, partial
from pathlib import Path
from tempfile import mkdtemp
from types import ModuleType, SimpleNamespace
from typing import Any, NamedTuple
from unittest import mock
from urllib.parse import unquote_to_bytes, urlsplit

import numpy as np
from elastic_transport import ApiResponseMeta, HttpHeaders, Urllib3HttpNode
from werkzeug.datastructures import Headers
from werkzeug.test import create_environ, run_wsgi_app

from esr.arguments.tables.table import PAGE
from esr.elastic.dialect import is_answer
from esr.errors import EsrError, InputError, UsageError
from esr.folder.format.checkpoint import CHECKPOINT_NAME, read_checkpoint
from esr.folder.format.files import decode_sealed, map_array, map_bundle
from esr.folder.format.manifest import MANIFEST_NAME, read_any_format
from esr.folder.format.segment import DECODE_ERRORS, StoredDocument, compress, encode_document, read_shown
from esr.index.questions import Features, Languages, Readiness, Records, Summary, WordsWithPrefix
from esr.loaders import FORMATS, Malformed, ReadOptions, read_documents
from esr.loaders.confined_process import hold_process
from esr.ranking.searcher import Searcher, open_searcher
from esr.text.analyzer import get_analyzer
from esr.text.document import Document
from tests.support import samples
from webui.running.threaded_app import make_environ

CORPUS = Path(__file__).parent / "corpus"
"""A file for each target, with inputs that runs found: one a line, with the escapes of Python."""
ANSWERS = Path(__file__).parent / "answers.json"
"""The answers of a node to `search_all`, which `python -m tests.fuzz --record URL` writes."""
PACKED = ("gz", "zst", "zip", "tar", "tgz")


class Target(NamedTuple):
    """What is fuzzed, the inputs to begin with besides those of its file of CORPUS, and what to insert."""

    run: Callable[[bytes], None]
    seeds: Callable[[], Iterable[bytes]]
    tokens: Sequence[bytes] = ()


def read_corpus(name: str) -> list[bytes]:
    """The inputs of a target that earlier runs found; none if it has no file."""
    path = CORPUS / f"{name}.txt"
    lines = path.read_text("ascii").splitlines() if path.exists() else []
    return [line.encode().decode("unicode_escape").encode("latin-1") for line in lines]


def write_corpus(name: str, inputs: Iterable[bytes]) -> None:
    """Replace the inputs of a target."""
    lines = [data.decode("latin-1").encode("unicode_escape").decode() + "\n" for data in inputs]
    (CORPUS / f"{name}.txt").write_text("".join(lines), "ascii")


# Files of documents


@cache
def hold_child() -> None:
    """Start the process that reads PDF once, not for each input."""
    stack = ExitStack()
    stack.enter_context(hold_process())
    atexit.register(stack.close)


def read_file(format: str, data: bytes) -> None:
    """Read a file as `esr load` does, up to what an index stores of its documents and analyzes in them."""
    hold_child()
    bad: list[Malformed] = []
    standard_input = SimpleNamespace(buffer=io.BytesIO(data))
    with mock.patch.object(sys, "stdin", standard_input), suppress(InputError):
        for located in read_documents(["-"], format, ReadOptions(on_malformed=bad.append)):
            encode_document(located.document, ())
            analyze = get_analyzer("english-stem").terms
            for sentence in located.document.sentences[:20]:
                analyze(sentence.text)
    for problem in bad:
        assert f"{problem.where}{problem.problem}".isprintable()


# Queries, addresses and bodies, of an index of 15 sentences


@cache
def access() -> ModuleType:
    """The server of the tests of access, without which the formats of documents start sooner."""
    from tests.webui.access import conftest

    return conftest


@cache
def scratch() -> Path:
    """A folder of this process, with an index of few documents in `index`."""
    folder = Path(mkdtemp(prefix="esr-fuzz-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    access().store(str(folder / "index"))
    return folder


QUERIES = (
    "storm bridge",
    '+storm -bridge "near Avonton" NOT "a goalkeeper" stor*',
    '(storm OR flood) AND (bridge AND NOT source:"Sports Post")',
    "after:7d before:2019 on:2017-03 section:sport keyword:x author:'Jane' meta.desk:berlin",
    'person:"Theresa May" speaker~"Ann Lee" language:en „storm“ «saw» 「took」 speaker:Ann',
    "IS WHO ((( )) OR AND NOT - + * :",
)


_SIGNS = [sign.encode() for text in QUERIES for sign in text.split()]


@cache
def searcher() -> Searcher:
    return open_searcher(str(scratch() / "index"))


def search(data: bytes) -> None:
    """Search for a text, once in the query language and once as words alone."""
    text = data.decode("utf-8", "surrogateescape")
    for literal in (False, True):
        with suppress(UsageError):
            searcher().search(text, k=3, literal=literal)


class Door(NamedTuple):
    """An application with a desk, and the key of somebody who may search and keep dossiers."""

    app: Any
    key: str


@cache
def door() -> Door:
    server = access().Server(scratch())
    key = server.add("ann")
    server.add("bea", "--kind", "elsewhere")
    server.add_person("cem", "quiet otter 41 lamp")
    desk = str(scratch() / "desk")
    settings = {"proxies": 1, "user_header": "X-Remote-User", "user_header_from": "127.0.0.1"}
    settings |= {"groups_header": "X-Remote-Groups", "cors_origins": "https://example.org"}
    settings |= {"secret_file": server.secret(), "desk": desk, "alert_to": "mailto:*"}
    return Door(server.app({"index": str(scratch() / "index")}, **settings), key)


def answer(environ: dict[str, Any], told: str) -> tuple[bytes, Headers]:
    """The body and the headers of an answer. The application may refuse a request, but not fail."""
    body, status, headers = run_wsgi_app(door().app, environ, buffered=True)
    content = b"".join(body)
    assert int(status[:3]) < 500, f"{status} of {len(content)} bytes for {told}"
    return content, headers


def send(method: str, address: bytes, body: bytes = b"", **variables: str) -> bytes:
    """Send a request as a server hands it on. Returns the body of the answer."""
    path, _, query = address.partition(b"?")
    environ = create_environ(method=method, input_stream=io.BytesIO(body))
    environ |= {"PATH_INFO": "/" + unquote_to_bytes(path).decode("latin-1").removeprefix("/")}
    environ |= {"QUERY_STRING": query.decode("latin-1"), "CONTENT_LENGTH": str(len(body)), **variables}
    return answer(environ, f"{method} {address!r}: {body!r}")[0]


def get(data: bytes) -> None:
    send("GET", data, HTTP_AUTHORIZATION=f"Bearer {door().key}")


def post(data: bytes) -> None:
    """Post the second line and all after it to the operation in the first line."""
    path, _, body = data.partition(b"\n")
    json_of_somebody = {"CONTENT_TYPE": "application/json", "HTTP_AUTHORIZATION": f"Bearer {door().key}"}
    send("POST", b"/api/v1" + path, body, **json_of_somebody)


class Dossier(NamedTuple):
    """A dossier that forms change, an item of it, and the token of forms."""

    id: bytes
    item: bytes
    token: bytes


def dossier() -> Dossier:
    """The dossier of this process; a new one if a form has deleted or emptied it."""
    key = {"CONTENT_TYPE": "application/json", "HTTP_AUTHORIZATION": f"Bearer {door().key}"}
    if known := _dossiers[-1:]:
        seen = json.loads(send("GET", b"/api/v1/dossiers/one?id=" + known[0].id, **key))
        items = [(each.get("item") or each)["id"].encode() for each in seen.get("items", ())]
        if seen.get("role") == "owner" and known[0].item in items:
            return known[0]
    made = json.loads(send("POST", b"/api/v1/dossiers", b'{"name": "Storms"}', **key))["id"]
    added = {"id": made, "sentences": ["v1.s0", "v1.s1", "v2.s0"]}
    items = json.loads(send("POST", b"/api/v1/dossiers/add", json.dumps(added).encode(), **key))["items"]
    page = send("GET", b"/dossiers", **key)
    token = page.partition(b'name="csrf" value="')[2].partition(b'"')[0]
    _dossiers[:] = [Dossier(made.encode(), items[0]["id"].encode(), token)]
    return _dossiers[0]


_dossiers: list[Dossier] = []


def post_form(data: bytes) -> None:
    """Post the second line and all after it to the page in the first line.

    In it, DOSSIER, ITEM and TOKEN stand for the ids of a dossier and of an item, and for the token of forms.
    """
    place = dossier()
    for word, value in ((b"DOSSIER", place.id), (b"ITEM", place.item), (b"TOKEN", place.token)):
        data = data.replace(word, value)
    path, _, body = data.partition(b"\n")
    kind = "application/x-www-form-urlencoded"
    if body.startswith(b"--"):
        kind = f"multipart/form-data; boundary={body.split(maxsplit=1)[0][2:60].decode('latin-1')}"
    key = {"HTTP_AUTHORIZATION": f"Bearer {door().key}"}
    send("POST", path, body, CONTENT_TYPE=kind, **key)


def send_headers(data: bytes) -> None:
    """Get the address in the first line, with a header in each further one. KEY stands for a key."""
    address, *lines = data.replace(b"KEY", door().key.encode()).replace(b"\r", b"").split(b"\n")
    raw_path, _, query = address.partition(b"?")
    pairs = (line.partition(b":") for line in lines if line.partition(b":")[0].strip())
    headers = [(name.strip().lower(), value.strip()) for name, _, value in pairs]
    scope = {"method": "GET", "http_version": "1.1", "raw_path": b"/" + raw_path.lstrip(b"/")}
    scope |= {"query_string": query, "headers": headers, "server": ("localhost", 80)}
    environ, _ = make_environ({**scope, "client": ("127.0.0.1", 5)})
    environ["wsgi.input"] = io.BytesIO()
    _, answered = answer(environ, f"{address!r} with {headers}")
    for name, value in answered:
        assert f"{name}{value}".isprintable(), f"{name}: {value!r} for {address!r} with {headers}"


_FORMS = (
    "dossiers\ncsrf=TOKEN&name=Storms",
    "dossiers\ncsrf=TOKEN&do=restore&id=DOSSIER&version=1",
    "save?index=index\ncsrf=TOKEN&id=v1.s0&id=v2.s1&document=v0&note=n&tags=a%2Cb&dossier=DOSSIER&name=x",
    'save/clippings\ncsrf=TOKEN&dossier=DOSSIER&clippings=[{"id":"v1.s0","note":"n","tags":["a"]}]',
    "alerts?source=x&model=bm25\ncsrf=TOKEN&do=create&name=a&q=storm&to=ann%40example.org&channel=mail&when=daily"
    "&time=07:30&weekday=monday&zone=Europe/Berlin&least_score=1.5&like=storm%0D%0Aflood&similarity=.6",
    "alerts\ncsrf=TOKEN&do=preview&q=storm&unusual=yes&least_score=1&require=all",
    "alerts\ncsrf=TOKEN&do=pause&id=DOSSIER",
    "login\ncsrf=x&name=cem&password=quiet+otter+41+lamp&next=/%3Fq=storm",
    "logout\ncsrf=x&forget=yes",
    "password\ncsrf=x&password=quiet+otter+41+lamp&new=another+long+one",
    "batch\nqueries=storm%0Aflood&k=2",
    "check\ntext=The+storm+took+a+bridge.+A+goalkeeper+saw+it.",
    'clippings.csv\nclippings=[{"id":"v1.s0","note":"n"}]',
    *(
        f"dossier?id=DOSSIER\ncsrf=TOKEN&do={fields}"
        for fields in (
            "edit&item=ITEM&base=1&note=n&tags=a,b&judgement=2&start=0&end=3",
            "edit&item=ITEM&marks=The+storm%0Abridge",
            "move&item=ITEM&move=up&version=2",
            "move&item=ITEM&after=ITEM&version=1",
            "arrange&order=date",
            "remove&item=ITEM",
            "rename&name=New&description=d&version=1",
            "paste&addresses=http://localhost/sentence%3Fid%3Dv1.s0%0Av2.s0",
            "share&name=bea&role=reader&group=yes",
            "share&name=bea&role=owner",
            "link&days=3",
            "revoke&link=x",
            "restore&version=1",
            "delete",
        )
    ),
    'dossier?id=DOSSIER\n--b\r\nContent-Disposition: form-data; name="csrf"\r\n\r\nTOKEN\r\n--b\r\nContent-'
    'Disposition: form-data; name="do"\r\n\r\njudgements\r\n--b\r\nContent-Disposition: form-data; '
    'name="table"; filename="t.csv"\r\nContent-Type: text/csv\r\n\r\n'
    "id,judgement,note\nv1.s0,2,n\n\r\n--b--\r\n",
)
_FORM_WORDS = sorted(
    {part for form in _FORMS for field in form.split("&") for part in (field.split("=")[0],)}
)
_HEADERS = (
    "Accept-Language: de-AT,fr;q=0.5,*;q=0.1",
    "Accept: application/json;q=0.9,text/html;q=0.1",
    "Accept-Encoding: gzip;q=1,br",
    "Authorization: Basic YW5uOng=",
    "Cookie: esr=x.y.z; __Host-esr=a; esr-language=fr; __Host-esr-known=x; esr-dossier=1",
    "Range: bytes=0-10,20-",
    'If-Range: "x"',
    'If-None-Match: W/"x", "y", *',
    "If-Modified-Since: Wed, 21 Oct 2015 07:28:00 GMT",
    "Content-Type: application/x-www-form-urlencoded; charset=utf-16",
    "Content-Length: 3",
    "Transfer-Encoding: chunked",
    "Host: example.org:80",
    "X-Forwarded-For: 10.0.0.1, 10.0.0.2",
    "X-Forwarded-Proto: https",
    "X-Forwarded-Host: example.org",
    "X-Forwarded-Prefix: /news",
    "X-Forwarded-Port: 443",
    "X-Remote-User: bea",
    "X-Remote-Groups: desk, sports",
    "X-Request-Id: 5",
    "Traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    "Origin: https://example.org",
    "Access-Control-Request-Method: POST",
    "Referer: https://example.org/?q=x",
    "User-Agent: x",
)


def headed_addresses() -> Iterator[bytes]:
    """Each address with all headers, once with a key."""
    for number, address in enumerate(addresses()):
        key = "Authorization: Bearer KEY" if number % 3 else _HEADERS[number % len(_HEADERS)]
        yield b"\n".join((address, *(line.encode() for line in (*_HEADERS[: 1 + number], key))))
    for path in ("static/esr.css", "login?next=/", "openapi.json", "healthz", "metrics"):
        yield "\n".join((path, *_HEADERS)).encode()


def addresses() -> Iterator[bytes]:
    """An address of each page and each operation that is asked by one."""
    arguments = "q=storm&id=v1.s1&name=Avonton&text=storm&k=2&also=bridge&part=source:x&field=source"
    for rule in door().app.url_map.iter_rules():
        if "GET" in (rule.methods or ()) and "static" not in rule.endpoint:
            yield f"{rule.rule}?{arguments}".encode()


def bodies() -> Iterator[bytes]:
    from webui.api.operations import OPERATIONS
    from webui.running.settings import Settings

    values = {"string": "storm", "integer": 1, "number": 0.5, "boolean": True, "array": [], "object": {}}
    for operation in OPERATIONS.values():
        if operation.body:
            properties = operation.body(Settings())["properties"]
            body = {name: values.get(schema.get("type", "string")) for name, schema in properties.items()}
            yield f"{operation.path}\n{json.dumps(body)}".encode()


# Stored formats


@cache
def stored_files() -> Mapping[str, bytes]:
    """The files of an index by path."""
    folder = scratch() / "index"
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


def unsealed_files() -> Iterator[bytes]:
    """The contents of the files, the manifest without its checksum, as older versions wrote it."""
    for name, content in stored_files().items():
        yield json.dumps(decode_sealed(content)).encode() if name == MANIFEST_NAME else content


def read_folder(data: bytes) -> None:
    """Read an index in which the file that the first byte chooses has other content."""
    name = list(stored_files())[data[0] % len(stored_files())] if data else MANIFEST_NAME
    path = scratch() / "index" / name
    path.write_bytes(data[1:])
    try:
        with suppress(EsrError):
            read_any_format(scratch() / "index")
        with suppress(EsrError), open_searcher(str(scratch() / "index")) as opened:
            search_all(opened)
        (scratch() / CHECKPOINT_NAME).write_bytes(data[1:])
        read_checkpoint(scratch())
        for map_file in (map_bundle, map_array):
            with suppress(ValueError):
                map_file(path)
    finally:
        path.write_bytes(stored_files()[name])


def read_document(data: bytes) -> None:
    """Decode a stored document. A damaged one raises DECODE_ERRORS, which esr reports as damage."""
    for blob in (data, compress(data)):
        with suppress(*DECODE_ERRORS):
            read_shown([blob])
        with suppress(*DECODE_ERRORS):
            stored = StoredDocument(blob)
            stored.document(np.zeros(len(stored), np.uint32))


def search_all(opened: Searcher) -> None:
    """Ask an index most of what a page asks."""
    opened.search("storm Avonton", k=3)
    hits = opened.search('"the storm" -goalkeeper', k=3, model="bm25").hits
    index = opened.index
    index.read([hit.sentence_id for hit in hits], Records())
    for fact in (Summary(), Languages(), Features(), Readiness()):
        index.status(fact)
    index.vocabulary(WordsWithPrefix("st", 5))
    list(index.documents(["v1"]))


def stored_documents() -> list[bytes]:
    made: list[Document] = access().documents()
    return [encode_document(document, ()) for document in made]


# Answers of Elasticsearch


class Recorded(NamedTuple):
    """A request and its answer."""

    method: str
    path: str
    status: int
    headers: dict[str, str]
    body: str


class NodeAnswer(NamedTuple):
    """An answer as the client's nodes return it."""

    meta: ApiResponseMeta
    body: bytes


@cache
def recorded() -> tuple[Recorded, ...]:
    return tuple(Recorded(*row) for row in json.loads(ANSWERS.read_text("utf-8")))


def record(url: str) -> None:
    """Write the answers of a node to ANSWERS."""
    rows: list[Recorded] = []
    perform = Urllib3HttpNode.perform_request

    def note(node: Urllib3HttpNode, method: str, target: str, **request: Any) -> Any:
        answer = perform(node, method, target, **request)
        headers = {name: answer.meta.headers[name] for name in _KEPT if name in answer.meta.headers}
        body = answer.body.decode()
        row = Recorded(method, urlsplit(target).path, answer.meta.status, headers, body)
        rows.extend([] if row in rows else [row])
        return answer

    from tests.support.elasticsearch import fresh

    with fresh(url) as where:
        access().store(where)
        with mock.patch.object(Urllib3HttpNode, "perform_request", note), open_searcher(where) as opened:
            search_all(opened)
        alias = where.rpartition("/")[2]
    text = json.dumps(rows, indent=0)
    ANSWERS.write_text(text.replace(alias, _ALIAS) + "\n", "utf-8")


_KEPT = ("content-type", "x-elastic-product")
_ALIAS = "news"
_STATUSES = (0, 200, 400, 404)


def ask_elasticsearch(data: bytes) -> None:
    """Search a node, of which one answer has another body. The first bytes choose it, and its status.

    esr believes what is within an answer of the right outer form.
    """
    number, kind = (data[0], data[1]) if len(data) > 1 else (0, 0)
    changed = recorded()[number % len(recorded())]
    status = _STATUSES[kind % len(_STATUSES)] or changed.status

    def answer(node: Urllib3HttpNode, method: str, target: str, **request: Any) -> Any:
        path = urlsplit(target).path
        row = next(r for r in waiting if (r.method, r.path) == (method, path))
        waiting.remove(row)
        waiting.append(row)
        headers = HttpHeaders(row.headers)
        is_changed = row is changed
        meta = ApiResponseMeta(status if is_changed else row.status, "1.1", headers, 0.0, node.config)
        return NodeAnswer(meta, data[2:] if is_changed else row.body.encode())

    waiting = list(recorded())
    believed: tuple[type[Exception], ...] = ()
    with suppress(ValueError):
        if status < 300 and is_answer(changed.method, changed.path, json.loads(data[2:])):
            believed = LookupError, TypeError, ValueError, AttributeError
    with (
        mock.patch.object(Urllib3HttpNode, "perform_request", answer),
        mock.patch("esr.elastic.requests.PAUSES", ()),
        suppress(EsrError, *believed),
        open_searcher(f"http://localhost:9200/{_ALIAS}") as opened,
    ):
        search_all(opened)


def elasticsearch_answers() -> Iterator[bytes]:
    for number, row in enumerate(recorded()):
        yield bytes([number, 0]) + row.body.encode()


TARGETS = {
    **{
        name: Target(partial(read_file, name), lambda name=name: [samples.sample(name)], samples.TOKENS[name])
        for name in FORMATS
    },
    **{name: Target(partial(read_file, "auto"), lambda name=name: [samples.packed(name)]) for name in PACKED},
    "query": Target(search, lambda: [text.encode() for text in QUERIES], _SIGNS),
    "address": Target(get, addresses, [*_SIGNS, *(f"&{name}=".encode() for name in PAGE)]),
    "form": Target(
        post_form,
        lambda: [form.encode() for form in _FORMS],
        [
            *(f"&{word}=".encode() for word in _FORM_WORDS),
            b"9" * 20,
            b"9" * 5_000,
            b"-1",
            b"%00",
            b"%ED%A0%80",
        ],
    ),
    "headers": Target(send_headers, headed_addresses, [f"\n{line}".encode() for line in _HEADERS]),
    "body": Target(post, bodies, [*_SIGNS, *(f'"{name}":'.encode() for name in PAGE)]),
    "folder": Target(read_folder, lambda: [bytes([n]) + c for n, c in enumerate(unsealed_files())]),
    "document": Target(read_document, stored_documents),
    "elasticsearch": Target(ask_elasticsearch, elasticsearch_answers),
}
