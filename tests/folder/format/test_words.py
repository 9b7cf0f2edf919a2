"""Tables of words and their positions: encoding and decoding, and comparison with the texts themselves."""

from __future__ import annotations

import random
from itertools import chain, pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from esr.folder.format import strings
from esr.folder.format import words as word_table
from esr.folder.format.strings import (
    BlobTable,
    HashRuns,
    StringTable,
    find_string,
    hash_strings,
    prefix_range,
)
from esr.folder.format.words import (
    EncodedLists,
    Group,
    WordTable,
    choose_low_bits,
    decode,
    encode,
    low_code_size,
    sign_word,
)
from esr.folder.write.segment_writer import TokenizedTexts, save_word_table
from tests.support.runs import examples


def random_lists(seed: int, limit: int, count: int) -> list[list[int]]:
    rng = np.random.default_rng(seed)
    longest = min(limit, 300)
    return [np.unique(rng.integers(0, limit, rng.integers(1, longest + 1))).tolist() for _ in range(count)]


@pytest.mark.parametrize(
    ("limit", "low_bits"),
    [
        (1, 0),
        (2, 1),
        (7, 0),
        (8, 7),
        (1000, 0),
        (1000, 8),
        (12_345_678, 7),
        (12_345_678, 24),
        (2**31 - 1, 24),
    ],
)
def test_lists_are_decoded_alone_and_together(limit: int, low_bits: int) -> None:
    lists = random_lists(low_bits, limit, 9)
    lengths, numbers = np.array([len(each) for each in lists]), np.array(list(chain(*lists)))
    group = Group(low_bits, limit)
    content = np.frombuffer(b"".join(encode(group, numbers, lengths)), np.uint8)
    unary = low_code_size(len(numbers), low_bits)
    for first in range(9):
        for last in range(first + 1, 10):
            before = int(lengths[:first].sum())
            lists_of = EncodedLists(group, content, unary, first, before, lengths[first:last])
            decoded = decode(lists_of)
            assert decoded.tolist() == list(chain(*lists[first:last]))


def test_the_more_numbers_a_list_has_the_fewer_low_bits_suit_it() -> None:
    lengths = np.array([1, 2, 3, 500, 999, 1000])
    assert choose_low_bits(lengths, 1000).tolist() == [9, 9, 9, 0, 0, 0]


def test_a_long_list_takes_few_bits_and_the_logarithm_of_its_gaps() -> None:
    limit, count = 1 << 20, 1 << 14
    numbers = np.sort(np.random.default_rng(1).choice(limit, count, replace=False))
    (low_bits,) = choose_low_bits(np.array([count]), limit).tolist()
    size = sum(map(len, encode(Group(low_bits, limit), numbers, np.array([count]))))
    assert size * 8 / count < 2.6 + np.log2(limit / count)


Document = tuple[list[list[str]], list[str]]
"""The words of the sentences, and those of the title."""


def random_documents(seed: int) -> list[Document]:
    rng = random.Random(seed)
    vocabulary = ["a", "ab", "abc", "b", "é", "東", "𝒳", *(f"w{n}" for n in range(30))]

    def text() -> list[str]:
        return [vocabulary[int(rng.paretovariate(0.7)) % len(vocabulary)] for _ in range(rng.randrange(9))]

    return [([text() for _ in range(rng.randrange(4))], text()) for _ in range(rng.randrange(1, 60))]


def write(folder: Path, documents: list[Document]) -> WordTable:
    texts = [text for sentences, title in documents for text in [*sentences, title]]
    words = list(dict.fromkeys(word for text in texts for word in text))
    tokenized = TokenizedTexts(
        np.array([words.index(word) for text in texts for word in text], np.int32),
        np.array([len(text) for text in texts], np.int32),
        np.array([len(sentences) for sentences, _ in documents], np.int64),
    )
    folder.mkdir(exist_ok=True)
    save_word_table(folder, words, tokenized)
    return WordTable(folder, sum(len(sentences) for sentences, _ in documents))


