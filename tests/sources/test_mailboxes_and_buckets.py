"""Mailboxes and buckets, from servers beside the tests: what is fetched, what stays, and what is told."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from imaplib import IMAP4
from pathlib import Path
from typing import Any, cast
from urllib.parse import quote as url_quote

import pytest

from esr.errors import EsrError, UsageError
from esr.loaders import read_documents
from esr.loaders.fetching import FetchReport
from esr.loaders.files import EVERYTHING, FileFilter
from esr.sources.buckets import BucketOptions, Buckets
from esr.sources.mailboxes import Mailboxes, MailOptions, quote
from tests.cli.conftest import call
from tests.sources.test_web import make_certificate
from tests.support.process import free_ports
from tests.support.processes import wait_until
from tests.support.runs import need

pytestmark = pytest.mark.slow

MESSAGE = "From: Desk <desk@paper.example>\r\nSubject: {0}\r\n{1}\r\nA {0} came.\r\n"


class ImapServer:
    """A server of IMAP in memory, with a password for `user`."""

    def __init__(self, folder: Path, password: str = "secret", user: str = "desk") -> None:
        (self.port,) = free_ports(1)
        self.certificate = folder / "ca.pem"
        self.context = make_certificate("localhost", folder / "ca.pem")
        tls = ["--cert", str(folder / "ca.pem"), "--key", str(folder / "ca.key")]
        listen = ["--host", "127.0.0.1", "--port", str(self.port), "--no-service", "admin"]
        code = "from pymap.main import main; main()"
        login = ["dict", "--demo-user", user, "--demo-password", password]
        command = [sys.executable, "-W", "ignore", "-c", code, *listen, *tls, *login]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_until(self._is_up)
        self._own = IMAP4("127.0.0.1", self.port)
        self._own.authenticate("PLAIN", lambda _: f"\0{user}\0{password}".encode())

    def _is_up(self) -> bool:
        with suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1):
            return True
        return False

    def url(self, mailbox: str = "INBOX", user: str = "desk", scheme: str = "imap", port: int = 0) -> str:
        return f"{scheme}://{user}@localhost:{port or self.port}/{mailbox}"

    def do(self, act: Callable[[IMAP4], Any]) -> Any:
        return act(self._own)

    def stop(self) -> None:
        self._own.logout()
        self.process.terminate()
        self.process.wait()

    def put(self, *subjects: str, mailbox: str = "INBOX", headers: str = "Message-ID: <{}@x>\r\n") -> None:
        def append(connection: IMAP4) -> None:
            for subject in subjects:
                text = MESSAGE.format(subject, headers.format(subject)).encode()
                assert connection.append(mailbox, "", "", text)[0] == "OK"

        self.do(append)


@pytest.fixture(scope="module")
def imap(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ImapServer]:
    need("pymap")
    server = ImapServer(tmp_path_factory.mktemp("imap"))
    yield server
    server.stop()


@pytest.fixture
def mailbox(imap: ImapServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """An empty mailbox."""
    monkeypatch.setenv("SSL_CERT_FILE", str(imap.certificate))
    monkeypatch.setenv("ESR_MAIL_PASSWORD", "secret")
    imap.do(lambda connection: connection.create("News"))
    yield "News"
    imap.do(lambda connection: connection.delete("News"))


def serve_tls(imap: ImapServer) -> int:
    """The port of a server that speaks TLS from the first byte, before the other one."""
    listener = socket.create_server(("127.0.0.1", 0))

    def pass_on(source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(2**16):
                target.sendall(data)
        with suppress(OSError):
            target.shutdown(socket.SHUT_WR)

    def serve() -> None:
        with listener, suppress(OSError):
            client = imap.context.wrap_socket(listener.accept()[0], server_side=True)
            with client, socket.create_connection(("127.0.0.1", imap.port)) as server:
                back = threading.Thread(target=pass_on, args=(server, client))
                back.start()
                pass_on(client, server)
                back.join()

    threading.Thread(target=serve, daemon=True).start()
    return int(listener.getsockname()[1])


def fetch_mail(folder: Path, *urls: str, **options: Any) -> FetchReport:
    return Mailboxes(urls, folder, MailOptions(None, "ESR_MAIL_PASSWORD", **options)).fetch()


def test_new_messages_are_fetched_once_and_not_marked_as_seen(
    imap: ImapServer, mailbox: str, tmp_path: Path
) -> None:
    imap.put("storm", "hail", "frost", mailbox=mailbox)
    folder = tmp_path / "mail"
    report = fetch_mail(folder, imap.url(mailbox), max_messages=2)
    assert (report.places, report.new, report.left, report.failed) == (1, 2, 1, [])
    assert (fetch_mail(folder, imap.url(mailbox)).new, fetch_mail(folder, imap.url(mailbox)).new) == (1, 0)
    texts = [path.read_text() for path in sorted(folder.glob("*.eml"))]
    assert [text.splitlines()[1] for text in texts] == ["Subject: storm", "Subject: hail", "Subject: frost"]
    (answer,) = imap.do(lambda each: (each.select(mailbox), each.search(None, "SEEN"), each.close())[1][1])
    assert answer == b""


def test_a_mailbox_that_was_made_anew_is_read_from_its_beginning(
    imap: ImapServer, mailbox: str, tmp_path: Path
) -> None:
    imap.put("storm", mailbox=mailbox)
    assert fetch_mail(tmp_path / "mail", imap.url(mailbox)).new == 1
    imap.do(lambda connection: (connection.delete(mailbox), connection.create(mailbox)))
    imap.put("hail", mailbox=mailbox, headers="")
    assert fetch_mail(tmp_path / "mail", imap.url(mailbox)).new == 1
    second = max((tmp_path / "mail").glob("*.eml"), key=lambda path: "hail" in path.read_text())
    assert second.read_text().startswith("Message-ID: <")  # a message without one gets one that stays


@pytest.mark.parametrize("headers", ["", "Message-ID: \r\n", "Message-ID: <>\r\n"])
def test_a_message_without_an_id_gets_the_same_one_when_the_server_renumbers_the_mailbox(
    imap: ImapServer, mailbox: str, tmp_path: Path, headers: str
) -> None:
    for subjects in (("storm",), ("hail", "storm")):
        imap.put(*subjects, mailbox=mailbox, headers=headers)
        fetch_mail(tmp_path / "mail", imap.url(mailbox))
        imap.do(lambda connection: (connection.delete(mailbox), connection.create(mailbox)))
    documents = [located.document for located in read_documents([str(tmp_path / "mail")])]
    assert sorted(document.title or "" for document in documents) == ["hail", "storm", "storm"]
    assert len({document.id for document in documents}) == 2


def test_a_folded_message_id_is_kept(imap: ImapServer, mailbox: str, tmp_path: Path) -> None:
    imap.put("storm", mailbox=mailbox, headers="Message-ID:\r\n <{}@x>\r\n")
    fetch_mail(tmp_path / "mail", imap.url(mailbox))
    (located,) = read_documents([str(tmp_path / "mail")])
    assert located.document.id == "storm@x"


def test_a_mailbox_is_reached_by_tls_from_the_first_byte(
    imap: ImapServer, mailbox: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    imap.put("storm", mailbox=mailbox)
    url = imap.url(mailbox, scheme="imaps", port=serve_tls(imap))
    assert fetch_mail(tmp_path / "mail", url).new == 1
    monkeypatch.delenv("SSL_CERT_FILE")
    url = imap.url(mailbox, scheme="imaps", port=serve_tls(imap))
    assert "certificate verify failed" in fetch_mail(tmp_path / "other", url).failed[0]


def test_a_failing_mailbox_is_told_without_its_password_and_the_others_are_read(
    imap: ImapServer, mailbox: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    imap.put("storm", mailbox=mailbox)
    urls = [imap.url("None"), imap.url(user="nobody"), imap.url(port=free_ports(1)[0]), imap.url(mailbox)]
    report = fetch_mail(tmp_path / "mail", *urls)
    assert report.new == 1 and len(report.failed) == 3
    assert all(line.startswith(f"{url}: ") for url, line in zip(urls, report.failed, strict=False))
    monkeypatch.setenv("ESR_MAIL_PASSWORD", "wrong-password")
    (line,) = fetch_mail(tmp_path / "mail", imap.url(mailbox)).failed
    assert "wrong-password" not in line


def test_the_password_is_in_a_file_or_a_variable_and_never_in_the_address(
    imap: ImapServer, mailbox: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ESR_MAIL_PASSWORD")
    (tmp_path / "password").write_text("secret\n")
    options = MailOptions(tmp_path / "password", "NONE")
    assert Mailboxes([imap.url(mailbox)], tmp_path / "mail", options).fetch().failed == []
    with pytest.raises(UsageError, match="no password for the mailbox in the environment variable NONE"):
        Mailboxes([imap.url(mailbox)], tmp_path / "mail", MailOptions(None, "NONE")).fetch()
    with pytest.raises(UsageError, match="put it into password-file") as caught:
        Mailboxes(["imaps://desk:hunter2@mail.example/INBOX"], tmp_path, options)
    assert "hunter2" not in str(caught.value)


def test_a_password_with_letters_beyond_ascii_logs_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    need("pymap")
    server = ImapServer(tmp_path, "Größe 5 €")
    monkeypatch.setenv("SSL_CERT_FILE", str(server.certificate))
    try:
        for password, failures in (("Größe 5 €", 0), ("Größe 6 €", 1)):
            monkeypatch.setenv("ESR_MAIL_PASSWORD", password)
            report = fetch_mail(tmp_path / "mail", server.url())
            assert len(report.failed) == failures and password not in str(report.failed)
    finally:
        server.stop()


def test_a_user_with_a_blank_or_a_quotation_mark_logs_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    need("pymap")
    user = 'news "A" \\ desk & co'
    server = ImapServer(tmp_path, user=user)
    monkeypatch.setenv("SSL_CERT_FILE", str(server.certificate))
    monkeypatch.setenv("ESR_MAIL_PASSWORD", "secret")
    try:
        assert fetch_mail(tmp_path / "mail", server.url(user=url_quote(user))).failed == []
    finally:
        server.stop()


def test_a_message_that_the_server_refuses_stops_no_other_and_is_asked_for_again(
    imap: ImapServer, mailbox: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    imap.put("storm", "hail", "frost", "rain", mailbox=mailbox)
    folder, url = tmp_path / "mail", imap.url(mailbox)
    ask = IMAP4.uid

    def subjects() -> list[str]:
        return sorted(path.read_text().splitlines()[1].split()[1] for path in folder.glob("*.eml"))

    def refuse(connection: IMAP4, command: str, *arguments: str) -> Any:
        if command == "FETCH":
            asked.append(arguments[0])
            answer = refused.get(arguments[0])
            if answer == "BAD":
                raise IMAP4.error("UID command error: BAD [b'secret']")
            if answer == "OK":  # what imaplib makes of a line of a server
                return answer, [f"1 (UID {arguments[0]} BODY[]<0> NIL)".encode()]
            if answer:
                return answer, [b"it is damaged"]
        return ask(connection, command, *arguments)

    asked: list[str] = []
    monkeypatch.setattr(IMAP4, "uid", refuse)
    found = imap.do(lambda each: (each.select(mailbox), each.uid("SEARCH", "ALL"), each.close())[1][1])
    uids = found[0].decode().split()
    refused = {uids[0]: "NO", uids[1]: "BAD"}
    report = fetch_mail(folder, url, max_messages=3)
    assert (report.new, report.left, report.failed) == (1, 1, [])
    assert report.problems == [
        f"{url}: message {uids[0]} cannot be fetched: it is damaged",
        f"{url}: message {uids[1]} cannot be fetched: UID command error: BAD [b'…']",
    ]
    assert asked == uids[:3] and subjects() == ["frost"]
    asked.clear()
    report = fetch_mail(folder, url, max_messages=1)
    assert (report.new, report.left, report.problems) == (1, 2, [])
    assert asked == uids[3:], "new messages come first"
    asked.clear()
    del refused[uids[1]]
    refused[uids[0]] = "OK"
    report = fetch_mail(folder, url)
    assert report.problems == [f"{url}: message {uids[0]} cannot be fetched: the server sends no text of it"]
    assert report.new == 1 and asked == uids[:2]
    refused.clear()
    assert (fetch_mail(folder, url).new, fetch_mail(folder, url).new) == (1, 0)
    assert subjects() == ["frost", "hail", "rain", "storm"]


def test_names_of_mailboxes_are_written_as_imap_wants_them() -> None:
    assert quote('Entwürfe & "mehr"') == '"Entw&APw-rfe &- \\"mehr\\""'


# Buckets


@pytest.fixture(scope="module")
def s3_url() -> Iterator[str]:
    need("moto")
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    yield "http://{}:{}".format(*server.get_host_and_port())
    server.stop()


@pytest.fixture
def s3(s3_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A client, with the empty bucket `news`."""
    import boto3

    variables = {"ENDPOINT_URL": s3_url, "ACCESS_KEY_ID": "id", "SECRET_ACCESS_KEY": "key"}
    for name, value in {**variables, "DEFAULT_REGION": "us-east-1", "EC2_METADATA_DISABLED": "true"}.items():
        monkeypatch.setenv(f"AWS_{name}", value)
    client = boto3.client("s3")
    client.create_bucket(Bucket="news")
    yield client
    for entry in client.list_objects_v2(Bucket="news").get("Contents", ()):
        client.delete_object(Bucket="news", Key=entry["Key"])
    client.delete_bucket(Bucket="news")


