"""Ids of files: the same file has the same id, whatever is named on the command line."""

from __future__ import annotations

import gzip
import json
import os
import random
import shutil
import tracemalloc
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from esr.errors import EsrError, InputError
from esr.loaders import ReadOptions, read_documents
from esr.loaders.document_ids import (
    DUPLICATE_FEATURE,
    DUPLICATE_POLICIES,
    MADE_ID_POLICIES,
    SAME_ID_POLICIES,
    DuplicateFilter,
    KeyStore,
    SameIdFilter,
)
from esr.text.document import Document, Located, ParseWord, Sentence


@pytest.fixture
def collection(tmp_path: Path) -> Path:
    """t/bb/business with two texts, and t/bb/sport with one."""
    for name in ("business/001", "business/002", "sport/001"):
        path = tmp_path / "t" / "bb" / f"{name}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"T\nText of {name}.")
    return tmp_path / "t"


def ids(*paths: str | Path, base: str | Path | None = None) -> list[str]:
    options = ReadOptions(base=None if base is None else str(base))
    return [document.id for _, document in read_documents([str(path) for path in paths], options=options)]


@pytest.mark.parametrize(
    ("folder", "named"),
    [
        (".", "t/bb/business"),
        (".", "t/bb/business/"),
        (".", "./t/../t/bb/business"),
        ("t/bb", "business"),
        ("t/bb/business", "."),
        ("t/bb/sport", "../business"),
        ("t/bb/business", "001.txt 002.txt"),
        ("t", "bb"),
        (".", "t"),
        (".", "link"),
        (".", "ABSOLUTE"),
    ],
)
@pytest.mark.parametrize("base", [None, "t"])
def test_a_file_has_the_same_id_from_anywhere(
    collection: Path, monkeypatch: pytest.MonkeyPatch, folder: str, named: str, base: str | None
) -> None:
    (collection.parent / "link").symlink_to(collection / "bb")
    expected = ids(collection / "bb" / "business", base=base and collection)
    assert len(expected) == 2
    monkeypatch.chdir(collection.parent / folder)
    paths = [str(collection)] if named == "ABSOLUTE" else named.split()
    read = ids(*paths, base=base and os.path.relpath(collection))
    assert [id for id in read if "business" in id] == expected


def test_the_default_is_the_full_path_and_a_base_shortens_it(collection: Path) -> None:
    full = os.path.realpath(collection).lstrip("/")
    assert ids(collection / "bb" / "sport") == [f"{full}/bb/sport/001"]
    assert ids(collection / "bb" / "sport", base=collection) == ["bb/sport/001"]
    assert ids(collection / "bb" / "sport" / "001.txt", base=collection / "bb" / "sport") == ["001"]


def test_ids_below_a_base_stay_when_the_collection_moves(collection: Path, tmp_path: Path) -> None:
    before = ids(collection, base=collection)
    shutil.move(collection, tmp_path / "elsewhere")
    assert ids(tmp_path / "elsewhere", base=tmp_path / "elsewhere") == before


def test_a_member_of_an_archive_has_the_id_of_the_unpacked_file(collection: Path) -> None:
    expected = ids(collection / "bb" / "sport")
    with zipfile.ZipFile(collection / "bb" / "sport.zip", "w") as archive:
        archive.write(collection / "bb" / "sport" / "001.txt", "001.txt")
    assert ids(collection / "bb" / "sport.zip") == expected


def test_a_link_to_a_file_has_a_name_of_its_own(collection: Path) -> None:
    (collection / "bb" / "sport" / "linked.txt").symlink_to(collection / "bb" / "business" / "001.txt")
    names = ["bb/sport/001", "bb/sport/linked"]
    assert ids(collection / "bb" / "sport", base=collection) == names
    assert ids(collection / "bb" / "sport") == [
        f"{os.path.realpath(collection)}/{name}"[1:] for name in names
    ]


