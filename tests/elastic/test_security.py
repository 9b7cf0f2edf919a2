"""Logins, TLS and the roles of `esr roles`, on a node with security on that speaks https alone."""

from __future__ import annotations

import base64
import json
import logging
import os
import shutil
import ssl
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from click.testing import CliRunner, Result
from elastic_transport import TlsError

from clients import esr_client
from esr.cli import main
from esr.elastic import meta
from esr.elastic.api_keys import role_descriptors
from esr.elastic.location import parse_alias, parse_location
from esr.elastic.login import ErrorTranslator, Login
from esr.enrichment.recipe import Recipe
from esr.errors import EngineUnreachable, EsrError, UsageError
from esr.index.contract import read_document
from esr.index.factory import open_delivery, open_generations, open_index, open_migration, open_priors
from esr.index.login_variables import (
    API_KEY,
    API_KEY_FILE,
    CA_FILE,
    INSECURE,
    PASSWORD,
    USER,
    VARIABLES,
    redact,
)
from esr.index.writer import LoadOptions
from esr.ranking.searcher import open_searcher
from esr.text.sentence_enrichment import SentenceEnrichment
from tests.conftest import without_node
from tests.elastic.test_errors import DOCUMENTS as ERROR_DOCUMENTS
from tests.elastic.test_errors import search_and_load
from tests.support import base
from tests.support.base import NoNode
from tests.support.elasticsearch import document, load, located
from tests.support.node import Cluster, make_certificate
from tests.webui.test_engine_trouble import PAGES, PROGRAMS, served

# Plain HTTP to a node with security: as a user, or by an API key.