def fetch_s3(
    folder: Path, *urls: str, files: FileFilter = EVERYTHING, target: Path | None = None, **options: Any
) -> tuple[int, ...]:
    report = Buckets(urls, folder, BucketOptions(files, **options)).fetch(target)
    assert not report.failed
    return report.new, report.changed, report.unchanged, report.left, len(report.problems)


def names(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("[!.]*") if path.is_file())


def test_new_and_changed_objects_are_fetched_and_gone_ones_deleted(s3: Any, tmp_path: Path) -> None:
    for key in ("wire/a.jsonl", "wire/2026/b.jsonl", "wires/c.jsonl", "wire/.d", "wire/e/", "wire/f.png"):
        s3.put_object(Bucket="news", Key=key, Body=b"one")
    files = FileFilter(exclude=("*.png",))
    assert fetch_s3(tmp_path, "s3://news/wire", files=files) == (2, 0, 0, 0, 0)
    assert names(tmp_path) == ["news/wire/2026/b.jsonl", "news/wire/a.jsonl"]
    assert fetch_s3(tmp_path, "s3://news/wire", files=files) == (0, 0, 2, 0, 0)
    path = tmp_path / "news/wire/a.jsonl"
    before = path.stat().st_mtime_ns
    s3.put_object(Bucket="news", Key="wire/a.jsonl", Body=b"two")  # of the same size, in the same second
    s3.delete_object(Bucket="news", Key="wire/2026/b.jsonl")
    assert fetch_s3(tmp_path, "s3://news/wire", files=files, target=tmp_path / "dry") == (0, 1, 0, 0, 0)
    assert path.read_bytes() == b"one" and len(names(tmp_path)) == 2
    assert fetch_s3(tmp_path, "s3://news/wire", files=files) == (0, 1, 0, 0, 0)
    assert path.read_bytes() == b"two" and names(tmp_path) == ["news/wire/a.jsonl"]
    assert path.stat().st_mtime_ns != before and path.stat().st_mtime < time.time() - 2


