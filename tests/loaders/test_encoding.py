"""Text that is not in UTF-8. The encodings are those of Python, which did not find them."""

import json

import pytest

from esr.errors import InputError, UsageError
from esr.loaders import ReadOptions, read_documents
from esr.loaders import encoding as text_encoding
from esr.loaders.encoding import check_encoding, find_encoding, find_wide_encoding
from tests.loaders.conftest import texts
from tests.support.samples import sample

TEXTS = {
    "windows-1252": "Le ferry a repris son service après deux semaines de réparations. Deux cents personnes "
    "étaient à bord, a déclaré le maire. L’été dernier, la traversée avait été fermée à cause des tempêtes.",
    "latin-1": "Die Fähre fährt wieder. Zweihundert Menschen waren an Bord, erklärte der Bürgermeister. Das "
    "Wasser stand höher als üblich, größer war nur die Überraschung.",
    "windows-1250": "Prom znowu pływa. Dwieście osób było na pokładzie, powiedział burmistrz. Zamknięto go z "
    "powodu burz, które przyszły w zeszłym tygodniu.",
    "iso-8859-2": "Prezident řekl, že žádná loď nepluje. Lidé čekali na břehu, všichni přežili bouři.",
    "windows-1251": "Паром снова ходит. На борту было двести человек, сказал мэр. Никто не сказал почему.",
    "koi8-r": "Паром снова ходит. На борту было двести человек, сказал мэр. Никто не сказал почему.",
    "windows-1253": "Το πλοίο ταξιδεύει ξανά. Διακόσια άτομα ήταν στο πλοίο, είπε ο δήμαρχος.",
    "shift_jis": "フェリーは再び運航している。二百人が乗船していたと市長は語った。",
    "iso-2022-jp": "フェリーは再び運航している。二百人が乗船していたと市長は語った。",
    "gb18030": "渡轮恢复运营。市长说，船上有两百人。没有人说明为什么关闭。这条航线已经停运两个星期。",
    "euc-kr": "여객선이 다시 운항한다. 시장은 200명이 타고 있었다고 말했다.",
    "utf-16": "Le ferry a repris son service. 渡轮恢复运营。",
}
FORMATS = {
    "jsonl": '{{"id": "a", "text": "x"}}\n{{"id": "b", "text": "{}"}}\n{{"id": "c", "text": "{}"}}\n',
    "json": '[{{"id": "a"}},\n{{"id": "b", "text": "{}"}}, {{"id": "c", "text": "{}"}}]',
    "csv": 'id,text\na,x\nb,"{}"\nc,"{}"\n',
    "trec": "<DOC><DOCNO>b</DOCNO><TEXT>{}</TEXT></DOC>\n<DOC><DOCNO>c</DOCNO><TEXT>{}</TEXT></DOC>",
    "txt": "Title\n{}\n{}",
}


@pytest.fixture
def read(tmp_path):
    """A function from bytes to the words of the documents and the remarks about files."""

    def read(data, ending="jsonl", encoding=None):
        (tmp_path / f"x.{ending}").write_bytes(data)
        remarks = []
        options = ReadOptions(on_remark=remarks.append, encoding=encoding)
        documents = [
            located.document for located in read_documents([str(tmp_path / f"x.{ending}")], options=options)
        ]
        words = " ".join(" ".join(texts(document)) for document in documents)
        return words, [f"{remark.unit} {remark.text}" for remark in remarks]

    return read


@pytest.mark.parametrize("encoding", TEXTS)
@pytest.mark.parametrize("ending", FORMATS)
def test_another_encoding_is_found_or_declared(read, encoding, ending):
    text = TEXTS[encoding]
    data = FORMATS[ending].format(text, text).encode(encoding)
    found, remarks = read(data, ending)
    assert "".join(found.split()).count("".join(text.split())) == 2
    if encoding != "utf-16":
        (remark,) = remarks
        assert remark.startswith("files are in ") and remark.endswith("(--encoding names another)")
    assert read(data, ending, encoding) == (found, [])


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("name", ["koi8-r", "latin-1", "windows-1253"])
@pytest.mark.parametrize("ending", ["txt", "csv", "jsonl"])
def test_utf16_without_a_byte_order_mark_is_found_in_scripts_with_blanks(read, ending, name, encoding):
    data = FORMATS[ending].format(TEXTS[name], TEXTS[name])
    expected, _ = read(data.encode(), ending)
    assert read(data.encode(encoding), ending) == (
        expected,
        [f"files are in {encoding}, as their letters show (--encoding names another)"],
    )