@pytest.mark.parametrize("seed", range(12))
def test_the_places_of_words_are_those_of_the_texts(tmp_path: Path, seed: int) -> None:
    documents = random_documents(seed)
    table = write(tmp_path, documents)
    sentences = [text for texts, _ in documents for text in texts]
    titles = [title for _, title in documents]
    occurring = {word for text in [*sentences, *titles] for word in text}
    assert table.words(np.arange(len(table))) == sorted(occurring) == [table[n] for n in range(len(table))]
    of_words = table.read_positions()
    for word in occurring:
        number = table.find(word)
        assert number is not None
        positions = of_words.positions(number)
        assert (np.diff(positions) > 0).all()
        assert len(positions) == table.counts[number]
        in_sentences = [n for n, text in enumerate(sentences) for other in text if other == word]
        assert of_words.sentences(positions).tolist() == in_sentences
        assert of_words.titles(positions).tolist() == [
            n for n, t in enumerate(titles) for w in t if w == word
        ]


@pytest.mark.parametrize("seed", range(6))
def test_words_stand_next_to_each_other_only_within_a_text(tmp_path: Path, seed: int) -> None:
    documents = random_documents(seed)
    table = write(tmp_path, documents)
    sentences = [text for texts, _ in documents for text in texts]
    of_words = table.read_positions()
    for first in ("a", "w1"):
        for second in ("a", "ab", "w1"):
            numbers = table.find(first), table.find(second)
            if numbers[0] is None or numbers[1] is None:
                continue
            both = np.intersect1d(of_words.positions(numbers[0]), of_words.positions(numbers[1]) - 1)
            pairs = [n for n, t in enumerate(sentences) for p in pairwise(t) if p == (first, second)]
            assert of_words.sentences(both).tolist() == pairs


@pytest.mark.parametrize("prefix", ["a", "ab", "abc", "abcd", "w", "w1", "", "𝒳", "zz"])
def test_the_words_with_a_prefix_are_a_range(tmp_path: Path, prefix: str) -> None:
    table = write(tmp_path, random_documents(3))
    words = table.words(np.arange(len(table)))
    matching = [n for n, word in enumerate(words) if word.startswith(prefix)]
    found = table.prefix_range(prefix)
    assert list(found) == matching
    of_words = table.read_positions()
    expected = [of_words.positions(n) for n in matching]
    assert sorted(of_words.positions_of_range(found).tolist()) == sorted(
        np.concatenate([[], *expected]).tolist()
    )


def test_unknown_words_have_no_number(tmp_path: Path) -> None:
    table = write(tmp_path, [([["storm", "tide"]], [])])
    assert [table.find(word) for word in ("", "s", "storms", "tidf", "z")] == [None] * 5


def test_texts_without_words_make_an_empty_table(tmp_path: Path) -> None:
    table = write(tmp_path, [([[], []], []), ([], [])])
    assert len(table) == 0
    assert table.find("storm") is None
    assert len(table.read_positions().positions_of_range(table.prefix_range("s"))) == 0


@pytest.mark.parametrize("file", ["words.bytes", "words.places.bytes"])
def test_truncated_files_are_damaged(tmp_path: Path, file: str) -> None:
    write(tmp_path, random_documents(1))
    content = (tmp_path / file).read_bytes()
    (tmp_path / file).write_bytes(content[:-1])
    with pytest.raises(ValueError, match="truncated"):
        WordTable(tmp_path, 3)