def test_a_link_out_of_the_base_counts_as_a_folder_of_it(collection: Path, tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    (tmp_path / "disk" / "far.txt").write_text("T\nFar.")
    (collection / "bb" / "world").symlink_to(tmp_path / "disk")
    assert ids(collection / "bb" / "world", base=collection) == ["bb/world/far"]


def test_a_file_outside_of_the_base_is_an_error(collection: Path) -> None:
    with pytest.raises(InputError, match=r"001\.txt: is not in the folder of --base, .*/sport"):
        ids(collection / "bb" / "business", base=collection / "bb" / "sport")
    with pytest.raises(InputError, match="there is no such folder for --base"):
        ids(collection, base=collection / "none")


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
    store.database.execute("PRAGMA max_page_count = 3")
    with pytest.raises(EsrError, match=r"folder of temporary files .*is full.*TMPDIR"):
        store.insert(b"a", "x" * 100_000)
    store.close()


@pytest.fixture
def ids_made_ids(tmp_path):
    """A function from a policy and the contents of files by name to the ids of their documents."""

    def ids(policy, **files):
        for name, content in files.items():
            (tmp_path / name.replace("_", ".")).write_text(content)
        options = ReadOptions(make_id=policy, base=os.fspath(tmp_path))
        return [located.document.id for located in read_documents([str(tmp_path)], options=options)]

    return ids


def lines(*documents):
    return "".join(json.dumps(fields) + "\n" for fields in documents)


def test_an_address_is_an_id_whatever_its_column_is_called(ids_made_ids):
    documents = lines({"url": "http://x/a", "text": "x"}, {"id": "7", "link": " http://x/b c "})
    assert ids_made_ids("url", x_jsonl=documents, y_csv="link,body\nhttp://x/d,x\n") == [
        "http://x/a",
        "http://x/b_c",
        "http://x/d",
    ]


def test_an_address_that_is_too_long_for_an_id_gives_a_digest(ids_made_ids):
    long = "http://x/" + "y" * 600
    documents = [{"url": long, "text": "One. Two."}, {"url": long + "z"}, {"url": long, "text": "x"}]
    first, second, third = ids_made_ids("url", x_jsonl=lines(*documents))
    assert first == third != second and len(first) == 32


@pytest.mark.parametrize("fields", [{"text": "x"}, {"url": " ", "text": "x"}, {"url": None}])
def test_a_document_without_an_address_says_what_to_do(ids_made_ids, fields):
    message = r":1: the document has no url for --id url: use --mapping url=COLUMN, or another --id"
    with pytest.raises(InputError, match=message):
        ids_made_ids("url", x_jsonl=lines(fields))


def test_the_digest_of_the_content_is_that_of_all_fields_but_the_id(ids_made_ids):
    same = {"title": "T", "text": "x"}
    first, second = ids_made_ids("content", x_jsonl=lines(same, {**same, "id": "7", "url": None}))
    assert first == second and len(first) == 32 and first.isalnum()
    others = (
        {"date": "2024"},
        {"url": "u"},
        {"title": "U"},
        {"text": "y"},
        {"source": "s"},
        {"language": "en"},
        {"desk": "Berlin"},
    )
    different = ids_made_ids("content", x_jsonl=lines(same, *({**same, **other} for other in others)))
    assert len(set(different)) == len(others) + 1 and different[0] == first


def test_the_digest_does_not_depend_on_the_file_or_its_format(ids_made_ids):
    first, second, third = ids_made_ids(
        "content",
        x_jsonl=lines({"text": "x", "title": "T"}),
        y_csv="headline,body\nT,x\n",
        z_json='[{"title":"T","text":"x"}]',
    )
    assert first == second == third


def test_a_row_is_the_file_and_the_number_of_the_document_in_it(ids_made_ids):
    table = 'id,text\n7,"x\n\ny"\n7,z\n'
    assert ids_made_ids("row", x_csv=table, y_jsonl='{"id": "1"}\n\n{"id": "1"}\n') == [
        "x.csv:1",
        "x.csv:2",
        "y.jsonl:1",
        "y.jsonl:2",
    ]


def test_malformed_documents_have_numbers_too(tmp_path):
    (tmp_path / "x.jsonl").write_text('{"text": 1}\n{\n{"text": "x"}\n')
    options = ReadOptions(make_id="row", base=str(tmp_path), on_malformed=lambda malformed: None)
    (located,) = read_documents([str(tmp_path)], options=options)
    assert located.document.id == "x.jsonl:3"


@pytest.mark.parametrize("policy", MADE_ID_POLICIES)
def test_files_of_other_formats_get_the_ids_too(ids_made_ids, policy):
    assert len(ids_made_ids(policy, x_html=HTML)) == 1


HTML = """<html><head><title>T</title><link rel="canonical" href="http://x.example/a"></head><body><article>
<p>The ferry sails again after two weeks of repairs, the mayor said on Monday.</p>
<p>Two hundred people were aboard, and nobody said why it had been closed.</p></article></body></html>"""


def test_a_document_without_an_id_gets_one_of_its_url_or_else_of_its_content(tmp_path):
    file = tmp_path / "news.jsonl"
    file.write_text(
        '{"link": "https://x.example/a b", "text": "A."}\n{"id": "own", "url": "u", "text": "B."}\n'
        '{"text": "C."}\n{"title": "C."}\n{"text": "C.", "label": 1}\n{"text": "C."}\n'
    )
    remarks = []
    options = ReadOptions(on_remark=remarks.append)
    documents = [located.document for located in read_documents([str(file)], options=options)]
    first, second, *others = [document.id for document in documents]
    assert (first, second) == ("https://x.example/a_b", "own")
    assert all(map(str.isalnum, others)) and len(set(others)) == 3  # one document is there twice
    made = "have no id and got one made of their {} (--id chooses another)"
    texts = [remark.text for remark in remarks]
    assert texts.count(made.format("url")) == 1 and texts.count(made.format("content")) == 4


NUMBERS = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]