@pytest.mark.parametrize(
    "data",
    [
        b"It sails.\0 Nobody said why.\0\0\0",
        b"\0\0\0\0a\x01\0b\0c",
        b"a\0b\0c\0d\0\x01\xd8e\0",
        b"a\0b\0c\0d\0\x01\0e\0",
        b"It sails.\0" * 4 + b"Nobody said why. " * 20,
    ],
)
def test_a_text_with_zero_bytes_elsewhere_is_not_utf16(data):
    assert find_wide_encoding(data) is None


def test_a_sign_of_western_europe_that_comes_later_is_read(read):
    lines = [json.dumps({"id": str(n), "text": TEXTS["latin-1"]}, ensure_ascii=False) for n in range(500)]
    lines.append('{"id": "z", "text": "Das kostet 5 € – „so“."}')
    assert read("\n".join(lines).encode("windows-1252"))[0].endswith("Das kostet 5 € – „so“.")


def test_czech_is_in_the_encoding_of_windows_only_with_bytes_that_the_other_one_lacks():
    text = "Trajekt opět pluje. Na palubě bylo dvě stě lidí, řekl starosta. Příliš žluťoučký kůň úpěl ódy."
    assert find_encoding(text.encode("iso-8859-2")) == "ISO-8859-2"
    assert find_encoding(text.encode("windows-1250")) == "Windows-1250"


def test_utf8_is_not_questioned(read):
    lines = [f'{{"id": "{n}", "text": "{TEXTS["windows-1252"]}"}}' for n in range(300)]
    assert read("\n".join(lines).encode())[1] == []


def test_a_broken_letter_in_utf8_does_not_make_it_another_encoding(read):
    good = FORMATS["jsonl"].format(TEXTS["windows-1252"], "x").encode()
    with pytest.raises(
        InputError, match=r"x\.jsonl:4: this line is not UTF-8 \(byte 0xe9\): correct it, or name"
    ):
        read(good + b'{"id": "d", "text": "caf\xe9"}')


@pytest.mark.parametrize(
    "text",
    [
        "caf\xe9",
        "M\xfcller",
        "na\xefve caf\xe9",
        "\x81\x8d\x90\x9d\xa0\xff" * 9,
        "a\xbbb" * 9 + "\xe9\xf1" * 9,
    ],
)
def test_an_encoding_that_is_not_certain_is_an_error_with_its_line(read, text):
    with pytest.raises(
        InputError, match=r"x\.jsonl:2: this line is not UTF-8 \(byte 0x\w\w\): .* with --encoding"
    ):
        read(f'{{"id": "a"}}\n{{"id": "b", "text": "{text}"}}'.encode("latin-1"))


@pytest.mark.parametrize(
    "text", ["caf\xe9 caf\xe9", "caf\xbbs " * 9, "caf\xe9 \x81\x8d " * 9, "caf\xe9\0 " * 9, "caf\x81 " * 9]
)
def test_few_letters_and_what_is_no_text_have_no_encoding_whatever_chardet_says(monkeypatch, text):
    guess = {"encoding": "iso8859-1", "confidence": 1.0}
    monkeypatch.setattr("chardet.detect", lambda sample: guess)
    assert find_encoding(b"caf\xe9 " * 9) == "windows-1252"
    assert find_encoding(text.encode("latin-1")) is None