@pytest.mark.parametrize("seed", range(4))
def test_an_edit_changes_two_bits_of_a_signature_at_most(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    monkeypatch.setattr(word_table, "SIGNATURE_CHUNK", 7)
    table, rng = write(tmp_path, random_documents(seed)), random.Random(seed)
    words = table.words(np.arange(len(table)))
    numbers = np.array(rng.sample(range(len(table)), len(table)))
    signatures = [sign_word(words[n].encode()) for n in numbers]
    assert table.read_signatures(numbers).tolist() == signatures
    assert table.read_signatures(numbers[:0]).tolist() == []
    for word in words:
        n, character = rng.randrange(len(word)), rng.choice("aw7é東")
        before, after = word[:n], word[n + 1 :]
        for edited in (before + after, before + character + word[n:], before + character + after):
            assert (sign_word(word.encode()) ^ sign_word(edited.encode())).bit_count() <= 2
    assert sign_word(b"ab") == sign_word("baé東".encode()) != sign_word(b"a")


STRINGS = sorted(["", "a", "ab", "ab\u00e9", "abz", "b", "\ue000", "\uffff", "\U0001f600", "\U0010ffff"])
CODES = [string.encode() for string in STRINGS]


def test_each_string_is_found_and_no_other() -> None:
    assert [find_string(len(CODES), CODES.__getitem__, string) for string in STRINGS] == list(
        range(len(CODES))
    )
    for other in ("aa", "ac", "c", "\U0010fffe", "\U0010ffff!", "\ud83d"):
        assert find_string(len(CODES), CODES.__getitem__, other) is None
    assert find_string(0, CODES.__getitem__, "a") is None


def test_the_strings_with_a_prefix_are_a_range() -> None:
    for prefix in ("", "a", "ab", "abz", "ac", "\ue000", "\U0010ffff", "\U0010ffff!", "\ud83d"):
        found = prefix_range(len(CODES), CODES.__getitem__, prefix)
        assert [STRINGS[n] for n in found] == [s for s in STRINGS if s.startswith(prefix)]
    assert not prefix_range(0, CODES.__getitem__, "a")


@settings(max_examples=examples(40))
@given(strings=st.lists(st.text(st.characters(codec="utf-8")), unique=True), other=st.text())
def test_strings_are_found_by_number_and_numbers_by_string(strings: list[str], other: str) -> None:
    with TemporaryDirectory() as folder:
        StringTable.save(Path(folder), "strings", strings)
        table = StringTable(Path(folder), "strings")
        assert [table[n] for n in range(len(table))] == strings
        assert [table.find(string) for string in strings] == list(range(len(strings)))
        assert table.find(other) == (strings.index(other) if other in strings else None)


def test_strings_with_the_same_hash_are_distinguished(tmp_path: Path) -> None:
    with patch.object(strings, "hash64", lambda string: len(string)):
        StringTable.save(tmp_path, "strings", ["ab", "cd", "efg", "ef"])
        table = StringTable(tmp_path, "strings")
        assert [table.find(string) for string in ("ab", "cd", "ef", "efg", "xy")] == [0, 1, 3, 2, None]


@settings(max_examples=examples(40))
@given(blobs=st.lists(st.binary(max_size=50)))
def test_blobs_are_read_as_they_were_written(blobs: list[bytes]) -> None:
    with TemporaryDirectory() as folder:
        BlobTable.save(Path(folder), "blobs", blobs)
        table = BlobTable(Path(folder), "blobs")
        assert [table[n] for n in range(len(table))] == blobs


def test_a_table_says_which_hashes_it_contains(tmp_path: Path) -> None:
    StringTable.save(tmp_path, "strings", ["a", "b"])
    table = StringTable(tmp_path, "strings")
    assert table.contains_hashes(hash_strings(["b", "c", "a"])).tolist() == [True, False, True]
    StringTable.save(tmp_path, "none", [])
    assert StringTable(tmp_path, "none").contains_hashes(np.array([1], np.uint64)).tolist() == [False]


@settings(max_examples=examples(40))
@given(
    strings=st.lists(st.text(st.sampled_from("ab\u00ff\ufb00\U00010437"), max_size=4), unique=True),
    prefix=st.text(st.sampled_from("ab\u00ff\ufb00\U00010437"), max_size=2),
    limit=st.integers(1, 5),
)
def test_strings_with_a_prefix_are_found_in_code_point_order(
    strings: list[str], prefix: str, limit: int
) -> None:
    with TemporaryDirectory() as folder:
        StringTable.save(Path(folder), "strings", strings)
        matches = StringTable(Path(folder), "strings").with_prefix(prefix, limit)
        assert matches == sorted(string for string in strings if string.startswith(prefix))[:limit]


@pytest.mark.parametrize("sizes", [[5] * 40, [100, 3, 0, 50, 1, 1, 1], [1, 2, 4, 8, 16]])
def test_hashes_of_many_tables_are_found(sizes: list[int]) -> None:
    strings_ = [f"d{number}" for number in range(sum(sizes))]
    runs, start = HashRuns(), 0
    for size in sizes:
        assert not any(hash in runs for hash in hash_strings(strings_[start:]).tolist())
        runs.add(np.sort(hash_strings(strings_[start : start + size])))
        start += size
        assert all(hash in runs for hash in hash_strings(strings_[:start]).tolist())
