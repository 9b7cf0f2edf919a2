"""Settings of logins that are refused, and what a login takes from others: each limit from both sides."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from flask import Flask

from esr.errors import EsrError, UsageError
from tests.support.runs import need
from webui.access.guard import (
    LEAST_SECRET,
    check,
    check_login_settings,
    parse_groups,
    parse_networks,
    read_secret,
    safe_next,
)
from webui.running.settings import Settings


def test_a_secret_has_its_least_length_and_no_blanks_around_it(tmp_path: Path) -> None:
    path = tmp_path / "secret"
    path.write_text(f" {'x' * LEAST_SECRET}\n")
    assert read_secret(str(path), LEAST_SECRET) == "x" * LEAST_SECRET
    path.write_text(f" {'x' * (LEAST_SECRET - 1)}\n")
    with pytest.raises(UsageError, match="at least 32 random characters"):
        read_secret(str(path), LEAST_SECRET)
    path.write_text("\n")
    with pytest.raises(UsageError, match="at least 1 random"):
        read_secret(str(path))
    with pytest.raises(EsrError, match=r"cannot read the secret in .*none: no such file"):
        read_secret(str(tmp_path / "none"))
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(EsrError, match="it is not a text"):
        read_secret(str(path))


def test_a_provider_over_plain_http_is_for_servers_over_plain_http(tmp_path: Path) -> None:
    need("authlib")
    path = tmp_path / "secret"
    path.write_text("x" * LEAST_SECRET)
    secret = str(path)
    provider: dict[str, Any] = {"oidc_issuer": "http://id", "oidc_client": "esr", "oidc_secret_file": secret}
    check_login_settings(Settings(secret_file=secret, plain_http=True, **provider))
    with pytest.raises(UsageError, match="must begin with https"):
        check_login_settings(Settings(secret_file=secret, **provider))
    for missing in provider:
        with pytest.raises(UsageError, match="set all of them"):
            check_login_settings(Settings(secret_file=secret, **provider | {missing: ""}))


@pytest.mark.parametrize("setting", ["secret_file", "user_header", "oidc_issuer"])
def test_settings_of_a_login_need_a_file_of_grants(setting: str, tmp_path: Path) -> None:
    path = tmp_path / "secret"
    path.write_text("x" * LEAST_SECRET)
    settings: dict[str, dict[str, Any]] = {
        "secret_file": {"secret_file": str(path)},
        "user_header": {"user_header": "X-User", "user_header_from": "10.0.0.0/8"},
        "oidc_issuer": {
            **{"oidc_issuer": "https://id", "oidc_client": "esr"},
            **{"oidc_secret_file": str(path), "secret_file": str(path)},
        },
    }
    with pytest.raises(UsageError, match="without ESR_ACCESS"):
        check(Settings(**settings[setting]), ["news"])


@pytest.mark.parametrize("setting", ["user_header", "user_header_from"])
def test_the_header_of_a_proxy_and_its_address_need_each_other(setting: str) -> None:
    with pytest.raises(UsageError, match="need each other"):
        check(Settings(**{setting: "10.0.0.1"}), ["news"])


def test_networks_are_addresses_or_ranges_and_nothing_else() -> None:
    assert [str(network) for network in parse_networks("10.0.0.1  fd00::/8")] == ["10.0.0.1/32", "fd00::/8"]
    assert parse_networks("") == ()
    with pytest.raises(UsageError, match="cannot read ESR_USER_HEADER_FROM"):
        parse_networks("proxy")


def test_groups_fill_the_room_of_a_session_exactly(caplog: pytest.LogCaptureFixture) -> None:
    names = [str(n) * 500 for n in range(3)]
    assert parse_groups(names) == set(names) and not caplog.messages
    assert parse_groups([*names, "x"]) == set(names)
    assert "are left out" in caplog.text
    assert parse_groups({"politics": True}) == frozenset()


def test_the_address_after_a_login_is_local_printable_and_short() -> None:
    app = Flask(__name__)
    app.add_url_rule("/first", "home", lambda: "")
    with app.test_request_context():
        longest = "/" + "x" * 1_999
        assert safe_next(longest) == longest
        for address in (f"{longest}x", "search", "//evil.example", "/a\\b", "/a\nb"):
            assert safe_next(address) == "/first"
