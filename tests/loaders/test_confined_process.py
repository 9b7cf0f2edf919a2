"""Files that are read by a child process with limits, and the child's life."""

import gc
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
from io import BytesIO
from pathlib import Path

import pytest

from esr.loaders import ReadOptions, confined_process, get, read_documents
from esr.loaders.confined_process import hold_process, read_confined
from esr.loaders.format import Record, Source
from tests.support.processes import holds_in_threads, wait_until
from tests.support.samples import sample

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="limits are those of Linux"),
]


@pytest.fixture(autouse=True)
def no_child_of_other_tests() -> None:
    """Other tests may have left a reader in the middle of a file, which holds its child."""
    gc.collect()
    with hold_process() as child:
        child.holders = 1


_MEMORY_OF_LOAD = 5 * 2**30
"""Address space in which a load without a child ends before it takes the memory of the machine."""
_FONT = "/Font << /T 5 0 R >>"


def _stream(content: str, entries: str = "") -> str:
    return f"<< {entries} /Length {len(content)} >>\nstream\n{content}\nendstream"


def bomb(levels: int = 26) -> bytes:
    """A PDF of a few KB: each of its forms draws the next one twice, so its text is drawn 2^levels times."""
    forms = []
    for number in range(levels):
        content = "/F Do /F Do" if number < levels - 1 else "BT /T 12 Tf (boom) Tj ET"
        resources = f"/Resources << {_FONT} /XObject << /F {7 + number} 0 R >> >>"
        forms.append(_stream(content, f"/Type /XObject /Subtype /Form /BBox [0 0 200 200] {resources}"))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 200 200] /Contents 4 0 R "
        f"/Resources << {_FONT} /XObject << /F 6 0 R >> >> >>",
        _stream("/F Do"),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        *forms,
    ]
    body = "".join(f"{number} 0 obj\n{text}\nendobj\n" for number, text in enumerate(objects, 1))
    return f"%PDF-1.4\n{body}trailer << /Root 1 0 R >>\n%%EOF\n".encode()


_LOAD = f"""
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, ({_MEMORY_OF_LOAD}, {_MEMORY_OF_LOAD}))
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
from esr.loaders import ReadOptions, confined_process, read_documents
confined_process.MEMORY_BYTES = 2**29
bad = []
options = ReadOptions(on_malformed=bad.append, base=sys.argv[1])
with confined_process.hold_process():
    found = [located.document.id for located in read_documents(sys.argv[1:], options=options)]
print(found, *[f"{{malformed.where}}: {{malformed.problem}}" for malformed in bad])
assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss < 2**20, "the child took more than 1 GiB"
"""


def test_a_pdf_that_would_take_all_memory_is_refused_and_the_others_are_read(tmp_path):
    (tmp_path / "b.pdf").write_bytes(bomb())
    for name in ("a.pdf", "c.pdf"):
        (tmp_path / name).write_bytes(sample("pdf"))
    (tmp_path / "script.py").write_text(_LOAD)  # it has no guard, so a spawned process would run it again
    command = [sys.executable, tmp_path / "script.py", tmp_path]
    run = subprocess.run(command, capture_output=True, text=True, cwd=Path.cwd(), env=_environment())
    assert run.returncode == 0, run.stderr
    assert "['a', 'c']" in run.stdout
    assert "b.pdf: takes more than 0.5 GiB of memory to read, or crashes its library" in run.stdout


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}


def read(*paths: Path, bad: list[str] | None = None) -> list[str]:
    on_malformed = None if bad is None else lambda malformed: bad.append(malformed.problem)
    options = ReadOptions(on_malformed=on_malformed)
    return [
        Path(found.where).name for found in read_documents([str(path) for path in paths], options=options)
    ]


@pytest.fixture
def pdf(tmp_path) -> Path:
    path = tmp_path / "news.pdf"
    path.write_bytes(sample("pdf"))
    return path