class Api:
    """What a login may do. Nothing of esr and of the client is used."""

    def __init__(self, cluster: Cluster, key: str | None = None) -> None:
        self.url = cluster.url
        self._context = ssl.create_default_context(cafile=cluster.ca_file) if cluster.ca_file else None
        user = ":".join(cluster.auth or ())
        self._login = f"ApiKey {key}" if key else f"Basic {base64.b64encode(user.encode()).decode()}"

    def ask(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        """Status and decoded answer, whatever the status is. A list is sent as lines."""
        lines = "".join(f"{json.dumps(line)}\n" for line in body) if isinstance(body, list) else None
        data = lines if lines is not None else body and json.dumps(body)
        headers = {"Content-Type": "application/json", "Authorization": self._login}
        request = Request(f"{self.url}{path}", data.encode() if data else None, headers, method=method)
        try:
            with urlopen(request, timeout=60, context=self._context) as answer:
                return answer.status, json.loads(answer.read() or b"null")
        except HTTPError as error:
            with error:
                return error.code, json.loads(error.read() or b"null")

    def key(self, roles: dict[str, Any], **more: str) -> str:
        """An API key that may do what these role descriptors say."""
        status, answer = self.ask(
            "POST", "/_security/api_key", {"name": "-".join(roles), "role_descriptors": roles, **more}
        )
        assert status == 200, answer
        found: str = answer["encoded"]
        return found


DOCUMENTS = [document(f"d{n}", f"A flood in town {n}.", "A river.", "The bank of it.") for n in range(40)]
OTHER = "news-de"
RECIPE = Recipe(("features",), {"made": "by hand"})
NOTHING_ELSE = [
    ("GET", f"/{OTHER}/_search", None),
    ("POST", f"/{OTHER}/_delete_by_query", {"query": {"match_all": {}}}),
    ("DELETE", f"/{OTHER}-20990101t000000000000-esr-sentences", None),
    ("PUT", "/_security/user/me", {"password": "a-long-password", "roles": ["superuser"]}),
    ("GET", "/_security/user", None),
    ("POST", "/_security/api_key", {"name": "more"}),
    ("PUT", "/_cluster/settings", {"persistent": {"cluster.blocks.read_only": False}}),
]
"""What a login for the alias `news` must not do."""


@pytest.fixture(scope="module")
def secured() -> Iterator[Cluster]:
    backups = Path(tempfile.mkdtemp(prefix="esr-backups-"))
    backups.chmod(0o777)
    try:
        with Cluster.start(
            security=True, tls=True, settings={"path.repo": [str(backups)]}, deadline=300
        ) as cluster:
            cluster.backups = backups  # type: ignore[attr-defined]
            yield cluster
    except NoNode as error:
        without_node(str(error))
    finally:
        shutil.rmtree(backups, ignore_errors=True)


@pytest.fixture
def secured_where(secured: Cluster, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The place without a login. The authority is trusted, nobody is logged in."""
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv(CA_FILE, str(secured.ca_file))
    root = Api(secured)
    yield f"{secured.url}/news"
    _, aliased = root.ask("GET", "/_alias/news*")
    _, all_of = root.ask("GET", "/news-*/_settings")
    for index in {*aliased, *all_of} - {"error", "status"}:
        root.ask("DELETE", f"/{index}")


@pytest.fixture
def loaded_index(secured_where: str, secured: Cluster, monkeypatch: pytest.MonkeyPatch) -> str:
    """The place, loaded, and another alias beside it whose name begins alike."""
    be_root(secured, monkeypatch)
    load(secured_where, DOCUMENTS)
    load(f"{secured.url}/{OTHER}", DOCUMENTS[:2])
    monkeypatch.delenv(USER)
    monkeypatch.delenv(PASSWORD)
    return secured_where


def be_root(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    assert cluster.auth
    monkeypatch.setenv(USER, cluster.auth[0])
    monkeypatch.setenv(PASSWORD, cluster.auth[1])


def act_as(role: str, cluster: Cluster, monkeypatch: pytest.MonkeyPatch, **options: str) -> Api:
    """Let esr have a key with this role for the alias `news`."""
    key = Api(cluster).key(role_descriptors(["news"], [role]), **options)
    monkeypatch.setenv(API_KEY, key)
    return Api(cluster, key)


def refused(api: Api, requests: list[tuple[str, str, Any]]) -> None:
    for method, path, body in requests:
        status, answer = api.ask(method, path, body)
        assert (method, path, status) == (method, path, 403), answer


@pytest.mark.elasticsearch
@pytest.mark.slow
def test_a_key_is_made_into_a_file_and_not_shown(
    loaded_index: str, secured: Cluster, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    be_root(secured, monkeypatch)
    file = tmp_path / "page.key"
    result = call("roles", loaded_index, "--role", "page", "--key", str(file))
    assert result.exit_code == 0, result.output
    assert file.stat().st_mode & 0o777 == 0o600
    assert file.read_text() not in result.output
    assert "cannot create" in call("roles", loaded_index, "--role", "page", "--key", str(file)).output
    monkeypatch.delenv(USER)
    monkeypatch.delenv(PASSWORD)
    refused(Api(secured, file.read_text()), NOTHING_ELSE)
    monkeypatch.setenv(API_KEY_FILE, str(file))
    with open_searcher(loaded_index) as searcher:
        assert searcher.search("flood", 100).total == 120
    other = tmp_path / "other.key"
    failed = call("roles", loaded_index, "--role", "loader", "--key", str(other))
    assert (failed.exit_code, other.exists()) == (1, False), failed.output


@pytest.mark.elasticsearch
@pytest.mark.slow
def test_a_key_is_waited_for_while_logins_are_rejected(
    secured_where: str, secured: Cluster, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """As those of a cluster that has just been started are."""
    be_root(secured, monkeypatch)
    monkeypatch.setenv(USER, "late")
    monkeypatch.setenv(PASSWORD, "a-long-password")
    file = tmp_path / "page.key"
    command = ("roles", secured_where, "--role", "page", "--key", str(file), "--wait")
    failed = call(*command, "1.5")
    assert (failed.exit_code, file.exists()) == (1, False)
    assert "rejects the login" in failed.output
    root, user = Api(secured), "/_security/user/late"
    comes = threading.Timer(
        2.0, root.ask, ("PUT", user, {"password": "a-long-password", "roles": ["superuser"]})
    )
    comes.start()
    try:
        assert call(*command, "60").exit_code == 0
    finally:
        comes.join()
        root.ask("DELETE", user)
    assert file.read_text()


def call(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


@pytest.mark.elasticsearch
@pytest.mark.slow
def test_the_page_can_do_all_it_does_and_write_nothing(
    loaded_index: str, secured: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    api = act_as("page", secured, monkeypatch)
    with served(loaded_index, deadline=30.0) as connect:
        client = connect()
        for address in (*PAGES, *PROGRAMS, "/", "/readyz"):
            answer = client.get(address)
            assert answer.status_code == 200, (address, answer.text)
        batch = {"queries": [{"id": "1", "query": "flood"}, {"id": "2", "query": "bank"}]}
        assert client.post("/api/v1/batch", json=batch).status_code == 200
    with open_searcher(loaded_index) as searcher:
        assert len(list(searcher.index.documents())) == len(DOCUMENTS)
        assert searcher.index.snapshot() is not searcher.index, "it may look up what the alias leads to"
    for if_exists in ("replace", "append"):
        with pytest.raises(EsrError, match=r"denies the request: .*; the login lacks a privilege: esr roles"):
            load(loaded_index, DOCUMENTS, if_exists=if_exists)
    _, aliases = Api(secured).ask("GET", "/_alias/news")
    (index,) = aliases
    refused(
        api,
        [
            *NOTHING_ELSE,
            ("POST", f"/{index}/_doc", {"text": "A lie."}),
            ("POST", f"/{index}/_delete_by_query", {"query": {"match_all": {}}}),
            ("DELETE", f"/{index}", None),
            ("PUT", f"/{index}/_mapping", {"_meta": {}}),
            ("POST", "/_aliases", {"actions": [{"remove": {"index": index, "alias": "news"}}]}),
            ("PUT", "/_scripts/esr-score-v2", {"script": {"lang": "painless", "source": "0"}}),
            ("PUT", "/_index_template/esr-sentences", {"index_patterns": ["*-esr-sentences"]}),
        ],
    )


@pytest.mark.elasticsearch
@pytest.mark.slow
def test_the_loader_can_do_all_it_does_and_touch_nothing_else(
    secured_where: str, secured: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    be_root(secured, monkeypatch)
    load(f"{secured.url}/{OTHER}", DOCUMENTS[:2])
    monkeypatch.delenv(USER)
    monkeypatch.delenv(PASSWORD)
    api = act_as("loader", secured, monkeypatch)
    load(secured_where, DOCUMENTS[:20])
    load(secured_where, DOCUMENTS[20:], if_exists="append")
    load(secured_where, DOCUMENTS, if_exists="replace", resume=True)
    changed_document = document("d1", "Another flood.")
    report = open_delivery(secured_where, LoadOptions(keep=2)).append(
        located([changed_document, document("new", "A flood.")])
    )
    assert (report.added, report.changed) == (1, 1)
    assert open_delivery(secured_where, LoadOptions(keep=2)).remove(["d2"]).removed == 1
    with closing(open_index(secured_where)) as index, index.enrichment() as enrichment:
        enrichment.store(RECIPE, [("new", [SentenceEnrichment({"subj": 1.0}, None, None)])])
        enrichment.finish(RECIPE)
        assert enrichment.progress(RECIPE)[0] == 1
    with closing(open_generations(secured_where)) as generations:
        generations.rollback()
        kept_names = [generation.name for generation in generations.all() if generation.state == "kept"]
        generations.delete(kept_names[:1])
    with open_searcher(secured_where) as searcher:
        assert searcher.search("flood", 100).total
    refused(api, NOTHING_ELSE)
    _, other_aliases = Api(secured).ask("GET", f"/_alias/{OTHER}")
    (index,) = other_aliases
    refused(
        api,
        [
            ("POST", "/_aliases", {"actions": [{"add": {"index": index, "alias": "news"}}]}),
            ("POST", f"/{index}/_doc", {"text": "A lie."}),
        ],
    )
    with pytest.raises(EsrError, match="denies the request"):
        load(f"{secured.url}/{OTHER}", DOCUMENTS, if_exists="replace")
    with closing(open_generations(secured_where)) as generations:
        generations.delete_all()
    assert Api(secured).ask("GET", f"/{OTHER}/_count")[1]["count"] == 6


@pytest.mark.elasticsearch
@pytest.mark.slow
def test_the_loader_can_migrate_and_refresh_priors(
    secured_where: str, secured: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    act_as("loader", secured, monkeypatch)
    with monkeypatch.context() as older:
        older.setattr(meta, "FORMAT", meta.FORMAT - 1)
        load(secured_where, DOCUMENTS[:20])
    assert open_migration(secured_where, LoadOptions()).run().documents == 20
    with closing(open_priors(secured_where)) as priors:
        assert priors.refresh(lambda *_: None).sentences


@pytest.mark.elasticsearch
@pytest.mark.slow
def test_the_operator_can_take_a_snapshot_and_bring_it_back(
    loaded_index: str, secured: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    api = act_as("operator", secured, monkeypatch)
    settings = {"location": str(secured.backups)}  # type: ignore[attr-defined]
    snapshot = {"indices": "news-*-esr-*", "include_global_state": True}
    for method, path, body in [
        ("PUT", "/_snapshot/backup", {"type": "fs", "settings": settings}),
        ("PUT", "/_snapshot/backup/monday?wait_for_completion=true", snapshot),
    ]:
        status, answer = api.ask(method, path, body)
        assert status == 200, answer
    with closing(open_generations(loaded_index)) as generations:
        generations.delete_all()
    restore = {"indices": "news-2*-esr-*", "include_global_state": False}
    status, answer = api.ask("POST", "/_snapshot/backup/monday/_restore?wait_for_completion=true", restore)
    assert (status, answer["snapshot"]["shards"]["failed"]) == (200, 0), answer
    with open_searcher(loaded_index) as searcher:
        assert searcher.search("flood", 100).total == 120
    refused(api, [request for request in NOTHING_ELSE if "/_cluster/settings" not in request])


@pytest.mark.elasticsearch
@pytest.mark.slow
def test_a_certificate_is_checked_unless_it_is_said_loudly(
    loaded_index: str,
    secured: Cluster,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    act_as("page", secured, monkeypatch)
    monkeypatch.delenv(CA_FILE)
    stranger = make_certificate(tmp_path)
    for trusted in (None, stranger):
        if trusted:
            monkeypatch.setenv(CA_FILE, str(trusted))
        with pytest.raises(EngineUnreachable, match=r"is not trusted: .* Set ESR_CA_FILE"):
            open_searcher(loaded_index)
    with pytest.raises(EngineUnreachable, match="and whether it requires https://"):
        open_searcher(loaded_index.replace("https", "http"))
    assert "NOT verified" not in caplog.text
    monkeypatch.setenv(INSECURE, "1")
    with caplog.at_level(logging.WARNING, "esr"):
        for uses in (1, 2):
            with open_searcher(loaded_index) as searcher:
                assert searcher.search("flood", 100).total == 120
            assert caplog.text.count(f"the certificate of {secured.url} is NOT verified") == uses
    monkeypatch.delenv(INSECURE)
    command = [sys.executable, "-c", "from esr.cli import main; main()", "--insecure", "status"]
    process = subprocess.run([*command, "--index", loaded_index], capture_output=True, text=True, check=True)
    assert "NOT verified" in process.stderr


def test_a_certificate_of_another_name_is_told() -> None:
    mismatch = TlsError(
        "[SSL: CERTIFICATE_VERIFY_FAILED] Hostname mismatch, certificate is not valid for 'one'"
    )
    told = ErrorTranslator("https://one:9200", "https://one:9200/news", Login()).translate(mismatch)
    assert str(told).endswith("is not valid for 'one'. Name the server as its certificate does")


@pytest.mark.elasticsearch
@pytest.mark.slow
def test_who_may_not_enter_is_told_why(
    loaded_index: str, secured: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(EngineUnreachable, match="requires a login: set ESR_API_KEY, or ESR_USER"):
        open_searcher(loaded_index)
    act_as("page", secured, monkeypatch, expiration="1s")
    end = time.monotonic() + 60
    message = ""
    while "expired" not in message and time.monotonic() < end:
        try:
            with open_searcher(loaded_index):
                time.sleep(0.3)
        except EngineUnreachable as error:
            message = str(error)
    assert message.endswith("rejects the login: the API key has expired. Create a new one and set it")


@pytest.mark.elasticsearch
@pytest.mark.slow
def test_a_password_is_never_printed(
    loaded_index: str, secured: Cluster, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert secured.auth
    user, password = secured.auth
    with_login = loaded_index.replace("//", f"//{user}:{password}@")
    news = tmp_path / "news.jsonl"
    news.write_text(json.dumps({"id": "one", "sentences": ["A flood."]}) + "\n")
    for arguments in [
        ["status", "--index", with_login],
        ["status", "--index", with_login, "--json"],
        ["load", str(news), "--index", with_login],
        ["load", str(news), "--index", with_login, "--if-exists", "replace"],
        ["load", str(news), "--index", with_login, "--if-exists", "replace", "--json"],
        ["append", with_login, str(news)],
        ["indices", with_login, "--json"],
        ["rollback", with_login],
        ["rollback", with_login],
        ["remove", with_login, "d1", "nobody"],
        ["search", "flood", "--index", with_login, "--json"],
        ["explain", "flood", "nobody", "--index", with_login],
        ["query", "flood", "--index", with_login],
        ["delete", with_login, "20000101t000000000000"],
        ["delete", with_login, "--yes"],
        ["status", "--index", with_login],
        ["status", "--index", with_login.replace(password, f"{password}x")],
        ["status", "--index", with_login.replace("https", "ftp")],
        ["load", str(news), "--index", with_login.replace("/news", "/BAD")],
        ["serve", "--index", f"a={with_login} {with_login}"],
    ]:
        result = call(*arguments)
        assert result.exception is None or isinstance(result.exception, SystemExit), arguments
        assert password not in result.output, arguments


@pytest.mark.elasticsearch
@pytest.mark.slow
def test_files_and_options_say_who_it_is(
    loaded_index: str, secured: Cluster, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv(CA_FILE)
    key = tmp_path / "key"
    key.write_text(Api(secured).key(role_descriptors(["news"], ["page"])) + "\n")
    trusting = ["--ca-file", str(secured.ca_file)]
    result = call(*trusting, "--api-key-file", str(key), "status", "--index", loaded_index)
    assert result.exit_code == 0, result.output
    assert not set(VARIABLES) & set(os.environ), "the options are for one command"
    assert secured.auth
    password = tmp_path / "password"
    password.write_text(secured.auth[1])
    options = [*trusting, "--user", secured.auth[0], "--password-file", str(password)]
    result = call(*options, "status", "--index", loaded_index)
    assert result.exit_code == 0, result.output


@pytest.mark.elasticsearch
@pytest.mark.slow
@pytest.mark.parametrize("role", ["page", "loader", "operator"])
def test_the_security_api_takes_the_roles_as_they_are_printed(
    secured: Cluster, secured_where: str, role: str
) -> None:
    result = call("roles", secured_where, "news.old", "--role", role)
    assert result.exit_code == 0, result.output
    status, answer = Api(secured).ask("PUT", f"/_security/role/esr-{role}", json.loads(result.output)[role])
    assert status == 200, answer


@pytest.mark.elasticsearch
@pytest.mark.slow
def test_what_contradicts_itself_is_a_usage_error(
    secured_where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(USER, "me")
    with pytest.raises(UsageError, match="belong together"):
        open_searcher(secured_where)


# Logins from the environment: contradictions are reported, secrets are not.


def test_a_login_in_the_location_takes_precedence_over_the_environment() -> None:
    login = Login.resolve(("me", "mine"), {"ESR_API_KEY": "key", "ESR_USER": "you", "ESR_PASSWORD": "yours"})
    assert (login.basic_auth, login.api_key) == (("me", "mine"), None)


def test_a_login_comes_from_a_key_or_from_a_user_or_from_files(tmp_path: Path) -> None:
    file = tmp_path / "secret"
    file.write_text("hidden\n")
    assert Login.resolve(None, {"ESR_API_KEY": "key"}).api_key == "key"
    assert Login.resolve(None, {"ESR_API_KEY_FILE": str(file)}).api_key == "hidden"
    assert Login.resolve(None, {"ESR_USER": "me", "ESR_PASSWORD": "p"}).basic_auth == ("me", "p")
    assert Login.resolve(None, {"ESR_USER": "me", "ESR_PASSWORD_FILE": str(file)}).basic_auth == (
        "me",
        "hidden",
    )
    assert Login.resolve(None, {"ESR_API_KEY": "", "ESR_CA_FILE": "", "ESR_INSECURE": ""}).is_anonymous


def test_a_login_is_printed_without_its_secrets() -> None:
    login = Login.resolve(None, {"ESR_USER": "me", "ESR_PASSWORD": "hidden"})
    assert "hidden" not in f"{login!r}{login}"


@pytest.mark.parametrize(
    "variables, message",
    [
        ({"ESR_API_KEY": "k", "ESR_USER": "me", "ESR_PASSWORD": "hidden"}, "only one login can be used"),
        ({"ESR_USER": "me"}, "belong together"),
        ({"ESR_PASSWORD": "hidden"}, "belong together"),
        ({"ESR_API_KEY": "hidden", "ESR_API_KEY_FILE": "/nowhere"}, "both set"),
        ({"ESR_API_KEY_FILE": "/nowhere"}, "ESR_API_KEY_FILE names /nowhere, which cannot be read"),
        ({"ESR_API_KEY_FILE": "/dev/null"}, "which is empty"),
        ({"ESR_CA_FILE": "/nowhere"}, "ESR_CA_FILE names /nowhere, which cannot be read"),
        ({"ESR_CA_FILE": __file__}, "contains no certificate in PEM form"),
        ({"ESR_INSECURE": "yes"}, "ESR_INSECURE must be 1 or 0, not 'yes'"),
    ],
)
def test_contradictory_or_unreadable_settings_are_reported(variables: dict[str, str], message: str) -> None:
    with pytest.raises(UsageError, match=message) as raised:
        Login.resolve(None, variables)
    assert "hidden" not in str(raised.value)


def test_certificates_are_verified_for_https_alone() -> None:
    assert "verify_certs" not in Login().client_options("http://h:9200")
    assert Login().client_options("https://h:9200")["verify_certs"] is True


def test_a_location_has_nodes_a_login_and_an_alias() -> None:
    where = "https://me:p%40ss@one:9200,two,[::1]:9201/news"
    hosts = ["one:9200", "two:443", "[::1]:9201"]
    assert parse_location(where) == ("https", ("me", "p@ss"), hosts, "", "news")
    assert parse_location("http://one,two/search/de/news/") == (
        "http",
        None,
        ["one:9200", "two:9200"],
        "/search/de",
        "news",
    )
    assert parse_alias("news") == parse_alias(where) == "news"


@pytest.mark.parametrize(
    "where",
    [
        "http://a:x/n",
        "http://a:99999/n",
        "http://a,,b/n",
        "http://:1/n",
        "http://[/n",
        "http://a/b c/n",
        "http://a/n?key=x",
        "http://a/n#x",
    ],
)
def test_malformed_hosts_are_reported(where: str) -> None:
    with pytest.raises(UsageError, match="is not http"):
        parse_location(where)


@pytest.mark.parametrize(
    "where", ["http://me:secret@h/a", "http://me:a/secret@h/a", "ftp://secret@h", "a=http://u:secret@h/a"]
)
def test_locations_are_shown_without_logins(where: str) -> None:
    assert "secret" not in redact(where)
    assert redact("http://h:9200/news") == "http://h:9200/news"


def test_the_roles_of_an_alias_name_no_index_of_another() -> None:
    (privileges,) = role_descriptors(["news"], ["page"])["page"]["indices"]
    assert privileges["names"] == [
        "news",
        "news-documents",
        "news-esr-table",
        "/news-[0-9]{8}t[0-9]{12}(-[0-9]+)?(-[0-9]{4}\\.[0-9]{2}\\.[0-9]{2}|-undated)?"
        "(-esr-sentences|-esr-documents)/",
    ]
    assert role_descriptors(["a.b"], ["page"])["page"]["indices"][0]["names"][3].startswith(r"/a\.b-[0-9]")


# Logins on a node with security on that speaks plain HTTP. All of these tests share one node.


@pytest.fixture(scope="module")
def plain_node() -> Iterator[Cluster]:
    try:
        with Cluster.start(security=True, deadline=300) as cluster:
            yield cluster
    except NoNode as error:
        without_node(str(error))


@pytest.fixture
def nobody_is_logged_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ESR_API_KEY", raising=False)


def with_login(cluster: Cluster, where: str) -> str:
    """The location with the user and the password of the superuser in it."""
    return where.replace("//", "//{}:{}@".format(*cluster.auth or ()))


def read_only_key(cluster: Cluster, alias: str) -> str:
    roles = {"reader": {"indices": [{"names": [f"{alias}*"], "privileges": ["read", "view_index_metadata"]}]}}
    return Api(cluster).key(roles)


@pytest.mark.elasticsearch
@pytest.mark.endurance
@pytest.mark.usefixtures("nobody_is_logged_in")
def test_security_asks_for_a_password(plain_node: Cluster) -> None:
    assert plain_node.auth is not None
    assert plain_node.nodes[0].get("/")[0] == 200
    assert base.GivenNode("stranger", plain_node.url).get("/")[0] == 401


@pytest.mark.elasticsearch
@pytest.mark.endurance
@pytest.mark.usefixtures("nobody_is_logged_in")
def test_a_login_is_required_and_a_key_that_may_read_only_searches(
    plain_node: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a login nothing; with a key that may read, searches only."""
    where = f"{plain_node.url}/news"
    for call in search_and_load(where):
        with pytest.raises(EngineUnreachable, match="requires a login: set ESR_API_KEY, or ESR_USER"):
            call()
    with pytest.raises(EngineUnreachable, match="rejects the login: check the user and password"):
        open_searcher(where.replace("//", "//nobody:wrong@"))

    assert plain_node.auth is not None
    full, password = with_login(plain_node, where), plain_node.auth[1]
    load(full, ERROR_DOCUMENTS)
    monkeypatch.setenv("ESR_API_KEY", read_only_key(plain_node, "news"))
    with open_searcher(where) as searcher:
        answer = searcher.search("flood", 100)
        assert (answer.total, answer.incomplete) == (120, None)
        assert read_document(searcher.index, "d1").id == "d1"
    login = {"Authorization": f"ApiKey {os.environ['ESR_API_KEY']}"}
    assert len(esr_client.Index(where, headers=login).search("flood", k=100)) == 100
    with pytest.raises(esr_client.EsrClientError, match="missing authentication credentials"):
        esr_client.Index(where).search("flood")
    for if_exists in ("replace", "append", "fail"):
        with pytest.raises(EsrError, match=r"denies the request: .* is unauthorized for API key"):
            load(where, ERROR_DOCUMENTS, if_exists=if_exists)
    with open_searcher(full) as searcher:
        assert searcher.search("flood", 100).total == 120
        assert password not in searcher.index.where


@pytest.mark.elasticsearch
@pytest.mark.endurance
@pytest.mark.usefixtures("nobody_is_logged_in")
def test_the_page_needs_only_a_key_that_may_read(
    plain_node: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    where = f"{plain_node.url}/page"
    load(with_login(plain_node, where), ERROR_DOCUMENTS)
    key = read_only_key(plain_node, "page")
    with served(where) as connect:
        answer = connect().get("/api/v1/search?q=flood")  # nobody
        assert answer.status_code == 503
        assert plain_node.url not in answer.text
    monkeypatch.setenv("ESR_API_KEY", key)
    with served(where, deadline=30.0) as connect:
        client = connect()
        for address in (*PAGES, *PROGRAMS, "/", "/readyz"):
            answer = client.get(address)
            assert answer.status_code == 200, (address, answer.text)
            assert key not in answer.text
        batch = {"queries": [{"id": "1", "query": "flood"}, {"id": "2", "query": "bank"}]}
        assert client.post("/api/v1/batch", json=batch).status_code == 200
