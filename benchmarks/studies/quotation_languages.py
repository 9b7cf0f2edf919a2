"""How well quotations and speakers are found in several languages, on treebanks.

    python -m benchmarks.studies.quotation_languages FOLDER [TREEBANK ...]

FOLDER has the files `<code>_pud-ud-test.conllu` of the Parallel Universal Dependencies treebanks (ar, de, en,
es, fr, it, pl, pt, ru, tr, zh), or `<code>_<treebank>-ud-<part>.conllu` of others that `quotation_labels.tsv`
names. It says which of their sentences quote somebody and whom, and how they were drawn. Each sentence is a
document, except where ids name a document and its paragraphs, as in Dutch Alpino. If sentences of a treebank
are labelled `nobody`, only the labelled ones are read. Text between marks of at least three words counts, in
each of its sentences. A quotation is right if it shares half of its union with the text between marks that
begins in a labelled sentence, a speaker if it has the name of the label. Prints a table; with the beginnings
of names of files (es, es_gsd), also the errors in these.

The National Corpus of Polish and KPWr have another format, from which `FOLDER/pl_nkjp-ud-all.conllu` and
`FOLDER/pl_kpwr-ud-test.conllu` are made by

    python -m benchmarks.studies.quotation_languages nkjp-nested-simplified-v2.iob

and `FOLDER/fr_ntrex-ud-all.conllu` likewise from `newstest2019-ref.fra.txt` of NTREX-128, as those of other
languages are. The parts of French Sequoia are joined to `FOLDER/fr_sequoia-ud-all.conllu`. The Italian
sentences of CheckThat! are in tables: `FOLDER/it_checkthat-ud-all.conllu` is the output for `train_it.tsv`,
`dev_it.tsv`, `dev_test_it.tsv` and `test_it_labeled.tsv`, one after the other.
"""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from esr.enrichment.quotations.marks import JoinedText, Spans, pair_marks
from esr.enrichment.quotations.quotes import find_quotes
from esr.text.document import Document, Quote, Sentence

LABELS = Path(__file__).parent / "quotation_labels.tsv"
_MIN_WORDS = 3
_SHARED = 0.5
_PREFIX = 4
"""Number of letters of a name that inflected forms share."""
_PLACE = re.compile(r"(?P<document>.+)\.p\.(?P<paragraph>\d+)\.s\.(?P<sentence>\d+)")
"""An id that names the document and the paragraph of a sentence."""
_NO_WORDS = re.compile(r"[\u3400-\u9fff]")
Labels = Mapping[str, tuple[str, ...] | None]