def test_text_in_another_encoding_than_declared_is_an_error_with_its_line(read):
    data = b'{"id": "a"}\n' * 3 + '{"id": "b", "text": "Fähre"}'.encode("latin-1")
    with pytest.raises(InputError, match=r"x\.jsonl:4: this line is not in ascii .*: correct it, or name"):
        read(data, encoding="ascii")
    with pytest.raises(InputError, match=r"x\.jsonl:4: this line is not UTF-8"):
        read(data, encoding="utf-8")


def test_text_in_utf8_is_read_as_such_whatever_is_declared(read):
    for encoding in ("windows-1252", "shift_jis", "koi8-r"):
        assert read("Ferry\nÜber “alles”.".encode(), "txt", encoding)[0] == "Über “alles”."
    assert read("Ferry\nÜ \xb3.".encode("latin-1"), "txt", "latin-1")[0] == "Ü \xb3."


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
def test_a_byte_order_mark_takes_precedence_over_what_is_declared(read, encoding):
    data = FORMATS["jsonl"].format("Fähre", "Ñandú").encode(encoding)
    assert read(data, encoding="latin-1") == ("x Fähre Ñandú", [])


@pytest.mark.parametrize("size", [1, 2, 3, 5])
@pytest.mark.parametrize("encoding", ["utf-8", "shift_jis", "utf-16", "iso-2022-jp"])
def test_letters_may_be_cut_by_the_end_of_a_chunk(read, monkeypatch, size, encoding):
    monkeypatch.setattr("esr.loaders.format.BUFFER_BYTES", size)
    monkeypatch.setattr(text_encoding, "SAMPLE_BYTES", 101)
    text = TEXTS["shift_jis"]
    assert read(FORMATS["json"].format(text, text).encode(encoding), "json")[0] == f" {text} {text}".replace(
        "。二", "。 二"
    )


def test_formats_that_say_their_encoding_are_read_as_they_say(load):
    data = sample("nitf").decode().replace("utf-8", "iso-8859-1").replace(" sails", " é sails")
    assert " é sails" in texts(load(data.encode("latin-1"), "nitf")[0])[0]


def test_an_unknown_encoding_is_rejected():
    assert check_encoding("Windows-1252") == "Windows-1252"
    for name in ("klingon", "rot13", "", "hex"):
        with pytest.raises(UsageError, match=f"unknown encoding '{name}': use a name such as windows-1252"):
            check_encoding(name)


def test_lines_may_end_with_cr_alone(load):
    first, second = load(b'id,text\r1,"It sails,\rthen stops."\r2,Caf\xc3\xa9 open.\r', "csv")
    assert [sentence.text for sentence in first.sentences] == ["It sails, then stops."]
    assert second.sentences[0].text == "Café open."
    (talk,) = load(b"1\r00:00:01,000 --> 00:00:03,000\rThe ferry\rsails.\r\r")
    assert talk.sentences[0].text == "The ferry sails."


def test_cr_within_a_line_stays(load):
    (document,) = load(b'id,text\r\n1,"a\rb"\r\n', "csv")
    assert document.sentences[0].text == "a b"


def test_random_bytes_have_no_encoding():
    import random

    pick = random.Random(7)
    assert not any(find_encoding(pick.randbytes(200)) for _ in range(200))


@pytest.mark.parametrize(
    "text",
    [
        "It costs £5 or € 6.",
        "“It’s the mayor’s ferry,” he said… – ‘so’ – «Acme». Acme™",
        "• a ferry • another",
    ],
)
def test_signs_that_stand_where_they_belong_are_those_of_windows_however_few(read, text):
    found, (remark,) = read(f"A title\n{text}".encode("windows-1252"), "txt")
    assert found == text and remark.startswith("files are in windows-1252")


@pytest.mark.parametrize("sign", ["A £ote", "caf»s", "A ’", "Łódź £odz", "d–r"])
def test_a_sign_in_another_place_may_be_a_letter(read, sign):
    with pytest.raises(InputError, match="is not UTF-8"):
        read(f"A ferry sails.\n{sign}".encode("windows-1252", "replace"), "txt")
