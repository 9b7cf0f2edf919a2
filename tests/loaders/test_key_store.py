import pytest

from esr.errors import EsrError
from esr.loaders.key_store import KeyStore


def test_the_first_value_of_a_key_stays():
    store = KeyStore()
    assert store.insert(b"a", "one") is None
    assert store.insert(b"a", "two") == "one"
    assert store.insert(b"b", "three") is None
    assert store.insert(b"a", "four") == "one"
    store.close()


def test_two_stores_are_independent():
    one, two = KeyStore(), KeyStore()
    assert one.insert(b"a", "x") is None
    assert two.insert(b"a", "y") is None


def test_a_full_disk_is_an_error_that_names_the_folder_of_temporary_files():
    store = KeyStore()
    store._database.execute("PRAGMA max_page_count = 3")
    with pytest.raises(EsrError, match=r"folder of temporary files .*is full.*TMPDIR"):
        store.insert(b"a", "x" * 100_000)
    store.close()