def main(folder: Path, shown: Sequence[str]) -> None:
    labels = dict(read_labels())
    print("| language | quotations | recall | precision | names | speaker |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    for path in sorted(folder.glob("*-ud-*.conllu")):
        name = path.stem.removesuffix("_pud-ud-test")
        is_shown = any(name.startswith(one) for one in shown)
        print(_measure(name, _join_documents(dict(read_texts(path)), labels), labels, is_shown))


def read_labels() -> Iterator[tuple[str, tuple[str, ...] | None]]:
    """Yield the labelled sentences, each with the forms of the speaker's name; None if it quotes nobody."""
    for line in LABELS.read_text("utf-8").splitlines():
        if not line.startswith("#"):
            sentence, names = line.split("\t")
            yield sentence, None if names == "nobody" else () if names == "-" else tuple(names.split())


def read_texts(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the ids and texts of the sentences of a treebank."""
    sentence = ""
    for line in path.read_text("utf-8").splitlines():
        if line.startswith("# sent_id = "):
            sentence = line.removeprefix("# sent_id = ").rpartition("\\")[2]
        elif line.startswith("# text = "):
            yield sentence, line.removeprefix("# text = ")


def convert_iob(path: Path) -> Iterator[str]:
    """Yield the sentences of a file in the format IOB as lines of CoNLL-U, numbered by document from 1."""
    document, number, words = "", 0, list[str]()
    for line in [*path.read_text("utf-8").splitlines(), ""]:
        if line.startswith("-DOCSTART"):
            kind, _, rest = line.removeprefix("-DOCSTART ").partition(" ")
            document, number = (rest.removeprefix("./"), 0) if kind == "FILE" else (document, number)
        elif line:
            words.append(line.partition("\t")[0])
        elif words:
            number += 1
            yield f"# sent_id = {document}-{number}\n# text = {_join_words(words)}\n"
            words = []


def convert_lines(path: Path) -> Iterator[str]:
    """Yield the lines of a file of NTREX as lines of CoNLL-U, numbered from 1 behind its language."""
    language = path.suffixes[-2].removeprefix(".")
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        yield f"# sent_id = ntrex-{language}-{number}\n# text = {line}\n"


def convert_table(path: Path) -> Iterator[str]:
    """Yield the sentences of a table, with their ids in the first column, as lines of CoNLL-U.

    Some fields are in quotation marks, as in CSV: those that have doubled marks.
    """
    for line in path.read_text("utf-8").splitlines()[1:]:
        sentence, text, *_ = line.split("\t")
        text = text.strip()
        if text.startswith('"') and text.endswith('"') and '""' in text:
            text = text[1:-1].replace('""', '"')
        yield f"# sent_id = {sentence}\n# text = {text.strip()}\n"


CONVERTERS = {".iob": convert_iob, ".txt": convert_lines, ".tsv": convert_table}


def _join_words(words: Sequence[str]) -> str:
    """The text of words that are given without the blanks between them. Straight marks open in turn."""
    text, is_open = "", False
    for word in words:
        if word == '"':
            text = text.rstrip() + '" ' if is_open else text + word
            is_open = not is_open
        else:
            text += f"{word} "
    text = re.sub(r"\s+([.,;:!?)\]”»…])", r"\1", text)
    text = re.sub(r"([(\[„«“])\s+", r"\1", text)
    return re.sub(r'" ([.,;:!?)])', r'"\1', text).strip()


def _join_documents(texts: Mapping[str, str], labels: Labels) -> list[Document]:
    """The documents of a treebank, without language."""
    if any(id in texts and names is None for id, names in labels.items()):
        texts = {id: text for id, text in texts.items() if id in labels}
    documents: defaultdict[str, list[Sentence]] = defaultdict(list)
    for id, text in texts.items():
        place = _PLACE.fullmatch(id)
        paragraph = int(place["paragraph"]) if place else None
        documents[place["document"] if place else id].append(Sentence(id, text, paragraph=paragraph))
    return [Document(id, tuple(sorted(sentences, key=_position))) for id, sentences in documents.items()]


def _position(sentence: Sentence) -> tuple[int, ...]:
    """The position of a sentence in its document."""
    place = _PLACE.fullmatch(sentence.id)
    return (int(place["paragraph"]), int(place["sentence"])) if place else ()


def _measure(part: str, documents: Sequence[Document], labels: Labels, shows: bool) -> str:
    """The row of a treebank."""
    code = part.partition("_")[0]
    wanted = found_wanted = found = right = named = right_names = 0
    for document in documents:
        joined = JoinedText(document)
        gold: list[Spans] = [[] for _ in document.sentences]
        pairs = pair_marks(joined)
        for pieces in pairs:
            if labels.get(document.sentences[joined.sentence_at(pieces[0][0])].id) is not None:
                for n, start, end in joined.spans_by_sentence(pieces):
                    gold[n].append((start, end))
        if not pairs:
            continue
        quotes_by_sentence = find_quotes(document, code)
        for sentence, pieces, all_quotes in zip(document.sentences, gold, quotes_by_sentence, strict=True):
            text = sentence.text
            spoken = labels.get(sentence.id) or ()
            pieces = [
                piece for piece in pieces if _is_long(text, piece) and not _is_speaker(text, piece, spoken)
            ]
            quotes = [quote for quote in all_quotes if _is_long(text, (quote.start, quote.end))]
            hits = [quote for quote in quotes if any(_overlap(quote, piece) >= _SHARED for piece in pieces)]
            got = [piece for piece in pieces if any(_overlap(quote, piece) >= _SHARED for quote in quotes)]
            wanted, found_wanted = wanted + len(pieces), found_wanted + len(got)
            found, right = found + len(quotes), right + len(hits)
            names = [name for name in labels.get(sentence.id) or () if _has_name(joined.text, name)]
            is_right = any(_has_name(quote.speaker or "", name) for quote in hits for name in names)
            if hits and names:
                named, right_names = named + 1, right_names + is_right
            is_wrong = len(got) < len(pieces) or len(hits) < len(quotes) or (hits and names and not is_right)
            if shows and is_wrong:
                read = [(text[quote.start : quote.end][:40], quote.speaker, quote.cue) for quote in quotes]
                print(f"{part} {sentence.id} {names}\n   {text}\n   {read}", file=sys.stderr)
    figures = f"{found_wanted / max(wanted, 1):.3f} | {right / max(found, 1):.3f} | {named}"
    return f"| {part} | {wanted} | {figures} | {right_names / max(named, 1):.3f} |"


def _is_long(text: str, piece: tuple[int, int]) -> bool:
    quoted = text[piece[0] : piece[1]]
    return len(re.findall(r"\w+", quoted)) >= _MIN_WORDS or len(_NO_WORDS.findall(quoted)) >= 2 * _MIN_WORDS


def _is_speaker(text: str, piece: tuple[int, int], names: Sequence[str]) -> bool:
    """Whether text between marks is the name of the newspaper that speaks: "pisze „New York Times”"."""
    words = re.findall(r"\w+", text[piece[0] : piece[1]])
    return all(word[0].isupper() for word in words) and any(
        _has_name(" ".join(words), name) for name in names
    )


def _overlap(quote: Quote, piece: tuple[int, int]) -> float:
    shared = min(quote.end, piece[1]) - max(quote.start, piece[0])
    return max(shared, 0) / (max(quote.end, piece[1]) - min(quote.start, piece[0]))


def _has_name(text: str, name: str) -> bool:
    return bool(name) and name[: max(_PREFIX, len(name) - 2)].lower() in text.lower()


if __name__ == "__main__":
    source = Path(sys.argv[1])
    if source.suffix in CONVERTERS:
        print("\n".join(CONVERTERS[source.suffix](source)))
    else:
        main(source, sys.argv[2:])