def rows(count, url):
    """Different documents, each fourth of which has this address."""
    return [
        {
            "url": url if n % 4 == 0 else f"http://x/{n}",
            "text": " ".join(f"{word}{n}" for word in NUMBERS),
        }
        for n in range(count)
    ]


@pytest.fixture
def read(tmp_path):
    """A function from documents to what is loaded of them, by id, and the remarks about it."""

    def read(documents, **options):
        (tmp_path / "x.jsonl").write_text(lines(*documents))
        remarks = []
        given = ReadOptions(on_remark=lambda remark: remarks.append(remark.text), **options)
        located = read_documents([str(tmp_path / "x.jsonl")], options=given)
        return {d.id: d for _, d in located}, set(remarks)

    return read


@pytest.mark.parametrize("url", ["http://x/", "not_available", "N/A"])
def test_an_address_that_many_documents_share_is_no_id(read, url):
    documents, remarks = read(rows(1000, url))
    assert len(documents) == 1000 and url not in documents and "http://x/1" in documents
    assert f"have the url {url!r}, which identifies no document" in remarks
    made = {id for id, document in documents.items() if document.url == url}
    assert made <= set(read(rows(1000, url), make_id="content")[0])


@pytest.mark.parametrize("column", ["id", "guid"])
def test_an_id_that_many_documents_share_is_none(read, column):
    documents, remarks = read([{column: "7", **row} for row in rows(40, "unknown")])
    assert len(documents) == 40 and "http://x/1" in documents and "7" not in documents
    assert "have the id '7', which identifies no document" in remarks


def test_a_placeholder_is_no_id_however_few_have_it(read):
    texts = ("A ferry.", "The bus.", "Some rain.")
    for documents in (
        read([{"url": "not_available", "text": text} for text in texts])[0],
        read([{"id": "null", "text": text} for text in texts])[0],
    ):
        assert len(documents) == 3 and all(len(id) == 32 for id in documents)
    assert list(read([{"id": "none", "text": "A ferry."}])[0]) == ["none"]


def test_versions_of_one_document_share_an_id(read):
    versions = [
        {"url": "http://x/live", "text": f"The ferry across the fjord sails again, it is {n} o'clock."}
        for n in range(30)
    ]
    documents, remarks = read(versions)
    assert list(documents) == ["http://x/live"]
    assert not any("identifies no" in remark for remark in remarks)


def test_what_is_read_ahead_is_loaded_before_an_error_in_it(tmp_path):
    (tmp_path / "x.json").write_text('[{"id": "a", "text": "x"}, {"id": "b", "text": "x"}, {"id"')
    bad = []
    long = [{"id": str(n), "text": "The ferry sails. " * 200} for n in range(400)]
    (tmp_path / "y.jsonl.gz").write_bytes(gzip.compress(lines(*long).encode())[:-200])
    documents = read_documents([str(tmp_path)], options=ReadOptions(on_malformed=bad.append))
    ids = [located.document.id for located in documents]
    assert ids[:3] == ["a", "b", "0"] and len(ids) > 50 and len(bad) == 2


SENTENCE = Sentence("a.s0", "A flood.")


def document(content: str, id: str = "a") -> Document:
    return Document(id, (Sentence(f"{id}.s0", content),))


def run(policy: str, *documents: Document) -> tuple[list[Document], list[str], list[str]]:
    """What the filter passes on, what it refuses, and its notes."""
    refused: list[str] = []
    stage = SameIdFilter(policy, lambda located, problem: refused.append(f"{located.where}: {problem}"))
    passed = list(stage.filter(Located(f"x:{n}", document) for n, document in enumerate(documents)))
    assert [int(where[2:]) for where, _ in passed] == sorted(int(where[2:]) for where, _ in passed)
    return [located.document for located in passed], refused, stage.notes()