def test_a_run_fetches_the_oldest_objects_up_to_its_limit(s3: Any, tmp_path: Path) -> None:
    for n in range(5):
        s3.put_object(Bucket="news", Key=f"{n}.jsonl", Body=b"x")
    assert fetch_s3(tmp_path, "s3://news", max_files=3) == (3, 0, 0, 2, 0)
    assert fetch_s3(tmp_path, "s3://news", max_files=3) == (2, 0, 3, 0, 0)


def test_objects_that_cannot_be_fetched_let_the_others_pass(s3: Any, tmp_path: Path) -> None:
    for n in range(4):
        archived = {"StorageClass": "GLACIER"} if n < 2 else {}
        s3.put_object(Bucket="news", Key=f"{n}.jsonl", Body=b"x", **archived)
    assert fetch_s3(tmp_path, "s3://news", max_files=2) == (0, 0, 0, 2, 2)
    assert fetch_s3(tmp_path, "s3://news", max_files=2) == (2, 0, 0, 2, 0)
    s3.put_object(Bucket="news", Key="0.jsonl", Body=b"y")  # is no longer archived
    assert fetch_s3(tmp_path, "s3://news", max_files=1) == (1, 0, 2, 1, 0)
    assert names(tmp_path) == [f"news/{n}.jsonl" for n in (0, 2, 3)]


