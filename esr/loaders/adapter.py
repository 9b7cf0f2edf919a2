"""Converts the fields that a loader read to those of a document, with remarks on every automatic change.

Values without a field become metadata. Embargoes are checked: agencies send articles in advance, and these
must not be searchable before their release. Of WordPress, only published posts and pages that anyone may read
are articles: its exports (WXR) and its REST interface also have drafts, revisions, menus, styles and posts
with a password.
"""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from datetime import UTC, datetime
from typing import Any

from esr.errors import InputError, to_one_line
from esr.extras import require
from esr.loaders import html_tree
from esr.loaders.fields import (
    FIELDS,
    KnownColumn,
    MissingColumn,
    apply_mapping,
    find_absent,
    find_known_columns,
    has_html,
    is_lossless,
    read_list,
    read_paragraphs,
)
from esr.loaders.format import Format, Malformed, Record, Remark, Skipped
from esr.text.analyzer_definitions import primary_language
from esr.text.dates import is_iso_date, parse_date_start
from esr.text.document import LIST_FIELDS, METADATA, TEXT_FIELDS, Document
from esr.text.languages import MAX_CHARACTERS, detect_language
from esr.text.validate import SENTENCE_FIELDS, build_document
from esr.text.written_dates import UnclearDate, read_date, to_iso_date

_BLOCKS = (
    "address article blockquote br center dd div dl dt figcaption figure footer h1 h2 h3 h4 h5 h6 header hr"
)
_BLOCKS += " li ol p pre section table td th tr ul"
_INLINE = (
    "a abbr acronym b big cite code del em font i img ins nobr q s small span strike strong sub sup tt u"
)
_TAG = re.compile(
    rf"</?(?:(?P<block>{_BLOCKS.replace(' ', '|')})|{_INLINE.replace(' ', '|')})"
    r"""(?:\s[^<>"']{0,500}(?:"[^"<>]{0,2000}"[^<>"']{0,500}|'[^'<>]{0,2000}'[^<>"']{0,500}){0,20})?\s?/?>""",
    re.I,
)
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,30});")
# Programs that write tables put a backslash before these; neither natural language nor paths do.
_ESCAPED = re.compile(r"""\\([$%&#"'])""")
# Characters as in Python and JSON, which a program wrote without decoding them.
_UNICODE = re.compile(r"(?:\\u[0-9a-fA-F]{4})+")


def decode(text: str) -> str:
    r"""The text without HTML and escapes that the writer of a table added: `&lt;`, `<p>`, `\$`, `\u2019`.

    `5 < 6`, `<name>` and `AT&T` stay. Block tags end a paragraph.
    """
    if "\\" in text:
        text = _UNICODE.sub(_decode_unicode, _ESCAPED.sub(r"\1", text))
    stripped = _remove_tags(text)
    decoded = _ENTITY.sub(_decode_entity, stripped) if "&" in stripped else stripped
    # In a text with tags, `&lt;b&gt;` is a literal `<b>`; in a text without tags, it is an escaped tag.
    return _remove_tags(decoded) if decoded != stripped and stripped == text else decoded


def _remove_tags(text: str) -> str:
    return _TAG.sub(lambda tag: "\n\n" if tag["block"] else "", text) if "<" in text else text


def _decode_unicode(escapes: re.Match[str]) -> str:
    """The characters of escapes such as those of `\\ud83d\\ude00`, or the escapes if they are none."""
    units = (int(unit, 16) for unit in escapes[0].split("\\u")[1:])
    text = b"".join(unit.to_bytes(2, "big") for unit in units).decode("utf-16-be", "replace")
    return text if "\ufffd" not in text and all(map(_is_character, text)) else escapes[0]


def _is_character(letter: str) -> bool:
    return letter.isprintable() or letter.isspace()


def _decode_entity(entity: re.Match[str]) -> str:
    """The character of an entity reference; a no-break space becomes a blank."""
    return html.unescape(entity[0]).replace("\xa0", " ")


