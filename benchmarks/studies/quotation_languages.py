"""How well quotations and speakers are found in several languages, on treebanks.

    python -m benchmarks.studies.quotation_languages FOLDER [TREEBANK ...]

FOLDER has the files `<code>_pud-ud-test.conllu` of the Parallel Universal Dependencies treebanks (ar, de, en,
es, fr, it, pl, pt, ru, tr, zh), or `<code>_<treebank>-ud-<part>.conllu` of others that `quotation_labels.tsv`
names. It says which of their sentences quote somebody and whom, and how they were drawn. Each sentence is a
document. Text between marks of at least three words counts. A quotation is right if it shares half of its
union with the text between marks of a labelled sentence, a speaker if it has the name of the label. Prints a
table; with the beginnings of names of files (es, es_gsd), also the errors in these.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from esr.enrichment.quote_marks import JoinedText, pair_marks
from esr.enrichment.quotes import find_quotes
from esr.text.document import Document, Quote, Sentence

LABELS = Path(__file__).parent / "quotation_labels.tsv"
_MIN_WORDS = 3
_SHARED = 0.5
_PREFIX = 4
"""Number of letters of a name that inflected forms share."""
_NO_WORDS = re.compile(r"[\u3400-\u9fff]")
Spans = list[tuple[int, int]]


def main(folder: Path, shown: Sequence[str]) -> None:
    labels = dict(read_labels())
    print("| language | quotations | recall | precision | names | speaker |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    for path in sorted(folder.glob("*-ud-*.conllu")):
        name = path.stem.removesuffix("_pud-ud-test")
        is_shown = any(name.startswith(one) for one in shown)
        print(_measure(name, dict(read_texts(path)), labels, is_shown))


def read_labels() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the sentences that quote somebody, each with the forms of the speaker's name, if it has one."""
    for line in LABELS.read_text("utf-8").splitlines():
        if not line.startswith("#"):
            sentence, names = line.split("\t")
            yield sentence, () if names == "-" else tuple(names.split())


def read_texts(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the ids and texts of the sentences of a treebank."""
    sentence = ""
    for line in path.read_text("utf-8").splitlines():
        if line.startswith("# sent_id = "):
            sentence = line.removeprefix("# sent_id = ")
        elif line.startswith("# text = "):
            yield sentence, line.removeprefix("# text = ")


def _measure(part: str, texts: Mapping[str, str], labels: Mapping[str, tuple[str, ...]], shows: bool) -> str:
    """The row of a treebank."""
    code = part.partition("_")[0]
    wanted = found_wanted = found = right = named = right_names = 0
    for id, text in texts.items():
        document = Document(id, (Sentence(f"{id}.s0", text),), language=code)
        pieces = [
            piece for spans in pair_marks(JoinedText(document)) for piece in spans if _is_long(text, piece)
        ]
        if not pieces:
            continue
        quotes = [
            quote for quote in find_quotes(document, code)[0] if _is_long(text, (quote.start, quote.end))
        ]
        gold = pieces if id in labels else []
        hits = [quote for quote in quotes if any(_overlap(quote, piece) >= _SHARED for piece in gold)]
        got = [piece for piece in gold if any(_overlap(quote, piece) >= _SHARED for quote in quotes)]
        wanted, found_wanted = wanted + len(gold), found_wanted + len(got)
        found, right = found + len(quotes), right + len(hits)
        names = [name for name in labels.get(id, ()) if _has_name(text, name)]
        is_right = bool(names) and any(
            _has_name(quote.speaker or "", name) for quote in hits for name in names
        )
        if hits and names:
            named, right_names = named + 1, right_names + is_right
        if shows and (len(got) < len(gold) or len(hits) < len(quotes) or (hits and names and not is_right)):
            read = [(text[quote.start : quote.end][:40], quote.speaker, quote.cue) for quote in quotes]
            print(f"{part} {id} {names}\n   {text}\n   {read}", file=sys.stderr)
    figures = f"{found_wanted / max(wanted, 1):.3f} | {right / max(found, 1):.3f} | {named}"
    return f"| {part} | {wanted} | {figures} | {right_names / max(named, 1):.3f} |"


def _is_long(text: str, piece: tuple[int, int]) -> bool:
    quoted = text[piece[0] : piece[1]]
    return len(re.findall(r"\w+", quoted)) >= _MIN_WORDS or len(_NO_WORDS.findall(quoted)) >= 2 * _MIN_WORDS


def _overlap(quote: Quote, piece: tuple[int, int]) -> float:
    shared = min(quote.end, piece[1]) - max(quote.start, piece[0])
    return max(shared, 0) / (max(quote.end, piece[1]) - min(quote.start, piece[0]))


def _has_name(text: str, name: str) -> bool:
    return bool(name) and name[: max(_PREFIX, len(name) - 2)].lower() in text.lower()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
