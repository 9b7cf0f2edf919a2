"""Which grants may be stored, when they end, and what their secrets may be: each limit from both sides."""

from __future__ import annotations

import errno
import os
from contextlib import nullcontext
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Event, Thread
from types import SimpleNamespace
from typing import Any

import pytest

from esr.access import grants as grants_module
from esr.access.grants import (
    LEAST_PASSWORD,
    MOST_PASSWORD,
    Grant,
    GrantFile,
    Grants,
    Passwords,
    changing,
    describe,
    hash_key,
    hash_password,
    make_key,
    read_grants,
)
from esr.errors import EsrError, UsageError
from tests.support.runs import need


@pytest.mark.parametrize(
    "grant",
    [
        Grant("a" * 200, "elsewhere"),
        Grant("ann.o@x+y-z:1_*", "elsewhere"),
        Grant("anybody", "anybody"),
        Grant("*", "elsewhere"),
        Grant("program", "key", secret="hash"),
        Grant("scraper", "metrics", secret="hash"),
        Grant("ann", "password", secret="hash"),
        Grant(
            "ann", "elsewhere", groups=("politics",), rate="60/minute", expires="2027-01", filter="source:A"
        ),
    ],
)
def test_a_grant_that_is_complete_is_stored(grant: Grant) -> None:
    grant.check()