def collect_metadata(record: Mapping[str, Any], used: Set[str]) -> dict[str, Any]:
    """The metadata of a record, and the values of all unused columns.

    `used` has the names of columns, including columns inside objects: `source.name`. Blank values are left
    out. The metadata of the record take precedence over columns.
    """
    metadata = record.get(METADATA)
    rest: dict[str, Any] = {}
    for name, value in record.items():
        if name in used or (name == METADATA and isinstance(value, dict)):
            continue
        if isinstance(value, dict):
            value = {inner: value[inner] for inner in value if f"{name}.{inner}" not in used}
        if not (value is None or value in ([], {}) or (isinstance(value, str) and not value.strip())):
            rest[name] = value
    return {**rest, **metadata} if isinstance(metadata, dict) else rest


_TEXTS = ("title", "source", "section", "text")
_PLAIN = frozenset((*TEXT_FIELDS, "id", "text", "sentences")) - {"section"}
"""Fields that only need validation."""
_SENTENCE_KEYS = frozenset(SENTENCE_FIELDS)


class RecordAdapter:
    """Applies the column mapping, finds fields under other names, reads dates and decodes texts of tables.

    All other columns become metadata. Automatic changes are reported as remarks. `day_first` is passed to
    `read_date`.
    """

    def __init__(
        self,
        mapping: Mapping[str, str],
        on_remark: Callable[[Remark], None] | None,
        day_first: bool | None = None,
    ) -> None:
        self._mapping = mapping
        self._on_remark = on_remark
        self._day_first = day_first

    def adapt(self, record: Record, format: Format) -> Record | Malformed | Skipped:
        """The record with the fields of a document. Raises InputError if a column is missing in all rows."""
        if format.any_names and (skipped := check_wordpress_rest(record.where, record.fields)):
            return skipped
        try:
            fields = apply_mapping(record, self._mapping, format.tabular)
        except MissingColumn as error:
            if format.tabular:
                raise InputError(record.where, str(error)) from None
            return Malformed(record.where, str(error))
        for field, column in find_absent(record, self._mapping):
            self._remark(record, f"have no {column!r} for --mapping {field}={column} and keep their own")
        if format.any_names:
            try:
                fields = self._complete(record, fields)
            except html_tree.NoArticle as error:
                return Malformed(record.where, str(error))
            if "sentences" in fields:
                fields = {**fields, "sentences": self._read_sentences(record, fields["sentences"])}
            try:
                fields = self._read_date(record, fields, format.tabular)
            except UnclearDate as error:
                id = fields.get("id")
                return Malformed(record.where, f"date {error}", id if isinstance(id, str) else None)
        if format.tabular and not any(map(fields.__contains__, FIELDS)):
            raise InputError(record.where, _describe_unknown_columns(record))
        return Record(record.where, self._decode(record, fields) if format.tabular else fields)

    def _complete(self, record: Record, fields: Mapping[str, Any]) -> Mapping[str, Any]:
        """The fields of a document, including those under other names, with all other values as metadata.

        Raises NoArticle for HTML that cannot be read.
        """
        columns = list(find_known_columns(fields, self._is_date))
        known = [column for column in columns if column.value is not None]
        if known:
            places = ", ".join(f"{field} in {column}" for field, column, _ in known)
            self._remark(record, f"have their {places} (--mapping chooses others)")
        for field, column, value in columns:
            if value is None:
                self._remark(record, f"have a {column} that cannot be read, and no {field}")
        if type(fields.get("id")) is int:
            fields = {**fields, "id": str(fields["id"])}
        if known or not fields.keys() <= _PLAIN or fields.keys() != record.fields.keys():
            fields = self._with_metadata(record.fields, fields, known)
        if isinstance(fields.get("text"), list) and (text := read_paragraphs(fields["text"])):
            fields = {**fields, "text": text}
        return self._read_html(record, fields, {column.field: column.column for column in known})

    def _read_html(
        self, record: Record, fields: Mapping[str, Any], columns: Mapping[str, str]
    ) -> Mapping[str, Any]:
        """The fields, with HTML in title and text replaced by its text. Raises NoArticle."""
        read: dict[str, str] = {}
        for field in ("title", "text"):
            column, text = columns.get(field, self._mapping.get(field, field)), fields.get(field)
            if isinstance(text, str) and has_html(column, text):
                if "<" in text or "&" in text:
                    require(f"the HTML in {column!r}", "lxml.etree")
                read[field] = html_tree.html_to_text(text)
        if all(read[field] == fields[field] for field in read):
            return fields
        self._remark(record, f"have HTML in their {' and '.join(read)}, of which the text was taken")
        return {**fields, **read}

    def _with_metadata(
        self, record: Mapping[str, Any], fields: Mapping[str, Any], known: Sequence[KnownColumn]
    ) -> Mapping[str, Any]:
        """The fields of a document, some of them from known columns, and all other values as metadata."""
        complete = {name: value for name, value in fields.items() if name in FIELDS}
        used = {name for name in complete if name in record} | {*self._mapping.values()}
        # A column is unused if a mapping takes its field from another column.
        used -= {field for field, column in self._mapping.items() if column in record and column != field}
        for field, column, value in known:
            complete[field] = value
            used.discard(field)
            used |= {column} if is_lossless(record.get(column)) else set()
        for name in ("section", *LIST_FIELDS):
            if name not in complete:
                continue
            value, column = complete[name], self._mapping.get(name, name)
            complete[name] = _read_section(value) if name == "section" else read_list(name, value)
            if (complete[name] is None and value is not None) or not is_lossless(value):
                used.discard(column)
        metadata = collect_metadata(record, used)
        return {**complete, METADATA: metadata} if metadata else complete

    def _read_sentences(self, record: Record, sentences: Any) -> Any:
        """The sentences as objects, without keys that sentences cannot have, which get a remark."""
        if not isinstance(sentences, list):
            return sentences
        unknown = {
            name
            for sentence in sentences
            if isinstance(sentence, dict) and not sentence.keys() <= _SENTENCE_KEYS
            for name in sentence.keys() - _SENTENCE_KEYS
        }
        if unknown:
            names = ", ".join(sorted(to_one_line(name) for name in unknown))
            self._remark(record, f"have sentences with {names}, which sentences cannot have: left out")
        return [{"text": sentence} if isinstance(sentence, str) else sentence for sentence in sentences]

    def _is_date(self, text: str) -> bool:
        try:
            return read_date(text, self._day_first) is not None
        except UnclearDate:
            return True

    def _read_date(self, record: Record, fields: Mapping[str, Any], tabular: bool) -> Mapping[str, Any]:
        """The fields with the date in ISO 8601. Raises UnclearDate.

        ISO 8601 dates in JSON are unchanged. So are values that are no dates, which validation rejects.
        """
        date = fields.get("date")
        if type(date) in (int, float):
            date = str(date)
        if not isinstance(date, str) or (not tabular and date is fields["date"] and is_iso_date(date)):
            return fields
        written = read_date(date, self._day_first)
        if written is None:
            return fields
        if written.reading:
            self._remark(record, f"have a date that was read {written.reading}")
        return {**fields, "date": written.iso}

    def _decode(self, record: Record, fields: Mapping[str, Any]) -> Mapping[str, Any]:
        """The fields, with HTML and escapes removed from the texts of a table."""
        decoded: dict[str, Any] = {
            field: text
            for field in _TEXTS
            if isinstance(value := fields.get(field), str) and (text := decode(value)) != value
        }
        for field in LIST_FIELDS:
            texts = fields.get(field) or []
            if isinstance(texts, list) and (lines := [*map(decode, texts)]) != texts:
                decoded[field] = lines
        if not decoded:
            return fields
        self._remark(record, "had HTML or backslashes in their text, which were decoded")
        return {**fields, **decoded}

    def _remark(self, record: Record, text: str) -> None:
        if self._on_remark:
            self._on_remark(Remark(record.where, text))