@pytest.mark.parametrize("policy", SAME_ID_POLICIES)
def test_documents_with_ids_of_their_own_pass_unchanged(policy: str) -> None:
    rich = Document(
        "b",
        (
            Sentence("b.s0", "Eins\u2028zwei\r.", {"subj": 0.1}, (ParseWord("Eins", -1),), paragraph=3),
            Sentence("own", "Zwei."),
        ),
        title="T\n",
        date="2026-03-02",
        source="S",
        url="https://example.com",
        language="de",
    )
    documents = [document("One."), rich, Document("empty", ())]
    assert run(policy, *documents) == (documents, [], [])


@pytest.mark.parametrize("policy", SAME_ID_POLICIES)
def test_the_same_content_passes_once(policy: str) -> None:
    passed, refused, (note,) = run(policy, document("x"), document("y", "b"), document("x"), document("x"))
    assert passed == [document("x"), document("y", "b")]
    assert refused == []
    assert (
        note.startswith("2 documents repeat the id and the content of an earlier one") and "a at x:2" in note
    )


def test_other_content_is_refused_and_the_first_stays() -> None:
    passed, refused, notes = run("refuse", document("x"), document("y"), document("x"), document("z"))
    assert passed == [document("x")]
    assert [problem.partition(" with")[0] for problem in refused] == [
        f"x:{n}: document id 'a' is duplicated: first used at x:0" for n in (1, 3)
    ]
    assert len(notes) == 1


def test_the_last_content_replaces_those_before_it() -> None:
    passed, refused, (note,) = run("last", document("x"), document("", "b"), document("y"), document("x"))
    assert (passed, refused) == ([document("", "b"), document("x")], [])
    assert note.startswith("2 documents were replaced by a later one with the same id: the first is a at x:2")


def test_an_id_whose_documents_replaced_each_other_many_times_is_named() -> None:
    _, _, notes = run("last", document("x", "b"), *(document(f"{n}") for n in range(12)), document("y", "b"))
    assert notes[1:] == [
        "11 of them have the id 'a': if these are different documents, load them again with --id content"
    ]


@pytest.mark.parametrize(
    "other",
    [
        Document("a", (SENTENCE,), title="T"),
        Document("a", (SENTENCE,), source="T"),
        Document("a", (SENTENCE, SENTENCE)),
        Document("a", (Sentence("a.s0", "A flood."[:-1]),)),
        Document("a", (Sentence("own", "A flood."),)),
        Document("a", (Sentence("a.s0", "A flood.", {"subj": 1.0}),)),
        Document("a", (Sentence("a.s0", "A flood.", parse=(ParseWord("A", -1),)),)),
        Document("a", (Sentence("a.s0", "A flood.", paragraph=0),)),
    ],
    ids=["title", "source", "sentences", "text", "sentence id", "features", "parse", "paragraph"],
)
def test_every_part_of_a_document_is_content(other: Document) -> None:
    _, refused, _ = run("refuse", Document("a", (SENTENCE,)), other)
    assert len(refused) == 1


@pytest.mark.parametrize("values", [(-1.0, -2.0), (0.5, 0.25), (float(2**61 - 1), 0.0)])
def test_any_other_value_of_a_feature_is_other_content(values: tuple[float, float]) -> None:
    documents = (Document("a", (Sentence("a.s0", "A flood.", {"subj": value}),)) for value in values)
    assert len(run("refuse", *documents)[1]) == 1


def test_the_order_of_features_and_metadata_is_no_content() -> None:
    features, metadata = {"a": 1.0, "b": 2.0}, {"c": {"d": 2**80, "e": None}, "f": [True]}
    one = Document("a", (Sentence("a.s0", "A flood.", features),), metadata=metadata)
    reverse_features, reverse_metadata = (dict(reversed(table.items())) for table in (features, metadata))
    other = Document("a", (Sentence("a.s0", "A flood.", reverse_features),), metadata=reverse_metadata)
    assert run("refuse", one, other)[:2] == ([one], [])


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("xyz"))))
def test_the_last_policy_loads_what_appending_one_by_one_would(entries: list[tuple[str, str]]) -> None:
    expected = {}
    for id, content in entries:
        expected[id] = document(content, id)
    passed, _, _ = run("last", *(document(content, id) for id, content in entries))
    assert {passed_document.id: passed_document for passed_document in passed} == expected
    assert len(passed) == len(expected)


