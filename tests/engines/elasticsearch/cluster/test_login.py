"""Logins by the environment: what contradicts itself is told, what is secret is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from esr.engines.elasticsearch.cluster.login import Login
from esr.engines.elasticsearch.cluster.place import alias_of, parts
from esr.engines.elasticsearch.roles import descriptors
from esr.engines.redact import redacted
from esr.errors import UsageError


def test_a_login_in_the_place_wins_over_the_environment() -> None:
    found = Login.given(("me", "mine"), {"ESR_API_KEY": "key", "ESR_USER": "you", "ESR_PASSWORD": "yours"})
    assert (found.basic, found.api_key) == (("me", "mine"), None)


def test_a_login_comes_from_a_key_or_from_a_user_or_from_files(tmp_path: Path) -> None:
    file = tmp_path / "secret"
    file.write_text("hidden\n")
    assert Login.given(None, {"ESR_API_KEY": "key"}).api_key == "key"
    assert Login.given(None, {"ESR_API_KEY_FILE": str(file)}).api_key == "hidden"
    assert Login.given(None, {"ESR_USER": "me", "ESR_PASSWORD": "p"}).basic == ("me", "p")
    assert Login.given(None, {"ESR_USER": "me", "ESR_PASSWORD_FILE": str(file)}).basic == ("me", "hidden")
    assert Login.given(None, {"ESR_API_KEY": "", "ESR_CA_FILE": "", "ESR_INSECURE": ""}).is_anonymous


def test_a_login_is_printed_without_its_secrets() -> None:
    found = Login.given(None, {"ESR_USER": "me", "ESR_PASSWORD": "hidden"})
    assert "hidden" not in f"{found!r}{found}"


@pytest.mark.parametrize(
    "variables, message",
    [
        ({"ESR_API_KEY": "k", "ESR_USER": "me", "ESR_PASSWORD": "hidden"}, "two logins"),
        ({"ESR_USER": "me"}, "belong together"),
        ({"ESR_PASSWORD": "hidden"}, "belong together"),
        ({"ESR_API_KEY": "hidden", "ESR_API_KEY_FILE": "/nowhere"}, "both set"),
        ({"ESR_API_KEY_FILE": "/nowhere"}, "ESR_API_KEY_FILE names /nowhere, which cannot be read"),
        ({"ESR_API_KEY_FILE": "/dev/null"}, "which is empty"),
        ({"ESR_CA_FILE": "/nowhere"}, "ESR_CA_FILE names /nowhere, which cannot be read"),
        ({"ESR_CA_FILE": __file__}, "holds no certificate in PEM form"),
        ({"ESR_INSECURE": "yes"}, "ESR_INSECURE is 1 or 0, not 'yes'"),
    ],
)
def test_what_cannot_be_is_told(variables: dict[str, str], message: str) -> None:
    with pytest.raises(UsageError, match=message) as raised:
        Login.given(None, variables)
    assert "hidden" not in str(raised.value)


def test_http_takes_no_certificates_and_https_checks_them() -> None:
    assert "verify_certs" not in Login().arguments("http://h:9200")
    assert Login().arguments("https://h:9200")["verify_certs"] is True


def test_a_place_names_nodes_a_login_and_an_alias() -> None:
    place = "https://me:p%40ss@one:9200,two,[::1]:9201/news"
    assert parts(place) == ("https", ("me", "p@ss"), ["one:9200", "two:443", "[::1]:9201"], "news")
    assert alias_of("news") == alias_of(place) == "news"


@pytest.mark.parametrize(
    "where", ["http://a:x/n", "http://a:99999/n", "http://a,,b/n", "http://:1/n", "http://[/n"]
)
def test_bad_hosts_are_told(where: str) -> None:
    with pytest.raises(UsageError, match="is not http"):
        parts(where)


@pytest.mark.parametrize(
    "where", ["http://me:secret@h/a", "http://me:a/secret@h/a", "ftp://secret@h", "a=http://u:secret@h/a"]
)
def test_places_are_shown_without_logins(where: str) -> None:
    assert "secret" not in redacted(where)
    assert redacted("http://h:9200/news") == "http://h:9200/news"


def test_the_roles_of_an_alias_name_no_index_of_another() -> None:
    (rights,) = descriptors(["news"], ["page"])["page"]["indices"]
    assert rights["names"] == [
        "news",
        "news-documents",
        "/news-[0-9]{8}t[0-9]{12}(-[0-9]+)?(-esr-sentences|-esr-documents)/",
    ]
    assert descriptors(["a.b"], ["page"])["page"]["indices"][0]["names"][2].startswith(r"/a\.b-[0-9]")