def _read_section(value: Any) -> str | None:
    """A section given as a string, or as a list with one; None for any other value."""
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    return value if isinstance(value, str) else None


def _describe_unknown_columns(record: Record) -> str:
    columns = ", ".join(to_one_line(column) for column in list(record.fields)[:20])
    return (
        f"no column has a known name ({columns}): name those of fields with --mapping FIELD=COLUMN, "
        "or all of them with --columns if the first row of the table is a document"
    )


EMBARGO_REASON = "under embargo"


def is_embargoed(until: str) -> bool:
    """Whether an embargo until this date is still active; true for an unreadable date."""
    date = to_iso_date(until)
    return date is None or parse_date_start(date) > datetime.now(UTC).timestamp() * 1000


_ARTICLES = ("post", "page")


def check_wordpress_export(where: str, entry: Mapping[str, Any]) -> Skipped | None:
    """The entry of an export as Skipped, or None if it is to be read. `entry` is an entry of feedparser.

    Entries of other feeds are never skipped.
    """
    return _check_wordpress(
        where, entry.get("wp_post_type"), entry.get("wp_status"), bool(entry.get("wp_post_password"))
    )


def check_wordpress_rest(where: str, fields: Mapping[str, Any]) -> Skipped | None:
    """An object of the REST interface as Skipped, or None if it is to be read, as any other object is."""
    content = fields.get("content")
    if not isinstance(content, dict) or "rendered" not in content:
        return None
    return _check_wordpress(where, fields.get("type"), fields.get("status"), content.get("protected") is True)