@pytest.mark.parametrize(
    ("grant", "message"),
    [
        (Grant("", "elsewhere"), "cannot name a grant ''"),
        (Grant("a" * 201, "elsewhere"), "cannot name a grant"),
        (Grant("a b", "elsewhere"), "cannot name a grant 'a b'"),
        (Grant("ann\n", "elsewhere"), "cannot name a grant"),
        (Grant("anybody", "elsewhere"), "go together"),
        (Grant("ann", "anybody"), "go together"),
        (Grant("*", "key", secret="hash"), "needs the kind 'elsewhere'"),
        (Grant("program", "key"), "no valid secret"),
        (Grant("scraper", "metrics"), "no valid secret"),
        (Grant("ann", "password"), "no valid secret"),
        (Grant("ann", "elsewhere", secret="hash"), "no valid secret"),
        (Grant("anybody", "anybody", secret="hash"), "no valid secret"),
        (Grant("ann", "elsewhere", groups=("a b",)), "cannot name a group 'a b'"),
        (Grant("ann", "elsewhere", groups=("politics", "*")), r"cannot name a group '\*'"),
        (Grant("ann", "elsewhere", rate="often"), "cannot read the rate 'often'"),
        (Grant("ann", "elsewhere", filter="flood"), "cannot filter by 'flood'"),
        (Grant("ann", "elsewhere", expires="soon"), "cannot read the date 'soon'"),
    ],
)
def test_a_grant_with_a_mistake_is_refused(grant: Grant, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        grant.check()


def test_a_grant_holds_until_the_last_millisecond_of_the_day_that_it_names() -> None:
    grant = Grant("ann", "elsewhere", expires="2027-01-31")
    midnight = datetime(2027, 2, 1, tzinfo=UTC)
    assert grant.is_valid(midnight - timedelta(milliseconds=1))
    assert not grant.is_valid(midnight)
    assert Grant("ann", "elsewhere").is_valid(datetime.max.replace(tzinfo=UTC))


def test_a_grant_is_shown_with_its_defaults_left_out_and_never_with_its_secret() -> None:
    now = datetime(2027, 1, 1, tzinfo=UTC)
    shown = {"name": "a", "kind": "key", "indexes": [], "groups": []}
    missing = dict.fromkeys(("rate", "expires", "filter", "made"))
    assert describe(Grant("a", "key", secret="hash"), now) == shown | missing | {"expired": False}
    full = Grant("a", "key", "hash", ("news",), "1/second", "2026", "source:A", "2025", ("politics",))
    assert describe(full, now) == {
        **{"name": "a", "kind": "key", "indexes": ["news"], "rate": "1/second", "expires": "2026"},
        **{"filter": "source:A", "groups": ["politics"], "made": "2025", "expired": True},
    }
    assert describe(Grant("a", "elsewhere", expires="2020"))["expired"] is True


def test_a_mark_changes_with_the_secret_and_does_not_show_it() -> None:
    marks = {Grant("a", "key", secret=secret).mark for secret in ("one", "two")}
    assert len(marks) == 2 and all(len(mark) == 16 and "one" not in mark for mark in marks)


def test_a_key_is_found_by_its_text_and_only_if_it_is_one_of_a_program() -> None:
    key, other = make_key(), make_key()
    stored = (
        Grant("program", "key", secret=hash_key(key)),
        Grant("ann", "password", secret=hash_key(other)),
    )
    found = Grants(stored)
    assert found.find_by_key(key) is stored[0]
    assert found.find_by_key(other) is None
    assert found.find_by_key(key[:-1]) is None and found.find_by_key(f"{key}x") is None
    assert found.find_by_key(hash_key(key)) is None


def test_a_person_is_found_by_kind_and_everybody_stands_for_who_is_not_named() -> None:
    ann, everybody = Grant("ann", "password", secret="hash"), Grant("*", "elsewhere")
    bob, anybody = Grant("bob", "elsewhere"), Grant("anybody", "anybody")
    found = Grants((ann, everybody, bob, anybody))
    assert found.find_person("ann", "password") is ann
    assert found.find_person("ann", "elsewhere") is None
    assert found.find_person("bob", "elsewhere") is bob
    assert found.find_person("eve", "elsewhere") is everybody
    assert found.find_person("eve", "password") is None
    assert found.find_person("anybody", "elsewhere") is None
    assert Grants((bob,)).find_person("eve", "elsewhere") is None
    assert found.needs_login and not Grants((everybody, bob)).needs_login


def test_a_name_is_known_if_it_is_listed_and_may_be_if_others_name_people() -> None:
    ann, bob = Grant("ann", "password", secret="hash"), Grant("bob", "elsewhere", groups=("politics",))
    program, scraper = Grant("program", "key", secret="hash"), Grant("scraper", "metrics", secret="hash")
    listed = Grants((ann, program, scraper, Grant("anybody", "anybody")))
    assert [listed.is_known(name) for name in ("ann", "program", "scraper", "anybody", "eve")] == [
        *(True, True, False, False, False)
    ]
    assert listed.is_known("*") is True and listed.is_known("*", is_group=True) is True
    assert Grants((bob,)).is_known("bob") is True and Grants((bob,)).is_known("eve") is False
    assert Grants((Grant("*", "elsewhere"),)).is_known("eve") is None


def test_a_group_is_known_if_it_is_listed_and_may_be_if_a_provider_names_people() -> None:
    ann = Grant("ann", "password", secret="hash", groups=("sports",))
    bob = Grant("bob", "elsewhere", groups=("politics",))
    assert [Grants((ann, bob)).is_known(name, is_group=True) for name in ("politics", "sports", "bob")] == [
        *(True, True, None)
    ]
    assert Grants((ann,)).is_known("sports", is_group=True) is True
    assert Grants((ann,)).is_known("sports") is False
    assert Grants((ann,)).is_known("politics", is_group=True) is False


@pytest.mark.parametrize("length", [LEAST_PASSWORD - 1, MOST_PASSWORD + 1])
def test_a_password_outside_of_the_limits_is_refused(length: int) -> None:
    with pytest.raises(UsageError, match="10 to 200 characters"):
        hash_password("x" * length, "ann")


@pytest.mark.parametrize(
    ("name", "password"),
    [
        ("ann", "my name is ANN yes"),
        ("eve_miller", "the MILLERS tale"),
        ("eve.mill@example.org", "watermill street"),
        ("jo", "my Password 1987"),
    ],
)
def test_a_password_with_a_part_of_the_name_is_refused(name: str, password: str) -> None:
    with pytest.raises(UsageError, match="the name of the person"):
        hash_password(password, name)


@pytest.mark.parametrize("password", ["1234567890", "qwertyuiop", "basketball1", "Il0veyou12", "x" * 10])
def test_a_common_password_is_refused(password: str) -> None:
    need("zxcvbn")
    with pytest.raises(UsageError, match="common or easy to guess"):
        hash_password(password, "ann")


def test_a_password_must_withstand_a_million_guesses(monkeypatch: pytest.MonkeyPatch) -> None:
    need("argon2")
    for guesses, is_common in ((999_999, True), (1_000_000, False)):
        estimate = SimpleNamespace(zxcvbn=lambda _, guesses=guesses: {"guesses": guesses})
        monkeypatch.setattr(grants_module, "zxcvbn", estimate)
        with pytest.raises(UsageError, match="common") if is_common else nullcontext():
            hash_password("wet chalk!", "ann")


@pytest.mark.slow
def test_a_password_may_be_as_short_or_long_as_the_limits_and_have_short_parts_of_the_name() -> None:
    need("argon2")
    passwords = Passwords()
    for password, name in (
        ("wet chalk!"[:LEAST_PASSWORD], "ann"),
        ("wet chalk " * (MOST_PASSWORD // 10), "ann"),
        ("never mind jo", "eve.jo"),
        ("joined journalists", "jo"),
    ):
        grant = Grant(name, "password", hash_password(password, name))
        assert passwords.is_right(grant, password) and not passwords.is_right(grant, password[1:])
        assert not passwords.is_right(None, password)
    assert not passwords.is_right(Grant("ann", "password", "no hash"), "x" * LEAST_PASSWORD)


def test_a_password_may_have_a_part_of_the_name_that_is_a_short_word() -> None:
    need("argon2")
    assert hash_password("annual flood reports", "eve.ann")


# The file


def test_a_secret_is_replaced_unless_its_grant_has_changed_meanwhile(tmp_path: Path) -> None:
    path = tmp_path / "access.json"
    old, other = Grant("ann", "password", "old", indexes=("news",)), Grant("bob", "password", "his")
    with changing(path) as grants:
        grants |= {"ann": old, "bob": other}
    file = GrantFile(path)
    new = file.replace_secret(old, "new")
    assert file.read().by_name == {"ann": new, "bob": other}
    assert (new.secret, new.indexes) == ("new", ("news",))
    with pytest.raises(EsrError, match="has changed"):
        file.replace_secret(old, "newer")
    assert file.read().by_name["ann"].secret == "new"


def test_a_file_is_made_for_its_owner_only_and_read_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "access.json"
    with changing(path) as grants:
        grants["ann"] = Grant("ann", "elsewhere", indexes=("news",))
    assert path.stat().st_mode & 0o777 == 0o600
    assert read_grants(path).by_name == {"ann": Grant("ann", "elsewhere", indexes=("news",))}
    assert os.listdir(tmp_path) == ["access.json"]


def test_a_change_with_a_mistake_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "access.json"
    with changing(path) as grants:
        grants["ann"] = Grant("ann", "elsewhere")
    before = path.read_bytes()
    with pytest.raises(UsageError, match="go together"), changing(path) as grants:
        grants["bob"] = Grant("bob", "anybody")
    assert path.read_bytes() == before and os.listdir(tmp_path) == ["access.json"]


def test_a_disk_that_is_full_leaves_the_file_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "access.json"
    with changing(path) as grants:
        grants["ann"] = Grant("ann", "elsewhere")
    before = path.read_bytes()

    def fail(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(grants_module.os, "fsync", fail)
    with (
        pytest.raises(EsrError, match=r"cannot write .*json: no space left on device$"),
        changing(path) as grants,
    ):
        grants["bob"] = Grant("bob", "elsewhere")
    assert path.read_bytes() == before and os.listdir(tmp_path) == ["access.json"]


def test_a_file_in_a_folder_that_is_missing_is_neither_read_nor_written(tmp_path: Path) -> None:
    path = tmp_path / "missing" / "access.json"
    with pytest.raises(EsrError, match=r"cannot write .*json: no such file or directory$"), changing(path):
        raise AssertionError("nothing can be changed")
    with pytest.raises(EsrError, match=r"cannot read .*json: no such file or directory$"):
        read_grants(path)
    with pytest.raises(EsrError, match=r"cannot read .*json: no such file or directory$"):
        GrantFile(path).read()


@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b'{"format":1,"grants":[{"name":"\xff"}]}'])
def test_a_file_that_is_no_text_or_no_json_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "access.json"
    path.write_bytes(content)
    with pytest.raises(EsrError, match="it is not a file of esr keys"):
        read_grants(path)


def test_a_name_that_is_in_the_file_twice_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "access.json"
    path.write_text('{"format":1,"grants":[{"name":"a","kind":"elsewhere"},{"name":"a","kind":"elsewhere"}]}')
    with pytest.raises(EsrError, match="a name is in it twice"):
        read_grants(path)


def test_a_file_with_a_grant_that_cannot_be_used_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "access.json"
    path.write_text(
        '{"format":1,"grants":[{"name":"a","kind":"elsewhere"},{"name":"ann","kind":"password"}]}'
    )
    with pytest.raises(UsageError, match="no valid secret"):
        read_grants(path)


def test_a_change_waits_for_another_one_to_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, is_locking = tmp_path / "access.json", Event()
    take_lock = grants_module.take_lock

    def note_and_take(file: int, *, wait: bool) -> object:
        is_locking.set()
        return take_lock(file, wait=wait)

    def add_bob() -> None:
        with changing(path) as grants:
            grants["bob"] = Grant("bob", "elsewhere")

    second = Thread(target=add_bob)
    with changing(path) as grants:
        grants["ann"] = Grant("ann", "elsewhere")
        monkeypatch.setattr(grants_module, "take_lock", note_and_take)
        second.start()
        assert is_locking.wait(60)
        second.join(0.1)
        assert second.is_alive(), "it did not wait"
    second.join(60)
    assert [*read_grants(path).by_name] == ["ann", "bob"]
