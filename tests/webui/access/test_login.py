"""Logins of people by passwords, by a real provider of OpenID Connect, and by a proxy; their sessions."""

from __future__ import annotations

import hashlib
import json
import socket
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from contextlib import suppress
from http.cookies import Morsel, SimpleCookie
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.parse import parse_qs, urlencode, urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener, urlopen

import pytest
from flask.testing import FlaskClient
from itsdangerous import URLSafeTimedSerializer

import esr
from esr.access.grants import Grant, changing
from esr.errors import EsrError
from tests.support.runs import end_test, need
from tests.webui.access.conftest import MARK, SECRET, Caller, Server, text_of
from webui.access.guard import safe_next
from webui.access.login_limits import ATTEMPTS, PER_NAME

pytestmark = pytest.mark.slow

PASSWORD = "correct horse"
BASE = "https://localhost"
WHO = {"name", "kind", "mark", "at", "last_used", "id", "groups"}
"""What a session says of its person."""


@pytest.fixture
def people(server: Server) -> Server:
    need("argon2")
    server.add_person("ann", PASSWORD, "--index", "news", "--filter", 'source:"Sports Post"')
    server.add_person("bob", PASSWORD + "2")
    server.expire("bob", "2020")
    return server


@pytest.fixture
def client(people: Server, locations: dict[str, str]) -> FlaskClient:
    return people.app(locations, secret_file=people.secret()).test_client()


def open_form(client: FlaskClient, **arguments: str) -> str:
    """The token of the form of the login."""
    answer = client.get("/login", base_url=BASE, query_string=arguments)
    assert answer.status_code == 200
    page = answer.get_data(as_text=True)
    return page.partition('name="csrf" value="')[2].partition('"')[0]


def log_in(client: FlaskClient, name: str = "ann", password: str = PASSWORD, **form: str) -> Any:
    token = form.pop("csrf", None) or open_form(client)
    return client.post(
        "/login",
        base_url=BASE,
        data={"name": name, "password": password, "csrf": token, **form},
    )


def session_cookie(answer: Any) -> Morsel[str]:
    """The cookie of the session; a login also sets one of a known browser."""
    (cookie,) = (
        morsel
        for header in answer.headers.getlist("Set-Cookie")
        for morsel in SimpleCookie(header).values()
        if morsel.key == "__Host-esr"
    )
    return cookie


def status(client: FlaskClient, **arguments: str) -> int:
    return int(Caller(client, None)("/api/v1/search", q="storm", **arguments).status_code)


def test_an_address_that_is_not_utf_8_leads_to_no_login(client: FlaskClient) -> None:
    answer = client.get("/search", base_url=BASE, environ_overrides={"QUERY_STRING": "q=\xff"})
    assert answer.status_code == 400 and "not valid UTF-8" in answer.text


def test_somebody_logs_in_comes_back_searches_and_logs_out(client: FlaskClient) -> None:
    sent = client.get("/search?q=storm&k=3", base_url=BASE)
    assert (sent.status_code, sent.headers["Location"]) == (302, "/login?next=/search?q%3Dstorm%26k%3D3")
    back = log_in(client, next="/search?q=storm&k=3")
    assert (back.status_code, back.headers["Location"]) == (302, "/search?q=storm&k=3")
    cookie = session_cookie(back)
    assert (cookie["secure"], cookie["httponly"], cookie["samesite"], cookie["path"]) == (
        True,
        True,
        "Lax",
        "/",
    )
    assert cookie["expires"], "it outlives the browser"
    page = client.get("/search?q=storm", base_url=BASE)
    assert page.status_code == 200 and "Set-Cookie" not in page.headers
    assert '<a href="/login">ann</a>' in page.get_data(as_text=True)
    assert page.headers["Cache-Control"] == "private, no-store"
    assert MARK not in text_of(page)
    assert (status(client), status(client, index="other")) == (200, 403)
    own_page = client.get("/login", base_url=BASE).get_data(as_text=True)
    assert "<button>Log out</button>" in own_page and 'action="/password"' in own_page
    for form, cleared in (({}, '"cache"'), ({"forget": "1"}, '"cache", "storage"')):
        data = {"csrf": open_form(client), **form}
        left = client.post("/logout", base_url=BASE, data=data)
        assert (left.status_code, left.headers["Clear-Site-Data"]) == (302, cleared)
        assert status(client) == 401


