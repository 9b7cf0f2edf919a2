"""Guessing of passwords is limited, and nobody can lock somebody else out."""

from __future__ import annotations

import logging
from functools import partial
from http.cookies import SimpleCookie
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.exceptions import TooManyRequests

from tests.support.runs import need
from tests.webui.access.conftest import Server
from tests.webui.access.test_login import BASE, open_form
from webui.access.login_limits import ATTEMPTS, PER_NAME, RESERVED, LoginLimits
from webui.running.rate_limit import SlidingWindow

pytestmark = pytest.mark.slow

RIGHT, WRONG = "correct horse", "wrong horse"


@pytest.fixture
def app(server: Server, locations: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Flask:
    need("argon2")
    server.add_person("ann", RIGHT)
    server.add_person("10.0.0.4", RIGHT)
    # Argon2 is slow by design; how many logins may be tried does not depend on it.
    monkeypatch.setattr(
        "esr.access.grants.Passwords.is_right", lambda _, grant, text: bool(grant) and text == RIGHT
    )
    return server.app(locations, secret_file=server.secret())


def try_login(client: FlaskClient, name: str, password: str, address: str = "10.0.0.1") -> Any:
    data = {"name": name, "password": password, "csrf": open_form(client)}
    return client.post("/login", base_url=BASE, data=data, environ_base={"REMOTE_ADDR": address})


ATTACKER = "10.1.0.0"


def attack(app: Flask, name: str) -> None:
    """Try a name from ATTACKER and others, until it has been tried too often and they may not go on."""
    for n in range(PER_NAME + 1):
        client = app.test_client()
        for _ in range(ATTEMPTS // PER_NAME + 1):
            last = try_login(client, name, WRONG, f"10.1.0.{n}").status_code
        assert last == 429


def test_a_name_that_looks_like_an_address_locks_no_address_out(app: Flask) -> None:
    attack(app, "10.0.0.4")
    assert try_login(app.test_client(), "ann", RIGHT, "10.0.0.4").status_code == 302


def test_strangers_do_not_lock_a_person_out_of_their_own_browser(app: Flask) -> None:
    own, new = app.test_client(), app.test_client()
    assert try_login(own, "ann", RIGHT, ATTACKER).status_code == 302
    attack(app, "ann")
    assert try_login(new, "ann", RIGHT, ATTACKER).status_code == 429
    for _ in range(3):
        own.post("/logout", base_url=BASE, data={"csrf": open_form(own)})
        assert try_login(own, "ann", RIGHT, ATTACKER).status_code == 302


def test_strangers_at_other_addresses_do_not_lock_a_new_browser_out(app: Flask) -> None:
    attack(app, "ann")
    for address in ("10.0.0.9", "10.1.0.9", "2001:db8:1:1::1"):
        tries = [
            try_login(app.test_client(), "ann", password, address).status_code
            for password in (*[WRONG] * (RESERVED - 1), RIGHT, WRONG, RIGHT)
        ]
        assert tries == [401] * (RESERVED - 1) + [302, 401, 429]
    # One provider gives a customer many networks of /64: those of a /48 share what is reserved.
    tries = [
        try_login(app.test_client(), "ann", WRONG, f"2001:db8:2:{n}::1").status_code
        for n in ("0", "7fff", "8000", "ffff")
    ]
    assert tries == [401] * RESERVED + [429]
    assert try_login(app.test_client(), "ann", WRONG, "2001:db8:3::1").status_code == 401


def test_others_at_the_same_address_do_not_lock_a_known_browser_out(app: Flask) -> None:
    own, other = app.test_client(), app.test_client()
    assert try_login(own, "ann", RIGHT).status_code == 302
    assert [try_login(other, f"x{n}", WRONG).status_code for n in range(ATTEMPTS + 1)][-1] == 429
    assert try_login(own, "ann", RIGHT).status_code == 302


def test_right_passwords_and_refused_attempts_are_not_counted(app: Flask) -> None:
    for _ in range(ATTEMPTS + 1):  # people behind one address
        assert try_login(app.test_client(), "ann", RIGHT).status_code == 302
    client = app.test_client()
    for _ in range(2 * ATTEMPTS):  # all but the first ones are refused
        try_login(client, "ann", WRONG, "10.0.0.7")
    assert try_login(app.test_client(), "ann", RIGHT, "10.0.0.8").status_code == 302


def test_attempts_that_are_refused_for_their_names_do_not_lock_an_address_out() -> None:
    limits, app = LoginLimits(":memory:", "secret", is_secure=False), Flask(__name__)

    def is_allowed(name: str, address: str) -> bool:
        with app.test_request_context(environ_base={"REMOTE_ADDR": address}):
            try:
                limits.count(name)
            except TooManyRequests:
                return False
            return True

    names = [f"n{n}" for n in range(PER_NAME)]
    assert all(is_allowed(name, f"10.1.{n}.1") for n in range(ATTEMPTS) for name in names)
    for _ in range(RESERVED):
        assert all(is_allowed(name, "10.0.0.9") for name in names)
    for _ in range(ATTEMPTS):
        assert not any(is_allowed(name, "10.0.0.9") for name in names)
    assert is_allowed("ann", "10.0.0.9")


class Browser:
    """A browser with its cookies, at an address and a time that a test sets."""

    def __init__(self, limits: LoginLimits) -> None:
        self.limits, self.app, self.address, self.cookie = limits, Flask(__name__), "10.0.0.1", ""

    def may_try(self, name: str, *, is_right: bool = False) -> bool:
        headers = {"Cookie": f"esr-known={self.cookie}"} if self.cookie else {}
        with self.app.test_request_context(environ_base={"REMOTE_ADDR": self.address}, headers=headers):
            try:
                self.limits.count(name)
            except TooManyRequests:
                return False
            if is_right:
                answer = self.app.make_response("")
                self.limits.accept(name, answer)
                (self.cookie,) = (
                    cookie.value for cookie in SimpleCookie(answer.headers["Set-Cookie"]).values()
                )
            return True


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The time, which a test sets."""
    seconds = [1_800_000_000]
    monkeypatch.setattr("time.time", lambda: seconds[0])
    clock = partial(SlidingWindow, clock=lambda: seconds[0])
    monkeypatch.setattr("webui.access.login_limits.SlidingWindow", clock)
    return seconds


@pytest.fixture
def browser(now: list[int]) -> Browser:
    return Browser(LoginLimits(":memory:", "secret", is_secure=False))


def test_an_address_has_ten_attempts_for_a_name_and_thirty_for_all_in_five_minutes(
    browser: Browser, now: list[int]
) -> None:
    for name in ("ann", "bob", "eve"):
        assert [browser.may_try(name) for _ in range(10)] == [True] * 10
    assert not browser.may_try("joe")
    now[0] += 299
    assert not browser.may_try("joe")
    now[0] += 1
    assert [browser.may_try("joe") for _ in range(11)] == [True] * 10 + [False]


def test_a_browser_is_known_for_half_a_year_and_for_five_people(browser: Browser, now: list[int]) -> None:
    people = [f"n{number}" for number in range(6)]
    assert all(browser.may_try(person, is_right=True) for person in people)
    assert all(browser.may_try(f"x{number}") for number in range(30)), "the address has no attempts left"
    assert [browser.may_try(person) for person in people] == [False] + [True] * 5
    browser.may_try("n3", is_right=True)
    for seconds, is_known in ((180 * 86_400, True), (1, False)):
        now[0] += seconds
        for number in range(30):
            Browser(browser.limits).may_try(f"x{number}")
        assert browser.may_try("n3") == is_known


def test_a_known_browser_has_no_more_attempts_than_an_address_and_only_for_its_person(app: Flask) -> None:
    client = app.test_client()
    try_login(client, "ann", RIGHT)
    tries = [
        try_login(client, "ann", WRONG, f"10.2.0.{n}").status_code for n in range(ATTEMPTS // PER_NAME + 1)
    ]
    assert tries == [401] * (ATTEMPTS // PER_NAME) + [429]
    attack(app, "10.0.0.4")
    assert try_login(client, "10.0.0.4", RIGHT, ATTACKER).status_code == 429


def test_the_cookie_of_a_known_browser_cannot_be_forged_and_names_nobody(app: Flask) -> None:
    client = app.test_client()
    answer = try_login(client, "ann", RIGHT)
    (cookie,) = (
        morsel
        for header in answer.headers.getlist("Set-Cookie")
        for morsel in SimpleCookie(header).values()
        if morsel.key == "__Host-esr-known"
    )
    assert (cookie["secure"], cookie["httponly"], cookie["samesite"], cookie["path"]) == (
        True,
        True,
        "Lax",
        "/",
    )
    assert "ann" not in cookie.value
    attack(app, "ann")
    for value, status in ((cookie.value, 302), (cookie.value + "x", 429), ("e30", 429), ("", 429)):
        other = app.test_client()
        other.set_cookie("__Host-esr-known", value, domain="localhost", secure=True)
        assert try_login(other, "ann", RIGHT, ATTACKER).status_code == status, value


@pytest.mark.parametrize(("is_secure", "name"), [(True, "__Host-esr-known"), (False, "esr-known")])
def test_a_secure_cookie_of_a_known_browser_belongs_to_its_host(is_secure: bool, name: str) -> None:
    limits, app = LoginLimits(":memory:", "secret", is_secure=is_secure), Flask(__name__)
    with app.test_request_context():
        answer = app.make_response("")
        limits.accept("ann", answer)
    (cookie,) = SimpleCookie(answer.headers["Set-Cookie"]).values()
    assert (cookie.key, bool(cookie["secure"])) == (name, is_secure)


def test_audit_lines_of_logins_have_the_name(app: Flask, caplog: pytest.LogCaptureFixture) -> None:
    attack(app, "ann")
    client = app.test_client()
    caplog.clear()
    with caplog.at_level(logging.INFO, "webui.audit"):
        try_login(client, "ann", RIGHT, ATTACKER)
        client.post("/login", base_url=BASE, data={"name": "ann", "password": RIGHT, "csrf": "x"})
        try_login(client, "a password in the wrong field", RIGHT, "10.0.0.9")
        try_login(client, "ann", RIGHT, "10.0.0.9")
    lines = [record.json_fields for record in caplog.records if record.name == "webui.audit"]
    posts = [(line["status"], line.get("attempt")) for line in lines if line["method"] == "POST"]
    assert posts == [(429, "ann"), (403, "ann"), (401, None), (302, "ann")]
