"""Receivers of alerts that run beside the tests: a mail server and a webhook, also ones that misbehave."""

from __future__ import annotations

import json
import ssl
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from email import message_from_bytes, policy
from email.message import EmailMessage
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult, LoginPassword

from tests.support.process import free_ports


class Mailbox:
    """The handler of a mail server. `answers` are given for the next mails, in place of taking them."""

    def __init__(self) -> None:
        self.mails: list[EmailMessage] = []
        self.answers: list[str] = []
        self.refused: set[str] = set()

    async def handle_RCPT(self, server: Any, session: Any, envelope: Any, address: str, options: Any) -> str:
        if address in self.refused:
            return "550 there is nobody of this name"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:
        if self.answers:
            return self.answers.pop(0)
        mail = message_from_bytes(envelope.content, policy=policy.default)
        assert isinstance(mail, EmailMessage)
        self.mails.append(mail)
        return "250 OK"


@contextmanager
def mail_server(**options: Any) -> Iterator[tuple[Mailbox, str]]:
    """A mail server and its address for ESR_MAIL, without TLS unless the options say so."""
    mailbox = Mailbox()
    (port,) = free_ports(1)
    controller = Controller(mailbox, hostname="127.0.0.1", port=port, **options)
    controller.start()
    try:
        yield mailbox, f"smtp://127.0.0.1:{port}?tls=no"
    finally:
        controller.stop()


def _is_known(server: Any, session: Any, envelope: Any, mechanism: str, data: Any) -> AuthResult:
    is_right = isinstance(data, LoginPassword) and (data.login, data.password) == (b"esr", b"p@ss:word")
    return AuthResult(success=is_right, handled=False)


class SecureMailbox(Mailbox):
    """Takes mails only after a login."""

    async def handle_RCPT(self, server: Any, session: Any, envelope: Any, address: str, options: Any) -> str:
        if not session.authenticated:
            return "530 log in first"
        return await super().handle_RCPT(server, session, envelope, address, options)


@contextmanager
def secure_mail_server(context: ssl.SSLContext, scheme: str) -> Iterator[tuple[Mailbox, str]]:
    """A mail server that takes mails only over TLS from the user `esr`, with the password `p@ss:word`.

    `scheme` is `smtp` (STARTTLS) or `smtps`. The address is host and port, without user and password.
    """
    mailbox = SecureMailbox()
    (port,) = free_ports(1)
    secured: dict[str, Any] = {"ssl_context": context, "auth_require_tls": False}  # TLS from the start
    if scheme == "smtp":
        secured = {"tls_context": context, "require_starttls": True}
    controller = Controller(mailbox, hostname="127.0.0.1", port=port, authenticator=_is_known, **secured)
    controller.start()
    try:
        yield mailbox, f"localhost:{port}"
    finally:
        controller.stop()


class Posted(NamedTuple):
    """A request to a webhook."""

    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Hook:
    """What a webhook has received. `statuses` are its next answers, 200 without any; `slow` are seconds."""

    def __init__(self) -> None:
        self.posted: list[Posted] = []
        self.statuses: list[int] = []
        self.slow = 0.0


@contextmanager
def webhook() -> Iterator[tuple[Hook, str]]:
    """A webhook and its address."""
    hook = Hook()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            hook.posted.append(Posted(dict(self.headers), body))
            time.sleep(hook.slow)
            status = hook.statuses.pop(0) if hook.statuses else 200
            try:
                self.send_response(status)
                if 300 <= status < 400:
                    self.send_header("Location", self.path)
                self.end_headers()
            except OSError:  # the sender waits no longer
                pass

        def log_message(self, *_: Any) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield hook, f"http://127.0.0.1:{server.server_port}/hook"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
