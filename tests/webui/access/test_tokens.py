"""Passwords, cookies and tokens are taken whole, for one purpose, and for this server."""

from __future__ import annotations

import base64
import json
import re
import time
import warnings
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit, urlunsplit
from urllib.request import Request, urlopen

import pytest
from click.testing import CliRunner
from flask import Flask
from flask.testing import FlaskClient

from esr.access.grants import LEAST_PASSWORD, MOST_PASSWORD
from esr.cli import main
from tests.support.runs import need
from tests.webui.access.conftest import Server
from tests.webui.access.test_login import (
    BASE,
    PASSWORD,
    authorize,
    begin,
    elsewhere,
    finish,
    log_in,
    people,
    provider,
    status,
)
from webui.access.guard import check_provider

__all__ = ["elsewhere", "people", "provider"]  # fixtures

pytestmark = pytest.mark.slow


@pytest.fixture
def app(people: Server, locations: dict[str, str]) -> Flask:
    return people.app(locations, secret_file=people.secret())


# Passwords


def test_a_password_is_compared_as_it_is_and_may_have_any_characters(
    people: Server, locations: dict[str, str]
) -> None:
    long = "Größe 😀 \t'\"<b>" + "x" * (MOST_PASSWORD - 14)
    assert len(long) == MOST_PASSWORD
    people.add_person("long", long)
    client = people.app(locations, secret_file=people.secret()).test_client()
    for wrong in (long + "x", long[:-1], long.lower(), long.replace("x", "X"), f" {long}"):
        assert log_in(client, "long", wrong).status_code == 401
    assert log_in(client, "long", long).status_code == 302


def test_a_password_that_is_too_short_or_has_the_name_in_it_is_refused(people: Server) -> None:
    file = people.file.parent / "tried"
    name = "eve.miller@example.org"
    tried = {
        "p" * (LEAST_PASSWORD - 1): "10 to 200 characters",
        "iloveyou12": "common or easy to guess",
        "wet chalk!"[:LEAST_PASSWORD]: "",
        f"x{name}x": "name of the person",
        "My-MILLER-1987": "name of the person",
        "MyPassWord123": "'password'",
        "never mind the weather": "",  # `eve` is too short a part to be avoided
    }
    for password, message in tried.items():
        file.write_text(password)
        options = ["--kind", "password", "--password-file", str(file), "--file", str(people.file)]
        done = CliRunner().invoke(main, ["keys", "add", name, "--replace", *options])
        assert (done.exit_code == 0) == (not message) and message in done.output, (password, done.output)


def test_the_field_of_the_password_is_masked_and_open_to_password_managers(app: Flask) -> None:
    page = app.test_client().get("/login", base_url=BASE).get_data(as_text=True)
    (field,) = re.findall(r'<input[^>]* name="password"[^>]*>', page)
    assert 'type="password"' in field and 'autocomplete="current-password"' in field
    assert "onpaste" not in page


# Cookies


def test_a_cookie_is_for_one_purpose(app: Flask) -> None:
    client = app.test_client()
    log_in(client)
    values = {}
    for name in ("__Host-esr", "__Host-esr-known"):
        cookie = client.get_cookie(name)
        assert cookie is not None
        values[name] = cookie.value
    exchanged = dict(zip(values, reversed(values.values()), strict=True))
    for cookies, expected in ((values, 200), (exchanged, 401)):
        other = app.test_client()
        for name, value in cookies.items():
            other.set_cookie(name, value, domain="localhost", secure=True)
        assert status(other) == expected
        assert log_in(other, password="wrong").status_code == 401
    assert log_in(client, "ann", PASSWORD).status_code == 302


# Tokens of a provider


def encode(part: Mapping[str, Any]) -> str:
    return base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=").decode()


def decode(part: str) -> dict[str, Any]:
    decoded: dict[str, Any] = json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
    return decoded


def with_claims(token: str, **claims: str) -> str:
    head, middle, signature = token.split(".")
    return f"{head}.{encode({**decode(middle), **claims})}.{signature}"


def without_signature(token: str) -> str:
    head, middle, _ = token.split(".")
    return f"{encode({**decode(head), 'alg': 'none'})}.{middle}."


