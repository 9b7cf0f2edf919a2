"""The channels of alerts: mail, webhooks, and the services of apprise, by the address of a target.

A channel sends a letter once for each call. Where it is not known whether the receiver has it, the caller
sends it again under the same id: the Message-ID of a mail, and the Idempotency-Key of a webhook.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import re
import smtplib
import ssl
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from email.message import EmailMessage
from email.utils import format_datetime, parseaddr
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, unquote, urlsplit

from msgspec import Struct

from esr.errors import EsrError, UsageError, to_one_line
from esr.extras import require
from esr.index.login_variables import redact
from esr.stdlib import import_lazily

if TYPE_CHECKING:
    import apprise
    import urllib3
else:
    apprise = import_lazily("apprise")
    urllib3 = import_lazily("urllib3")

MAIL, SENDER, SECRET, PAGE = "ESR_MAIL", "ESR_MAIL_FROM", "ESR_WEBHOOK_SECRET", "ESR_PAGE"
ALERT_VARIABLES: Mapping[str, str] = {
    MAIL: "the mail server of alerts: smtp://user:password@host:587 (STARTTLS), or smtps://…:465",
    SENDER: "the sender of alerts by mail",
    SECRET: "what webhooks are signed with; the receiver has it too",
    PAGE: "the address of the search page, for links in alerts",
}
TIMEOUT = 20.0
"""Seconds to wait for each answer of a receiver."""
SIGNATURE, KEY, ATTEMPT = "Esr-Signature", "Idempotency-Key", "Esr-Attempt"
"""The headers of a webhook."""
_ADDRESS = re.compile(r"[^\s@,;:<>()\[\]\"\\]+@[^\s@,;:<>()\[\]\"\\]+")
"""A single address of mail: a list would pass a rule on its end, and be sent to all."""
_SECONDS_DIGITS = 12
_RETRIED = {408, 409, 423, 425, 429}
"""Statuses below 500 after which a webhook is tried again."""
_PATIENCE = 3
"""Number of letters for which a receiver is waited for in vain, until the others to it fail at once."""


class DeliveryFailed(EsrError):
    """A letter could not be sent. `is_final`: another attempt would fail in the same way."""

    def __init__(self, message: str, is_final: bool = False) -> None:
        super().__init__(message)
        self.is_final = is_final

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.is_final)


class NotReached(DeliveryFailed):
    """The receiver cannot be reached or gives no answer, so other letters to it would fail too."""


class Letter(Struct, frozen=True):
    """What is sent: as a subject with a text and HTML, and as JSON. `id` is the same for all attempts."""

    id: str
    subject: str
    text: str
    html: str
    payload: bytes
    attempt: int = 1


def check_target(target: str) -> str:
    """Check a target: mailto:ann@example.org, https://…, or an address of apprise. Raises UsageError.

    A webhook may have http://…, for hosts of the operator's network. `ESR_ALERT_TO` says what is allowed.
    """
    scheme, _, rest = target.partition(":")
    if scheme == "mailto":
        if not _ADDRESS.fullmatch(rest):
            raise UsageError(
                f"cannot read the address {target!r}: write one address such as mailto:ann@example.org"
            )
    elif scheme in ("http", "https"):
        try:
            host = urlsplit(target).hostname
        except ValueError:  # such as an unfinished IPv6 address
            host = None
        if not host:
            raise UsageError(f"cannot read the address {redact(target)!r}: it has no host")
    elif "://" in target:
        require("an alert by another service than mail and webhooks", "apprise")
        if apprise.Apprise.instantiate(target) is None:
            raise UsageError(f"apprise does not know the address {scheme}://…: see its list of services")
    else:
        raise UsageError(
            f"cannot read the target {target!r}: write mailto:ann@example.org, https://…, or an "
            "address of apprise such as slack://…"
        )
    return target


class Channels:
    """Sends letters. The connection to the mail server is kept open for further ones, until `close`.

    Until then, a receiver that could not be reached several times is not waited for again, so that it does
    not hold up letters to others.
    """

    def __init__(self, variables: Mapping[str, str] = os.environ, timeout: float = TIMEOUT) -> None:
        self._variables = variables
        self._timeout = timeout
        self._smtp: smtplib.SMTP | None = None
        self._not_reached = Counter[str]()

    def __enter__(self) -> Channels:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection to the mail server. All receivers are tried again afterwards."""
        self._not_reached.clear()
        self._hang_up()

    def _hang_up(self) -> None:
        if self._smtp is not None:
            with suppress(OSError, smtplib.SMTPException):
                self._smtp.quit()
        self._smtp = None

    def send(self, target: str, letter: Letter) -> None:
        """Send a letter. Raises DeliveryFailed, or UsageError if something is not set up."""
        receiver = _name_receiver(target)
        if self._not_reached[receiver] >= _PATIENCE:
            raise NotReached(f"not tried in this run: {_PATIENCE} letters before had no answer")
        try:
            self._send(target, letter)
        except NotReached:
            self._not_reached[receiver] += 1
            raise
        del self._not_reached[receiver]

    def _send(self, target: str, letter: Letter) -> None:
        scheme, _, rest = target.partition(":")
        if scheme == "mailto":
            self._send_mail(rest, letter)
        elif scheme in ("http", "https"):
            self._send_webhook(target, letter)
        else:
            self._notify(target, letter)

    # Mail

    def _send_mail(self, address: str, letter: Letter) -> None:
        message = self.write_mail(address, letter)
        try:
            smtp = self._connect()
        except (OSError, smtplib.SMTPException) as error:
            self._smtp = None
            is_final = isinstance(error, smtplib.SMTPAuthenticationError) and error.smtp_code >= 500
            failure = DeliveryFailed if is_final else NotReached
            raise failure(f"the mail server: {_describe(error)}", is_final) from error
        try:
            smtp.send_message(message)
        except smtplib.SMTPRecipientsRefused as error:
            (code, reason), *_ = error.recipients.values()
            raise DeliveryFailed(f"{code} {reason.decode(errors='replace')}", code >= 500) from error
        except smtplib.SMTPResponseException as error:
            self._hang_up()
            raise DeliveryFailed(f"the mail server: {_describe(error)}", error.smtp_code >= 500) from error
        except (OSError, smtplib.SMTPException) as error:
            smtp.close()
            self._smtp = None
            raise NotReached(f"the mail server: {_describe(error)}") from error

    def write_mail(self, address: str, letter: Letter) -> EmailMessage:
        """The mail of a letter. Raises UsageError without a sender."""
        sender = self._require(SENDER, "alerts by mail need a sender")
        domain = parseaddr(sender)[1].rpartition("@")[2] or "localhost"
        message = EmailMessage()
        message["Subject"] = " ".join(letter.subject.split())
        message["From"], message["To"] = sender, address
        message["Date"] = format_datetime(datetime.now(UTC))
        message["Message-ID"] = f"<{letter.id}@{domain}>"
        message["Auto-Submitted"] = "auto-generated"
        message.set_content(letter.text)
        message.add_alternative(letter.html, subtype="html")
        return message

    def _connect(self) -> smtplib.SMTP:
        if self._smtp is not None:
            with suppress(OSError, smtplib.SMTPException):
                if self._smtp.noop()[0] == 250:
                    return self._smtp
            self._smtp.close()
            self._smtp = None
        address = self._require(MAIL, "alerts by mail need a server")
        unreadable = UsageError(f"cannot read {MAIL}: write smtp://user:password@host:587 or smtps://…")
        try:
            url = urlsplit(address)
            port = url.port
        except ValueError:
            raise unreadable from None
        options = parse_qs(url.query)
        if url.scheme not in ("smtp", "smtps") or not url.hostname:
            raise unreadable
        user, password = unquote(url.username or ""), unquote(url.password or "")
        if not (user + password).isascii():  # smtplib sends no others
            raise unreadable
        context = _read_authority(options.get("ca", [None])[0])
        if url.scheme == "smtps":
            smtp: smtplib.SMTP = smtplib.SMTP_SSL(
                url.hostname, port or 465, timeout=self._timeout, context=context
            )
        else:
            smtp = smtplib.SMTP(url.hostname, port or 587, timeout=self._timeout)
        try:
            if url.scheme == "smtp" and options.get("tls") != ["no"]:
                smtp.starttls(context=context)
            if user:
                smtp.login(user, password)
        except BaseException:
            smtp.close()
            raise
        self._smtp = smtp
        return smtp

    # Webhooks

    def _send_webhook(self, target: str, letter: Letter) -> None:
        secret = self._require(SECRET, "webhooks are signed with a secret")
        headers = {
            "Content-Type": "application/json",
            "User-Agent": "esr",
            SIGNATURE: sign(secret, letter.payload, int(datetime.now(UTC).timestamp())),
            KEY: letter.id,
            ATTEMPT: str(letter.attempt),
        }
        pool = urllib3.PoolManager(
            timeout=urllib3.Timeout(total=self._timeout), retries=False, cert_reqs="CERT_REQUIRED"
        )
        try:
            answer = pool.request(
                "POST", target, body=letter.payload, headers=headers, redirect=False, preload_content=False
            )
            status = int(answer.status)
            answer.close()
        except (urllib3.exceptions.HTTPError, OSError) as error:
            raise NotReached(redact(_describe(error))) from error
        finally:
            pool.clear()
        if not 200 <= status < 300:
            is_final = status < 500 and status not in _RETRIED
            raise DeliveryFailed(f"the receiver answered {status}", is_final)

    # Other services

    def _notify(self, target: str, letter: Letter) -> None:
        require("an alert by another service than mail and webhooks", "apprise")
        service = apprise.Apprise()
        if not service.add(target):
            raise DeliveryFailed("apprise does not know this address", is_final=True)
        if not service.notify(body=letter.text, title=letter.subject, body_format=apprise.NotifyFormat.TEXT):
            raise NotReached(f"{target.partition(':')[0]} did not take it")  # why is not known

    def _require(self, name: str, purpose: str) -> str:
        value = self._variables.get(name, "").strip()
        if not value:
            raise UsageError(f"{purpose}: set {name}")
        return value


