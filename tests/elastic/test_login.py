"""Logins from the environment: contradictions are reported, secrets are not."""

from __future__ import annotations

from pathlib import Path

import pytest

from esr.elastic.location import parse_alias, parse_location, role_descriptors
from esr.elastic.login import Login
from esr.errors import UsageError
from esr.index.login import redact


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
    assert parse_location(where) == ("https", ("me", "p@ss"), ["one:9200", "two:443", "[::1]:9201"], "news")
    assert parse_alias("news") == parse_alias(where) == "news"


@pytest.mark.parametrize(
    "where", ["http://a:x/n", "http://a:99999/n", "http://a,,b/n", "http://:1/n", "http://[/n"]
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
        "/news-[0-9]{8}t[0-9]{12}(-[0-9]+)?(-esr-sentences|-esr-documents)/",
    ]
    assert role_descriptors(["a.b"], ["page"])["page"]["indices"][0]["names"][2].startswith(r"/a\.b-[0-9]")