def _check_wordpress(where: str, type: Any, status: Any, has_password: bool) -> Skipped | None:
    if type not in (None, *_ARTICLES):
        reason = "no post or page of WordPress"
    elif status not in (None, "publish"):
        reason = "not published in WordPress"
    elif has_password:
        reason = "protected by a password in WordPress"
    else:
        return None
    return Skipped(where, reason, is_lasting=True)


CONFUSED = {"am": "ti (Tigrinya)", "rw": "rn (Kirundi)"}
"""Detected languages, each with a similar language that the model does not know and detects as this one."""


def describe_uncertain(languages: Iterable[str | None]) -> str:
    """The confusions that detection makes among these languages, as part of a sentence; empty if none."""
    uncertain = sorted({*filter(None, languages)} & {*CONFUSED})
    return ", and ".join(f"{CONFUSED[code]} is detected as {code} too" for code in uncertain)


class LanguageDetector:
    """Detects languages. `detected` counts the documents that got a detected language, by language."""

    def __init__(self) -> None:
        self.detected: Counter[str] = Counter()

    def choose_language(self, document: Document) -> str | None:
        """The declared language of a document, or else the detected one, or None."""
        return document.language or detect_language(sentence.text for sentence in document.sentences)

    def build_document(self, fields: Mapping[str, Any]) -> Document:
        """The document with these fields. If they have no language, it gets a detected one (ISO 639-1).

        Detection comes first, because the text is split into sentences by the rules of its language.
        """
        declared = fields.get("language")
        if is_doubtful_language(fields):
            detected = detect_language(_texts(fields))
            if detected not in (None, "en"):
                self.detected[detected] += 1
                return build_document({**fields, "language": detected})
        is_missing = declared is None or (isinstance(declared, str) and not declared.strip())
        language = detect_language(_texts(fields)) if is_missing else None
        document = build_document({**fields, "language": language} if language else fields)
        if language:
            self.detected[language] += 1
        return document


def is_doubtful_language(fields: Mapping[str, Any]) -> bool:
    """Whether the language is English by a page's statement, which is that of many templates."""
    language = fields.get("language")
    is_stated = isinstance(language, str) and language == fields.get("page_language")
    return is_stated and primary_language(language) == "en"


def _texts(fields: Mapping[str, Any]) -> Iterator[str]:
    """The texts in fields that are not yet validated."""
    text, sentences = fields.get("text"), fields.get("sentences")
    if isinstance(text, str):
        yield text[: 4 * MAX_CHARACTERS]  # blanks are collapsed later
    elif isinstance(sentences, list):
        for sentence in sentences:
            if isinstance(sentence, dict) and isinstance(text := sentence.get("text"), str):
                yield text
