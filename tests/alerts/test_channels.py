"""Letters sent to a real mail server and a real webhook, also ones that fail, are slow or refuse."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from aiosmtpd.smtp import AuthResult
from msgspec.structs import replace

from esr.alerts.channels import (
    ATTEMPT,
    KEY,
    MAIL,
    SECRET,
    SENDER,
    SIGNATURE,
    Channels,
    DeliveryFailed,
    check_target,
    is_signed,
    sign,
)
from esr.alerts.letters import write_letter
from esr.errors import UsageError
from tests.alerts.receivers import Hook, Mailbox, mail_server, secure_mail_server, webhook
from tests.support.certificates import make_certificate

HIT = {
    "document_id": "d",
    "text": "A storm <b>came</b>.",
    "previous": "Before.",
    "next": None,
    "title": "Ströme & Stürme",
    "source": "RTE",
    "date": "2017-03-01T10:00:00Z",
    "url": "javascript:alert(1)",
    "language": "en",
}
LETTER = write_letter(
    "0123", "s1", "Storms\nand floods", [HIT], page="https://esr.example.org/", index="news"
)
TO = "mailto:ann@example.org"


@pytest.fixture
def mail() -> Iterator[tuple[Mailbox, Channels]]:
    with (
        mail_server() as (mailbox, address),
        Channels({MAIL: address, SENDER: "esr <esr@example.org>"}) as channels,
    ):
        yield mailbox, channels


@pytest.fixture
def hook() -> Iterator[tuple[Hook, str, Channels]]:
    with webhook() as (received, address), Channels({SECRET: "secret"}, timeout=2.0) as channels:
        yield received, address, channels


def test_a_mail_has_a_text_and_html_and_its_id(mail: tuple[Mailbox, Channels]) -> None:
    mailbox, channels = mail
    channels.send(TO, LETTER)
    channels.send(TO, LETTER)
    first, second = mailbox.mails
    assert first["Message-ID"] == second["Message-ID"] == "<0123@example.org>"
    assert first["Subject"] == "Storms and floods: 1 new sentence" and first["To"] == "ann@example.org"
    assert first["Auto-Submitted"] == "auto-generated"
    text, html = first.get_body(("plain",)), first.get_body(("html",))
    assert text is not None and html is not None
    assert "> A storm <b>came</b>." in text.get_content() and "… Before." in text.get_content()
    content = html.get_content()
    assert "&lt;b&gt;came" in content and "Ströme &amp; Stürme" in content and "javascript:" not in content
    assert "https://esr.example.org/sentence?id=d&amp;says=" in content


def test_a_subject_is_one_line_whatever_a_search_is_called(mail: tuple[Mailbox, Channels]) -> None:
    mailbox, channels = mail
    channels.send(TO, replace(LETTER, subject="Storms\r\nBcc: eve@example.org\n\nA body"))
    (sent,) = mailbox.mails
    assert sent["Subject"] == "Storms Bcc: eve@example.org A body" and sent["Bcc"] is None


@pytest.mark.parametrize(
    ("answer", "is_final"), [("451 try again later", False), ("500 no", True), ("421 closing", False)]
)
def test_a_mail_server_that_refuses_a_mail_now_or_for_good(
    mail: tuple[Mailbox, Channels], answer: str, is_final: bool
) -> None:
    mailbox, channels = mail
    mailbox.answers = [answer]
    with pytest.raises(DeliveryFailed) as failed:
        channels.send(TO, LETTER)
    assert failed.value.is_final == is_final
    channels.send(TO, LETTER)
    assert len(mailbox.mails) == 1


def test_an_unknown_recipient_fails_for_good_and_others_get_theirs(mail: tuple[Mailbox, Channels]) -> None:
    mailbox, channels = mail
    mailbox.refused = {"ann@example.org"}
    with pytest.raises(DeliveryFailed, match="550 there is nobody") as failed:
        channels.send(TO, LETTER)
    assert failed.value.is_final
    channels.send("mailto:bob@example.org", LETTER)
    assert [each["To"] for each in mailbox.mails] == ["bob@example.org"]


def test_no_password_and_no_mail_is_sent_without_tls() -> None:
    with mail_server() as (mailbox, address):
        variables = {MAIL: address.partition("?")[0], SENDER: "esr@example.org"}
        with Channels(variables) as channels, pytest.raises(DeliveryFailed, match="STARTTLS"):
            channels.send(TO, LETTER)
        assert not mailbox.mails


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["smtp", "smtps"])
def test_a_mail_is_sent_over_tls_with_a_login_to_a_server_of_an_own_authority(
    scheme: str, tmp_path: Path
) -> None:
    authority = tmp_path / "authority.pem"
    context = make_certificate("localhost", authority)
    with secure_mail_server(context, scheme) as (mailbox, place):

        def send(login: str, ca: str) -> None:
            variables = {MAIL: f"{scheme}://{login}@{place}{ca}", SENDER: "esr@example.org"}
            with Channels(variables) as channels:
                channels.send(TO, LETTER)

        right = f"?ca={authority}"
        send("esr:p%40ss%3Aword", right)
        assert [each["To"] for each in mailbox.mails] == ["ann@example.org"]
        with pytest.raises(DeliveryFailed, match="535") as refused:
            send("esr:wrong", right)
        assert refused.value.is_final, "the same password would be refused again"
        with pytest.raises(DeliveryFailed, match="certificate") as unknown:
            send("esr:p%40ss%3Aword", "")
        assert not unknown.value.is_final
        with pytest.raises(UsageError, match=r"nowhere\.pem"):
            send("esr:p%40ss%3Aword", f"?ca={tmp_path}/nowhere.pem")
        assert len(mailbox.mails) == 1


@pytest.mark.parametrize(
    ("answer", "is_final"), [("454 4.7.0 try again later", False), ("535 5.7.8 it is wrong", True)]
)
def test_a_mail_server_that_refuses_a_login_now_or_for_good(answer: str, is_final: bool) -> None:
    refusal = AuthResult(success=False, handled=False, message=answer)
    with mail_server(authenticator=lambda *_: refusal, auth_require_tls=False) as (_, address):
        variables = {MAIL: address.replace("://", "://esr:word@"), SENDER: "esr@example.org"}
        with Channels(variables) as channels, pytest.raises(DeliveryFailed, match=answer[:3]) as failed:
            channels.send(TO, LETTER)
    assert failed.value.is_final == is_final


def test_a_mail_server_that_does_not_answer_is_given_up() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        variables = {MAIL: f"smtp://127.0.0.1:{silent.getsockname()[1]}?tls=no", SENDER: "esr@example.org"}
        with Channels(variables, timeout=0.2) as channels, pytest.raises(DeliveryFailed) as failed:
            channels.send(TO, LETTER)
    assert not failed.value.is_final
    with Channels(variables) as channels, pytest.raises(DeliveryFailed, match="refused"):
        channels.send(TO, LETTER)


def test_what_is_not_set_up_is_an_error_that_names_the_variable() -> None:
    with Channels({}) as channels:
        for target, name in ((TO, SENDER), ("https://example.org/hook", SECRET)):
            with pytest.raises(UsageError, match=name):
                channels.send(target, LETTER)


@pytest.mark.parametrize("address", ["smtp://mail.example:post", "smtps://[mail", "imap://mail.example"])
def test_a_mail_server_that_cannot_be_read_is_an_error_that_names_the_variable(address: str) -> None:
    variables = {MAIL: address, SENDER: "esr@example.org"}
    with Channels(variables) as channels, pytest.raises(UsageError, match=f"cannot read {MAIL}"):
        channels.send(TO, LETTER)


def test_a_password_that_cannot_be_sent_is_an_error() -> None:
    with mail_server() as (_, address):
        variables = {MAIL: address.replace("://", "://ann:l%C3%B6sung@"), SENDER: "esr@example.org"}
        with Channels(variables) as channels, pytest.raises(UsageError, match="cannot read"):
            channels.send(TO, LETTER)


@pytest.mark.parametrize("signature", ["t=1,v1=é", "t=²,v1=a", f"t={'9' * 5_000},v1=a", "", "t=,v1="])
def test_a_signature_that_nobody_made_is_refused(signature: str) -> None:
    assert not is_signed("secret", b"{}", signature, 1.0)


def test_a_webhook_is_signed_and_has_its_id(hook: tuple[Hook, str, Channels]) -> None:
    received, address, channels = hook
    channels.send(address, LETTER)
    (posted,) = received.posted
    assert posted.headers[KEY] == posted.json["id"] == "0123" and posted.headers[ATTEMPT] == "1"
    signature = posted.headers[SIGNATURE]
    assert is_signed("secret", posted.body, signature, time.time())
    assert not is_signed("secret", posted.body + b" ", signature, time.time())
    assert not is_signed("another", posted.body, signature, time.time())
    assert not is_signed("secret", posted.body, signature, time.time() + 1_000), (
        "an old one that is sent again"
    )
    assert not is_signed("secret", posted.body, sign("secret", posted.body, 1), time.time())
    made = sign("secret", posted.body, 1_000)
    assert [is_signed("secret", posted.body, made, now) for now in (699, 700, 1_300, 1_301)] == [
        *(False, True),
        *(True, False),
    ]
    assert posted.json["items"][0]["text"] == HIT["text"] and posted.json["name"] == "Storms\nand floods"


@pytest.mark.parametrize(
    ("is_final", "statuses"),
    [
        (False, [500, 503, 408, 409, 423, 425, 429]),
        (True, [302, 300, 400, 407, 410, 422, 424, 426, 428, 430, 499]),
    ],
)
def test_a_webhook_that_refuses_now_or_for_good(
    hook: tuple[Hook, str, Channels], is_final: bool, statuses: list[int]
) -> None:
    received, address, channels = hook
    received.statuses = [*statuses, 204]
    for status in statuses:
        with pytest.raises(DeliveryFailed, match=str(status)) as failed:
            channels.send(address, LETTER)
        assert failed.value.is_final == is_final, status
    channels.send(address, LETTER)
    assert len(received.posted) == len(statuses) + 1, "redirects are not followed"


@pytest.mark.parametrize(("scheme", "usual"), [("smtp", 587), ("smtps", 465)])
def test_a_mail_server_is_asked_at_the_usual_port(
    monkeypatch: pytest.MonkeyPatch, scheme: str, usual: int
) -> None:
    asked = []

    def refuse(host: str, port: int, **options: object) -> None:
        asked.append((host, port))
        raise OSError("refused")

    monkeypatch.setattr("smtplib.SMTP" if scheme == "smtp" else "smtplib.SMTP_SSL", refuse)
    for address in (f"{scheme}://mail.example", f"{scheme}://mail.example:2525"):
        variables = {MAIL: address, SENDER: "esr@example.org"}
        with Channels(variables) as channels, pytest.raises(DeliveryFailed, match="refused"):
            channels.send(TO, LETTER)
    assert asked == [("mail.example", usual), ("mail.example", 2525)]


def test_a_webhook_that_is_too_slow_or_gone_is_tried_again(hook: tuple[Hook, str, Channels]) -> None:
    received, address, _ = hook
    received.slow = 0.5
    with Channels({SECRET: "secret"}, timeout=0.1) as channels, pytest.raises(DeliveryFailed) as failed:
        channels.send(address, LETTER)
    assert not failed.value.is_final
    with Channels({SECRET: "secret"}) as channels, pytest.raises(DeliveryFailed) as failed:
        channels.send("http://127.0.0.1:1/hook", LETTER)
    assert not failed.value.is_final


def test_a_receiver_that_gives_no_answer_holds_up_three_letters_of_a_run_and_no_other_receiver(
    hook: tuple[Hook, str, Channels],
) -> None:
    received, address, _ = hook
    received.slow = 0.5
    with webhook() as (other, elsewhere), Channels({SECRET: "secret"}, timeout=0.1) as channels:
        for n in range(6):
            with pytest.raises(DeliveryFailed) as failed:
                channels.send(f"{address}/{n}", LETTER)
            assert not failed.value.is_final
            channels.send(elsewhere, LETTER)
        assert (len(received.posted), len(other.posted)) == (3, 6)
        assert "not tried in this run" in str(failed.value)
        channels.close()
        received.slow = 0.0
        channels.send(address, LETTER)
    assert len(received.posted) == 4


def test_a_mail_server_that_is_away_is_asked_three_times_in_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def refuse(host: str, port: int, **options: object) -> None:
        asked.append(host)
        raise TimeoutError("timed out")

    monkeypatch.setattr("smtplib.SMTP", refuse)
    with Channels({MAIL: "smtp://mail.example", SENDER: "esr@example.org"}) as channels:
        for n in range(6):
            with pytest.raises(DeliveryFailed):
                channels.send(f"mailto:{n}@example.org", LETTER)
    assert len(asked) == 3


def test_apprise_reaches_other_services(hook: tuple[Hook, str, Channels]) -> None:
    received, address, channels = hook
    target = address.replace("http://", "json://")
    channels.send(target, LETTER)
    assert "A storm" in received.posted[0].json["message"]
    received.statuses = [500]
    with pytest.raises(DeliveryFailed, match="json did not take it"):
        channels.send(target, LETTER)


def test_a_webhook_with_an_unfinished_address_is_refused() -> None:
    for target in ("https://[::1/hook", "http://user:secret@[x/", "https:///hook"):
        with pytest.raises(UsageError, match="has no host") as refused:
            check_target(target)
        assert "secret" not in str(refused.value)