@pytest.mark.slow
@pytest.mark.parametrize("policy", SAME_ID_POLICIES)
def test_memory_does_not_grow_with_the_number_of_documents(policy: str) -> None:
    def peak(count: int) -> int:
        def documents() -> Iterator[Located]:
            for n in range(count):
                yield Located("x", document(f"text {n} " * 20, str(n // 2)))

        tracemalloc.start()
        try:
            for _ in SameIdFilter(policy, lambda located, problem: None).filter(documents()):
                pass
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    peak(100)
    # The lesser of two, since threads of other tests may allocate meanwhile.
    assert min(peak(4_000), peak(4_000)) < 1.3 * peak(1_000) + 2**18


WORDS = [f"word{n}" for n in range(500)]


def text(seed: int, size: int = 200) -> str:
    return " ".join(random.Random(seed).choices(WORDS, k=size))


def located(id: str, text: str, title: str | None = None) -> Located:
    return Located(f"x:{id}", Document(id, (Sentence(f"{id}.s0", text),), title=title))


def changed(words: str, count: int) -> str:
    """The words with the first ones replaced."""
    return " ".join([*(f"other{n}" for n in range(count)), *words.split()[count:]])


def run_filter(policy: str, *documents: Located) -> tuple[list[str], DuplicateFilter]:
    duplicates = DuplicateFilter(policy)
    return [located.document.id for located in duplicates.filter(documents)], duplicates


SAME = (
    located("a", text(1)),
    located("b", text(2)),
    located("c", text(1).upper().replace(" ", ",  ")),
    located("d", changed(text(2), 5)),
    located("e", changed(text(2), 100)),
)


@pytest.mark.parametrize("policy", ["count", "mark", "drop"])
def test_exact_and_near_duplicates_are_counted_and_dropped_only_on_request(policy):
    ids, duplicates = run_filter(policy, *SAME)
    assert (duplicates.exact, duplicates.near) == (1, 1)
    assert duplicates.examples == ["c at x:c repeats a", "d at x:d repeats b"]
    assert ids == (["a", "b", "e"] if policy == "drop" else ["a", "b", "c", "d", "e"])
    assert duplicates.notes()[0].startswith("1 document repeats an earlier one word for word, and 1 nearly")


def test_the_file_of_digests_is_closed_when_all_documents_have_been_read(monkeypatch):
    closed = []
    monkeypatch.setattr(KeyStore, "close", lambda self: closed.append(self.database.close()))
    run_filter("count", *SAME)
    assert len(closed) == 1


def test_marked_sentences_have_the_similarity_as_a_feature():
    marked = list(DuplicateFilter("mark").filter(SAME))
    marks = [m.document.sentences[0].features.get(DUPLICATE_FEATURE) for m in marked]
    assert marks[0] is marks[1] is marks[4] is None
    assert marks[2] == 1.0
    assert 0.8 <= marks[3] < 1.0


def test_counting_changes_no_document():
    assert list(DuplicateFilter("count").filter(SAME)) == list(SAME)


def test_short_texts_must_have_the_same_title_and_the_same_words():
    ids, duplicates = run_filter(
        "drop",
        located("a", "Blah blah blah.", "Ferry"),
        located("b", "Blah blah blah.", "Harbour"),
        located("c", "Blah, blah, blah", "FERRY"),
        located("d", "Blah blah.", "Ferry"),
    )
    assert ids == ["a", "b", "d"] and (duplicates.exact, duplicates.near) == (1, 0)


def test_documents_without_words_are_not_duplicates():
    ids, _ = run_filter("drop", located("a", ""), located("b", "…"), located("c", "…"))
    assert ids == ["a", "b", "c"]


def test_the_notes_also_report_no_duplicates():
    assert run_filter("drop", located("a", text(1)))[1].notes() == ["no document repeats an earlier one"]


def test_near_duplicates_are_found_in_a_window_and_exact_ones_everywhere(monkeypatch):
    monkeypatch.setattr("esr.loaders.document_ids.NEAR_WINDOW", 3)
    others = [located(f"o{n}", text(100 + n)) for n in range(3)]
    ids, duplicates = run_filter(
        "drop", located("a", text(1)), *others, located("b", changed(text(1), 5)), located("c", text(1))
    )
    assert "b" in ids and "c" not in ids
    assert (duplicates.exact, duplicates.near) == (1, 0)
    assert len(duplicates.sketches) == 3


def test_near_duplicates_are_found_down_to_the_threshold():
    """Shingles of five words: k words changed at the front leave 196 - k of 196 + k in common."""
    near = dict.fromkeys((5, 60), 0)
    for seed in range(30):
        for k in near:
            _, duplicates = run_filter("drop", located("a", text(seed)), located("b", changed(text(seed), k)))
            near[k] += duplicates.near
    assert near[5] >= 29 and near[60] == 0


def test_every_policy_has_a_description():
    assert set(DUPLICATE_POLICIES) == {"keep", "count", "mark", "drop"}