def _name_receiver(target: str) -> str:
    """Who answers letters to a target: the mail server, the host of a webhook, or the target of a service."""
    scheme, _, rest = target.partition(":")
    if scheme == "mailto":
        return scheme
    return rest.lstrip("/").partition("/")[0] if scheme in ("http", "https") else target


def sign(secret: str, body: bytes, seconds: int) -> str:
    """The signature of a webhook: `t=` the time in seconds, `v1=` the HMAC-SHA256 of time, dot and body."""
    digest = hmac.new(secret.encode(), f"{seconds}.".encode() + body, hashlib.sha256).hexdigest()
    return f"t={seconds},v1={digest}"


def is_signed(secret: str, body: bytes, signature: str, now: float, tolerance: float = 300.0) -> bool:
    """Whether a webhook has this secret's signature, and one that is at most `tolerance` seconds old."""
    parts = dict(part.partition("=")[::2] for part in signature.split(","))
    seconds = parts.get("t", "")
    if not signature.isascii() or not seconds.isdigit() or len(seconds) > _SECONDS_DIGITS:
        return False
    if abs(now - int(seconds)) > tolerance:
        return False
    return hmac.compare_digest(sign(secret, body, int(seconds)), signature)


def _read_authority(path: str | None) -> ssl.SSLContext:
    """What servers are checked by: the certificates of a file, or those of this machine."""
    try:
        return ssl.create_default_context(cafile=path)
    except OSError as error:  # ssl.SSLError is one
        raise UsageError(
            f"cannot read the authority {path!r} of {MAIL}, a file of certificates (PEM): {_describe(error)}"
        ) from error


def _describe(error: BaseException) -> str:
    return to_one_line(error) or type(error).__name__