def test_files_get_the_same_records_by_path_by_bytes_and_without_a_child(pdf):
    by_path = Source("news.pdf", "news.pdf", BytesIO(), str(pdf))
    by_bytes = by_path._replace(stream=BytesIO(pdf.read_bytes()), path=None)
    without_child = list(get("pdf").read(by_path))
    for source in (by_path, by_bytes):
        confined = list(read_confined(get("pdf"), source))
        assert confined == without_child
        assert _places(confined) == _places(without_child) != []


def _places(results: list[object]) -> list[object]:
    return [result.fields["text"].places for result in results if isinstance(result, Record)]


def test_a_child_is_reused_and_ends_after_the_block(pdf):
    with hold_process() as child:
        read(pdf)
        process = child.process
        read(pdf, pdf)
        assert child.process is process
        assert process.poll() is None
    assert process.returncode == -signal.SIGKILL  # and it was waited for
    assert child.process is None


def test_a_child_that_was_killed_between_two_files_costs_no_file(pdf):
    with hold_process() as child:
        read(pdf)
        child.process.kill()
        child.process.wait()
        assert len(read(pdf)) == 1


def test_a_file_that_takes_too_much_time_is_refused(pdf, monkeypatch, tmp_path):
    monkeypatch.setattr(confined_process, "SECONDS", 1)
    slow = tmp_path / "slow.pdf"
    slow.write_bytes(bomb(19))  # some seconds' work in less than 2 GiB, if nothing stops it
    bad = []
    assert len(read(slow, pdf, bad=bad)) == 1
    assert bad == [
        "takes more than 1 seconds of processor time to read, like a file made to do so: leave it out"
    ]


def test_files_read_in_threads_and_in_forks_get_their_own_answers(pdf, tmp_path):
    other = tmp_path / "other.pdf"
    other.write_bytes(sample("pdf"))
    names = {pdf: ["news.pdf"], other: ["other.pdf"]}
    with hold_process() as child:
        assert holds_in_threads(lambda path: read(path) == names[path], [pdf, other] * 10)
        process = child.process
        with multiprocessing.get_context("fork").Pool(2) as forks:
            assert forks.map(read, [other, pdf]) == [["other.pdf"], ["news.pdf"]]
        assert read(pdf) == ["news.pdf"]
        assert child.process is process


def test_an_error_in_the_source_ends_the_exchange_and_the_next_file_is_read(pdf):
    class Broken:
        def read(self, size: int) -> bytes:
            raise EOFError("truncated")

    with hold_process():
        with pytest.raises(EOFError, match="truncated"):
            list(read_confined(get("pdf"), Source("a.pdf", "a.pdf", Broken())))
        assert read(pdf) == ["news.pdf"]


def test_an_answer_can_hold_only_results():
    class Attack:
        def __reduce__(self):
            return os.system, ("true",)

    decoder = confined_process.AnswerDecoder(BytesIO(pickle.dumps(([Attack()], None))))
    with pytest.raises(pickle.UnpicklingError, match=r"may not hold posix\.system"):
        decoder.load()


def test_a_child_ends_when_its_parent_is_killed_while_it_reads(tmp_path):
    slow = tmp_path / "slow.pdf"
    os.mkfifo(slow)  # opening it never ends
    program = (
        "import sys, threading, time\n"
        "from esr.loaders import confined_process as p, get, Source\n"
        "def tell():\n"
        "    while not p.CHILD.process: time.sleep(.01)\n"
        "    print(p.CHILD.process.pid, flush=True)\n"
        "threading.Thread(target=tell, daemon=True).start()\n"
        "list(p.read_confined(get('pdf'), Source('slow', 'slow', None, sys.argv[1])))"
    )
    command = [sys.executable, "-c", program, slow]
    parent = subprocess.Popen(command, stdout=subprocess.PIPE, env=_environment())
    child = int(parent.stdout.readline())
    parent.kill()
    parent.wait()
    parent.stdout.close()
    wait_until(lambda: not _is_running(child), "the end of the child", 20)


def _is_running(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_a_file_is_read_in_this_process_where_no_other_can_be_started(pdf, monkeypatch):
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    with hold_process() as child:
        assert read(pdf) == ["news.pdf"]
        assert child.process is None