def test_the_login_is_in_the_language_of_the_reader(client: FlaskClient) -> None:
    german = {"Accept-Language": "de"}
    page = client.get("/login", base_url=BASE, headers=german).text
    assert '<a href="/login">Anmelden</a>' in page
    form = {"csrf": open_form(client), "name": "ann", "password": "wrong"}
    answer = client.post("/login", base_url=BASE, data=form, headers=german)
    assert answer.status_code == 401 and "Der Name oder das Passwort ist falsch." in answer.text


def test_a_wrong_login_says_the_same_whatever_is_wrong(client: FlaskClient) -> None:
    token = open_form(client)
    wrong = (
        ("ann", "wrong"),
        ("ann", ""),
        ("nobody", PASSWORD),
        ("bob", PASSWORD + "2"),
        ("", ""),
        ("ann", "x" * 999),
    )
    for name, password in wrong:
        answer = log_in(client, name, password, csrf=token)
        assert answer.status_code == 401
        assert "The name or the password is wrong." in answer.get_data(as_text=True)
        assert status(client) == 401


def test_a_wrong_login_takes_one_comparison_of_the_same_cost_whatever_is_wrong(
    people: Server, locations: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from argon2 import PasswordHasher

    people.add("program")
    client = people.app(locations, secret_file=people.secret()).test_client()
    costs = list[str]()
    verify = PasswordHasher.verify

    def note(hasher: PasswordHasher, hash: str, password: str) -> bool:
        costs.append(hash.rpartition("$")[0].rpartition("$")[0])  # without the salt and the digest
        return verify(hasher, hash, password)

    monkeypatch.setattr(PasswordHasher, "verify", note)
    token = open_form(client)
    names = ("ann", "nobody", "bob", "program", "anybody", "*", "\0", "")
    for name in names:
        assert log_in(client, name, "wrong", csrf=token).status_code == 401
    assert len(costs) == len(names) and len(set(costs)) == 1
    assert costs[0].startswith("$argon2id$")


def test_a_session_that_somebody_else_began_is_not_logged_in_by_a_login(client: FlaskClient) -> None:
    def cookie() -> str:
        stored = client.get_cookie("__Host-esr")
        assert stored is not None
        return stored.value

    def is_logged_in(value: str) -> bool:
        other = client.application.test_client()
        other.set_cookie("__Host-esr", value, domain="localhost", secure=True)
        return status(other) == 200

    token, planted = open_form(client), cookie()
    log_in(client)
    first = cookie()
    assert first != planted and not is_logged_in(planted) and is_logged_in(first)
    log_in(client)
    assert not is_logged_in(first) and is_logged_in(cookie())  # a login ends the session before it
    first = cookie()
    assert open_form(client) != token  # so that forms of the stranger are refused too
    log_in(client, "nobody", "wrong")
    assert status(client) == 200  # a wrong login ends no session
    client.post("/logout", base_url=BASE, data={"csrf": open_form(client)})
    assert client.get_cookie("__Host-esr") is None and status(client) == 401
    assert not is_logged_in(first)  # nobody goes on with a copy of the cookie


def test_a_wrong_password_keeps_the_name_in_its_field(client: FlaskClient) -> None:
    answer = log_in(client, 'ann"<b>', "wrong").get_data(as_text=True)
    assert 'value="ann&#34;&lt;b&gt;"' in answer and 'value="wrong"' not in answer
    assert 'value="" autocomplete="username"' in client.get("/login", base_url=BASE).get_data(as_text=True)


def test_logins_are_throttled_by_address_and_by_name(
    people: Server, locations: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # Argon2 is slow by design; how many logins may be tried does not depend on it.
    monkeypatch.setattr("esr.access.grants.Passwords.is_right", lambda *_: False)
    client = people.app(locations, secret_file=people.secret()).test_client()
    token = open_form(client)
    tries = [log_in(client, password="wrong", csrf=token) for _ in range(ATTEMPTS // PER_NAME + 1)]
    assert [each.status_code for each in tries] == [401] * (ATTEMPTS // PER_NAME) + [429]
    assert int(tries[-1].headers["Retry-After"]) > 200
    assert log_in(client, csrf=token).status_code == 429  # not even with the right password
    others = [log_in(client, f"x{n}", csrf=token).status_code for n in range(ATTEMPTS)]
    assert others[-1] == 429


def test_a_form_of_another_site_logs_nobody_in_or_out(client: FlaskClient) -> None:
    for token in ("", "x", open_form(client)[:-1], "é"):
        answer = client.post(
            "/login", base_url=BASE, data={"name": "ann", "password": PASSWORD, "csrf": token}
        )
        assert answer.status_code == 403
    log_in(client)
    assert client.post("/logout", base_url=BASE).status_code == 403
    assert client.get("/logout", base_url=BASE).status_code == 405
    assert status(client) == 200


def test_a_session_that_was_changed_forged_or_is_too_old_is_none(
    people: Server, locations: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    app = people.app(locations, secret_file=people.secret())
    client = app.test_client()
    good = session_cookie(log_in(client)).value
    assert status(client) == 200

    def with_cookie(value: str) -> int:
        other = app.test_client()
        other.set_cookie("__Host-esr", value, domain="localhost", secure=True)
        return status(other)

    assert with_cookie(good) == 200
    head, middle, signature = good.rsplit(".", 2)
    for bad in (
        good[:-2], good + "x", f"{head}.{middle}.", f".{middle}.{signature}", "", "e30.e30.e30",
        head[:-1] + ("A" if head[-1] != "A" else "B") + f".{middle}.{signature}",
    ):  # fmt: skip
        assert with_cookie(bad) == 401, bad
    serializer = app.session_interface.get_signing_serializer(app)  # type: ignore[attr-defined]
    who = serializer.loads(good)["who"]
    for change in (
        *({"name": "bob"}, {"kind": "elsewhere"}, {"mark": "x"}, {"id": 1}, {"more": 1, "name": None}),
        *({"at": who["at"] + 999}, {"at": 0}, {"last_used": 0}),
    ):
        assert with_cookie(serializer.dumps({"who": {**who, **change}})) == 401, change
    for digest in (hashlib.sha1, hashlib.sha256):
        options = {"key_derivation": "hmac", "digest_method": digest}
        for secret in ("x" * 40, SECRET):
            signed = URLSafeTimedSerializer(secret, salt="cookie-session", signer_kwargs=options)
            is_good = secret == SECRET and digest is hashlib.sha256
            assert with_cookie(signed.dumps({"who": who})) == (200 if is_good else 401)


def test_a_session_ends_after_its_time_and_earlier_if_nothing_is_asked(
    people: Server, locations: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    client = people.app(locations, secret_file=people.secret()).test_client()
    start, hour = int(time.time()), 3_600
    now = start
    monkeypatch.setattr("webui.access.sessions.time.time", lambda: now)
    log_in(client)
    kept = list[bool]()
    for seconds in (0, 4 * hour, 8 * hour, 12 * hour, 12 * hour + 1):
        now = start + seconds
        kept.append(status(client) == 200)
    assert kept == [True] * 4 + [False], "each is within four hours of the one before"
    log_in(client)
    now += 4 * hour + 1
    assert status(client) == 401


def test_people_change_their_password_and_nobody_changes_that_of_others(
    people: Server, locations: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    app = people.app(locations, secret_file=people.secret())
    client, other = app.test_client(), app.test_client()
    log_in(client)
    log_in(other)

    def change(client: FlaskClient, old: str, new: str, **form: str) -> Any:
        data = {"csrf": open_form(client), "password": old, "new": new, **form}
        return client.post("/password", base_url=BASE, data=data)

    for refused, expected in (
        (change(app.test_client(), PASSWORD, "wet chalk today"), 401),  # nobody is logged in
        (change(client, "wrong", "wet chalk today"), 403),
        (change(client, PASSWORD, "wet chalk today", csrf="x"), 403),
        (change(client, PASSWORD, "iloveyou12"), 400),
        (change(client, PASSWORD, "short"), 400),
    ):
        assert refused.status_code == expected
    assert (status(client), status(other)) == (200, 200)
    assert change(client, PASSWORD, "wet chalk today", name="bob").status_code == 302
    assert (status(client), status(other)) == (200, 401)  # the other browser is logged out
    assert log_in(other, password=PASSWORD).status_code == 401
    assert log_in(other, password="wet chalk today").status_code == 302
    assert status(other, index="other") == 403  # the rest of the grant is as it was

    def refuse(path: Path) -> None:
        raise EsrError(f"cannot write {path}: read-only file system")

    monkeypatch.setattr("esr.access.grants.changing", refuse)
    refused = change(client, "wet chalk today", "dry chalk today")
    assert refused.status_code == 503 and str(people.file) not in text_of(refused)


def test_a_new_password_and_a_revoked_person_end_sessions(people: Server, locations: dict[str, str]) -> None:
    client = people.app(locations, secret_file=people.secret()).test_client()
    log_in(client)
    assert status(client) == 200
    people.add_person("ann", "another horse", "--replace")
    assert status(client) == 401
    log_in(client, password="another horse")
    assert status(client, index="other") == 200
    people.expire("ann", "2020")
    assert status(client) == 401
    people.expire("ann", "")
    assert status(client) == 200
    with changing(people.file) as grants:
        del grants["ann"]
    assert status(client) == 401


def test_a_file_of_grants_that_is_damaged_is_told_to_people_who_are_logged_in(
    people: Server, locations: dict[str, str]
) -> None:
    client = people.app(locations, secret_file=people.secret()).test_client()
    log_in(client)
    people.file.write_text("{")
    answer = client.get("/search?q=storm", base_url=BASE)
    assert answer.status_code == 503 and "cannot read who may search" in answer.text
    assert "Log in" in answer.text and ">ann<" not in answer.text


def test_a_login_leads_to_no_other_site(client: FlaskClient) -> None:
    elsewhere = [
        *(
            "//evil.example",
            "/\\evil.example",
            "https://evil.example",
            "javascript:alert(1)",
            "\\\\evil.example",
        ),
        *(
            "/\t/evil.example",
            "/\n/evil.example",
            "evil.example",
            "",
            " /search",
            "///evil.example",
            "/" + "x" * 2_000,
        ),
    ]
    with client.application.test_request_context():
        assert {safe_next(address) for address in elsewhere} == {"/"}
        assert safe_next("/search?q=a//b") == "/search?q=a//b"
    assert log_in(client, next=elsewhere[0]).headers["Location"] == "/"


def test_only_pages_that_a_browser_opens_lead_to_the_login(client: FlaskClient) -> None:
    for method, path, expected in (
        ("GET", "/search?q=storm", 302),
        ("HEAD", "/search?q=storm", 302),
        ("POST", "/batch", 401),
        ("GET", "/metrics", 401),
        ("GET", "/api/v1/search?q=storm", 401),
    ):
        assert client.open(path, method=method, base_url=BASE).status_code == expected, (method, path)


def test_somebody_with_the_longest_name_logs_in(people: Server, locations: dict[str, str]) -> None:
    people.add_person("n" * 200, PASSWORD)
    client = people.app(locations, secret_file=people.secret()).test_client()
    assert log_in(client, "n" * 200).status_code == 302


def test_a_program_without_a_key_is_told_how_it_may_ask(
    server: Server, locations: dict[str, str], client: FlaskClient
) -> None:
    server.add("program")
    keys_alone = server.app(locations).test_client()
    for asking, way in ((client, "Log in, or send a key"), (keys_alone, "Send a key")):
        answer = asking.get("/api/v1/search?q=storm")
        assert answer.status_code == 401 and answer.headers["WWW-Authenticate"] == "Bearer"
        assert f'"{way} as the header Authorization: Bearer KEY' in answer.text


# A proxy that authenticates


def test_the_header_of_a_proxy_is_believed_from_its_address_only(
    server: Server, locations: dict[str, str]
) -> None:
    server.add("ann@example.org", "--kind", "elsewhere", "--index", "news")
    app = server.app(locations, user_header="X-Forwarded-User", user_header_from="10.1.0.0/16 ::1", proxies=1)
    client = app.test_client()

    def get(peer: str, name: str | list[str], **headers: str) -> int:
        given = [("X-Forwarded-User", each) for each in ([name] if isinstance(name, str) else name)]
        answer = client.get(
            "/api/v1/search?q=storm",
            headers=[*given, *headers.items()],
            environ_base={"REMOTE_ADDR": peer},
        )
        return answer.status_code

    assert get("10.1.2.3", "ann@example.org") == 200
    assert get("::1", "ann@example.org") == 200
    assert get("::ffff:10.1.2.3", "ann@example.org") == 200
    assert get("10.2.2.3", "ann@example.org") == 401
    for peer in ("203.0.113.9", "", "unix:"):  # the address that a client claims is not that of the proxy
        assert get(peer, "ann@example.org", **{"X-Forwarded-For": "10.1.2.3"}) == 401
    assert get("10.1.2.3", "ann@example.org", **{"X-Forwarded-For": "203.0.113.9"}) == 200
    assert get("10.1.2.3", "mallory") == 403
    assert get("10.1.2.3", ["mallory", "ann@example.org"]) == 403
    assert get("10.1.2.3", "") == 401
    assert get("", "ann@example.org") == get("unix:", "ann@example.org") == 401  # a peer without an address


def test_the_groups_that_a_proxy_names_share_dossiers(server: Server, locations: dict[str, str]) -> None:
    server.add("*", "--kind", "elsewhere", "--group", "all")
    settings = {"user_header": "X-User", "user_header_from": "10.0.0.0/8", "groups_header": "X-Groups"}
    client = server.app(locations, desk=str(server.file.parent / "desk"), **settings).test_client()
    with esr.open_dossiers(server.file.parent / "desk", account="bob") as bob:
        for group in ("politics", "all", "sports", "*"):
            bob.share(bob.create(group).id, group, "reader", group=True)

    def names(address: str, groups: str) -> list[str]:
        headers = {"X-User": "ann", "X-Groups": groups}
        answer = client.get("/api/v1/dossiers", headers=headers, environ_base={"REMOTE_ADDR": address})
        return sorted(each["name"] for each in answer.get_json().get("dossiers", ()))

    assert names("10.0.0.1", "politics, other") == ["*", "all", "politics"]
    assert names("10.0.0.1", "") == ["*", "all"]
    assert names("192.0.2.1", "politics") == []  # not the proxy


# A provider of OpenID Connect


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(scope="module")
def provider() -> Iterator[str]:
    """A provider in a process of its own, which knows Ann, Bob with an unverified address, and Eve."""
    need("authlib")
    if find_spec("oidc_provider_mock") is None:  # its import warns
        end_test("needs oidc-provider-mock: pip install -e '.[dev]'")
    port = free_port()
    known = [
        {"sub": "1", "email": "ann@example.org", "email_verified": True, "groups": ["politics", "*"]},
        {"sub": "2", "email": "ann@example.org", "email_verified": False},
        {"sub": "3", "email": "eve@example.org", "email_verified": True},
        {"sub": "4", "email": "", "email_verified": True},
        {"sub": "5", "email": ["ann@example.org"], "email_verified": True},
    ]
    command = [sys.executable, "-m", "oidc_provider_mock", "--port", str(port)]
    process = subprocess.Popen(
        [*command, *(part for user in known for part in ("--user-claims", json.dumps(user)))],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    issuer = f"http://127.0.0.1:{port}"
    try:
        for _ in range(600):
            with suppress(OSError):
                urlopen(f"{issuer}/.well-known/openid-configuration", timeout=5).close()
                break
            assert process.poll() is None
            time.sleep(0.1)
        yield issuer
    finally:
        process.terminate()
        process.wait(10)


def authorize(address: str, sub: str, **form: str) -> str:
    """Choose an account at the provider, and return the address that the browser is sent to."""

    class NoRedirect(HTTPRedirectHandler):
        def redirect_request(self, *args: Any, **kwargs: Any) -> None:
            return None

    data = urlencode({"sub": sub, **form}).encode()
    with pytest.raises(HTTPError) as redirected:
        build_opener(NoRedirect).open(Request(address, data), timeout=30)
    assert redirected.value.code == 302
    redirected.value.close()
    return str(redirected.value.headers["Location"])


@pytest.fixture
def elsewhere(server: Server, locations: dict[str, str], provider: str) -> FlaskClient:
    server.add("ann@example.org", "--kind", "elsewhere", "--filter", 'source:"Sports Post"')
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Authlib says on import what it will remove
        app = server.app(
            locations,
            secret_file=server.secret(),
            oidc_issuer=provider,
            oidc_client="esr",
            oidc_secret_file=server.secret("oidc"),
            plain_http=1,
            desk=str(server.file.parent / "desk"),
        )
    return app.test_client()


def begin(client: FlaskClient, next: str = "/search?q=storm") -> str:
    """The address of the provider to which the browser is sent."""
    sent = client.get("/login/openid", query_string={"next": next})
    assert sent.status_code == 302
    return str(sent.headers["Location"])


def finish(client: FlaskClient, address: str) -> Any:
    parts = urlsplit(address)
    assert parts.path == "/login/openid/back"
    return client.get(f"{parts.path}?{parts.query}")


@pytest.mark.slow
def test_somebody_logs_in_at_a_provider(elsewhere: FlaskClient) -> None:
    assert "Log in at your organization" in elsewhere.get("/login").get_data(as_text=True)
    asked = begin(elsewhere)
    query = parse_qs(urlsplit(asked).query)
    assert query["code_challenge_method"] == ["S256"]
    assert {"state", "nonce", "code_challenge"} <= query.keys()
    back = finish(elsewhere, authorize(asked, "1"))
    assert (back.status_code, back.headers["Location"]) == (302, "/search?q=storm")
    found = elsewhere.get("/search?q=storm")
    assert '<a href="/login">ann@example.org</a>' in found.get_data(as_text=True)
    assert MARK not in text_of(found)
    with elsewhere.session_transaction() as kept:  # no token of the provider is kept
        assert set(kept) == {"_permanent", "who"} and set(kept["who"]) == WHO
    assert 'action="/password"' not in elsewhere.get("/login").get_data(as_text=True)


@pytest.mark.slow
def test_the_groups_of_a_provider_share_dossiers(elsewhere: FlaskClient, server: Server) -> None:
    with esr.open_dossiers(server.file.parent / "desk", account="bob") as bob:
        for group in ("politics", "sports"):
            bob.share(bob.create(f"of {group}").id, group, "writer", group=True)
    finish(elsewhere, authorize(begin(elsewhere), "1"))
    assert [each["name"] for each in elsewhere.get("/api/v1/dossiers").get_json()["dossiers"]] == [
        "of politics"
    ]
    made = elsewhere.post("/api/v1/dossiers", json={"name": "Mine"})
    assert made.get_json()["owner"] == "ann@example.org"
    form = elsewhere.post("/api/v1/dossiers", data='{"name": "Forged"}', content_type="text/plain")
    assert form.status_code == 415  # what a page of another site may send without asking first


@pytest.mark.slow
def test_a_login_at_a_provider_that_was_tampered_with_is_refused(
    elsewhere: FlaskClient, server: Server
) -> None:
    asked = begin(elsewhere)
    answer = authorize(asked, "1")
    assert finish(elsewhere, answer.replace("state=", "state=x")).status_code == 401
    asked = begin(elsewhere)
    answer = authorize(asked, "1")
    stranger = elsewhere.application.test_client()  # the answer of somebody else's login
    assert finish(stranger, answer).status_code == 401
    assert finish(elsewhere, answer.replace("code=", "code=x")).status_code == 401
    assert finish(elsewhere, answer).status_code == 401  # each state is for one answer
    assert finish(elsewhere, authorize(begin(elsewhere), "1", action="deny")).status_code == 401
    with changing(server.file) as grants:
        grants["*"] = Grant("*", "elsewhere")
    for sub in ("4", "5"):  # somebody without a name, where everybody with one may search
        assert finish(elsewhere, authorize(begin(elsewhere), sub)).status_code == 403
    with changing(server.file) as grants:
        del grants["*"]
    for sub in ("2", "3"):  # an address that is not verified; somebody without a grant
        assert finish(elsewhere, authorize(begin(elsewhere), sub)).status_code == 403
    assert elsewhere.get("/api/v1/models").status_code == 401
    other = begin(elsewhere, "//evil.example")
    assert finish(elsewhere, authorize(other, "1")).headers["Location"] == "/"


@pytest.mark.slow
def test_a_provider_that_does_not_answer_is_told(server: Server, locations: dict[str, str]) -> None:
    need("authlib")
    server.add("*", "--kind", "elsewhere")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        app = server.app(
            locations,
            secret_file=server.secret(),
            oidc_issuer=f"http://127.0.0.1:{free_port()}",
            oidc_client="esr",
            oidc_secret_file=server.secret("oidc"),
        )
    answer = app.test_client().get("/login/openid")
    assert answer.status_code == 503
    assert SECRET not in text_of(answer)
    assert not list(Path(server.file.parent).glob("*.new"))