def sign_again(token: str, algorithm: str, secret: bytes | None = None) -> str:
    """The claims of a token, signed by a secret or by a private key whose public key is in its header."""
    from joserfc import jwk, jws

    header, claims = decode(token.split(".")[0]) | {"alg": algorithm}, decode(token.split(".")[1])
    key: Any
    if secret is None:
        key = jwk.RSAKey.generate_key(2048)
        header |= {"jwk": key.as_dict(private=False)}
    else:
        key = jwk.OctKey.import_key(secret)
    loose = jws.JWSRegistry(algorithms=[algorithm], strict_check_header=False)
    return jws.serialize_compact(header, json.dumps(claims), key, registry=loose)


def ask_as(client_id: str, asked: str, provider: str) -> str:
    """The token that the provider issues to another client for the same request."""
    parts = urlsplit(asked)
    query = {name: values[0] for name, values in parse_qs(parts.query).items() if "challenge" not in name}
    address = urlunsplit(parts._replace(query=urlencode({**query, "client_id": client_id})))
    code = parse_qs(urlsplit(authorize(address, "1")).query)["code"][0]
    with urlopen(f"{provider}/.well-known/openid-configuration", timeout=30) as answer:
        endpoint = json.load(answer)["token_endpoint"]
    form = {"grant_type": "authorization_code", "code": code, "redirect_uri": query["redirect_uri"]}
    login = base64.b64encode(f"{client_id}:secret".encode()).decode()
    asked_token = Request(endpoint, urlencode(form).encode(), {"Authorization": f"Basic {login}"})
    with urlopen(asked_token, timeout=30) as answer:
        return str(json.load(answer)["id_token"])


def test_a_token_that_is_not_signed_or_not_for_this_login_is_refused(
    elsewhere: FlaskClient, provider: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    need("authlib")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from authlib.integrations.requests_client import OAuth2Session
    fetch, tokens = OAuth2Session.fetch_token, list[str]()
    change: Callable[[str], str] = str

    def fetch_changed(self: Any, *arguments: Any, **options: Any) -> Any:
        token = fetch(self, *arguments, **options)
        tokens.append(token["id_token"])
        return {**token, "id_token": change(token["id_token"])}

    monkeypatch.setattr(OAuth2Session, "fetch_token", fetch_changed)
    assert finish(elsewhere, authorize(begin(elsewhere), "1")).status_code == 302
    elsewhere.delete_cookie("esr")
    with urlopen(f"{provider}/jwks", timeout=30) as answer:
        public = answer.read()
    changes: dict[str, Callable[[str, str], str]] = {
        "a key that comes with the token": lambda token, _: sign_again(token, "RS256"),
        "the public key as a secret": lambda token, _: sign_again(token, "HS256", public),
        "no signature": lambda token, _: without_signature(token),
        "another signature": lambda token, _: token[:-6] + ("AAAAAA" if token[-6:] != "AAAAAA" else "BBBBBB"),
        "changed claims": lambda token, _: with_claims(token, email="eve@example.org"),
        "the token of an earlier login": lambda *_: tokens[0],
        "the token of another client": lambda _, asked: ask_as("other", asked, provider),
    }
    for name, make in changes.items():
        asked = begin(elsewhere)
        change = lambda token, make=make, asked=asked: make(token, asked)  # type: ignore[misc]  # noqa: E731
        assert finish(elsewhere, authorize(asked, "1")).status_code == 401, name
        assert elsewhere.get("/api/v1/models").status_code == 401, name
    change = str
    answer_of_today = authorize(begin(elsewhere), "1")
    later = time.time() + 11 * 3_600  # the session that asked is still valid
    with monkeypatch.context() as patched:
        patched.setattr("time.time", lambda: later)
        assert finish(elsewhere, answer_of_today).status_code == 401


def test_metadata_of_another_issuer_are_refused_and_no_algorithm_with_a_shared_secret_is_believed() -> None:
    need("authlib")
    issuer, names = "https://id.example.org", "id_token_signing_alg_values_supported"
    for said in ("https://id.example.com", "https://id.example.org.evil.example", "", None):
        with pytest.raises(ValueError, match="another issuer"):
            check_provider({"issuer": said}, issuer)
    for given, believed in (
        ({}, ["RS256"]),
        ({names: ["none", "HS256", "ES256", "RS256"]}, ["ES256", "RS256"]),
    ):
        metadata: dict[str, Any] = {"issuer": f"{issuer}/", **given}
        check_provider(metadata, issuer)
        assert metadata[names] == believed
    with pytest.raises(ValueError, match="no signature"):
        check_provider({"issuer": issuer, names: ["none", "HS256"]}, issuer)