def test_keys_that_are_no_paths_are_told_and_stay_out_of_other_folders(s3: Any, tmp_path: Path) -> None:
    for key in ("a//b", "c\\d", "n" * 220, "e", "e/f"):
        s3.put_object(Bucket="news", Key=key, Body=b"x")
    folder = tmp_path / "own"
    assert fetch_s3(folder, "s3://news") == (1, 0, 0, 0, 4)
    assert names(tmp_path) == ["own/news/e"]


def test_a_bucket_that_cannot_be_listed_keeps_its_files(s3: Any, tmp_path: Path) -> None:
    s3.put_object(Bucket="news", Key="a", Body=b"x")
    assert fetch_s3(tmp_path, "s3://news")[0] == 1
    s3.delete_object(Bucket="news", Key="a")
    s3.delete_bucket(Bucket="news")
    report = Buckets(["s3://news"], tmp_path, BucketOptions(EVERYTHING)).fetch()
    assert report.failed[0].startswith("s3://news: ") and "NoSuchBucket" in report.failed[0]
    assert names(tmp_path) == ["news/a"]
    s3.create_bucket(Bucket="news")


def test_what_cannot_be_written_ends_the_run(s3: Any, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(EsrError, match=r"cannot be read|cannot write"):
        Buckets(["s3://news"], tmp_path / "file" / "own", BucketOptions(EVERYTHING)).fetch()
    with pytest.raises(UsageError, match="'s3:/news' is no bucket: write s3://bucket/prefix"):
        Buckets(["s3:/news"], tmp_path, BucketOptions(EVERYTHING))


# Both in esr sync


def test_a_run_delivers_messages_and_objects_and_removes_what_a_bucket_lost(
    imap: ImapServer, mailbox: str, s3: Any, tmp_path: Path
) -> None:
    imap.put("storm", "hail", mailbox=mailbox)
    for n in range(2):
        line = json.dumps({"id": f"b{n}", "text": "Frost."})
        s3.put_object(Bucket="news", Key=f"wire/{n}.jsonl", Body=line)
    (tmp_path / "news.toml").write_text(
        f'[[source]]\nname = "mail"\nmailboxes = "{imap.url(mailbox)}"\nset = {{"meta.desk" = "wire"}}\n'
        '[[source]]\nbuckets = "s3://news/wire"\ngone = "remove"\n'
    )

    def run(*options: str) -> dict[str, Any]:
        result = call("sync", tmp_path / "news.toml", "--index", tmp_path / "index", "--json", *options)
        assert result.exit_code == 0, result.output
        return cast(dict[str, Any], json.loads(result.stdout))

    assert run("--dry-run")["added"] == 2  # objects are only counted
    assert not (tmp_path / "news.toml.state.feeds").exists()
    report = run()
    assert (report["added"], report["mailboxes"]["new"], report["buckets"]["new"]) == (4, 2, 2)
    report = run()
    assert (report["added"], report["read"], report["buckets"]["unchanged"]) == (0, 0, 2)
    s3.delete_object(Bucket="news", Key="wire/0.jsonl")
    assert run()["removed"] == 1
    line = call("sync", tmp_path / "news.toml", "--index", tmp_path / "index").stdout.splitlines()
    assert "1 mailboxes, 0 of them failed; messages: none new" in line
    assert "1 buckets, 0 of them failed; files: 1 unchanged" in line
