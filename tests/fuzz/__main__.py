"""Fuzz a target by coverage: `python -m tests.fuzz query --seconds 60 --seed 1`, which needs atheris.

A target of tests.fuzz.targets gets changed inputs, and those that execute code for the first time are changed
further. Runs continue from `build/fuzz/TARGET`, where an input that fails is written too, and is printed with
its traceback.
"""

from __future__ import annotations

import argparse
import sys
from hashlib import sha256
from pathlib import Path

INSTRUMENTED = ["esr", "webui"]
COMPILED = ["esr.folder.kernel"]
"""What numba compiles from its bytecode."""
MAX_BYTES, MAX_SECONDS, MAX_MB = 100_000, 5, 2_048


def write_token(token: bytes) -> str:
    """A token as dictionaries of libFuzzer have it."""
    return "".join(f"\\x{byte:02x}" for byte in token)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("target", nargs="?", help="one of tests/fuzz/targets.py; none: list them")
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--record", metavar="URL", help="write the answers of this node of Elasticsearch anew"
    )
    options = parser.parse_args()
    if options.record or options.target is None:
        from tests.fuzz import targets

        if options.record:
            targets.record(options.record)
        else:
            print("\n".join(targets.TARGETS))
        return
    import atheris

    with atheris.instrument_imports(include=INSTRUMENTED, exclude=COMPILED):
        from tests.fuzz import targets

        target = targets.TARGETS[options.target]
        inputs = (*target.seeds(), *targets.read_corpus(options.target))
        seeds = [seed for seed in inputs if len(seed) <= MAX_BYTES]
        for seed in seeds[:3]:  # imports what it needs
            target.run(seed)
    work = Path("build/fuzz") / options.target
    work.mkdir(parents=True, exist_ok=True)
    for seed in seeds:
        (work / sha256(seed).hexdigest()[:16]).write_bytes(seed)
    words = work.with_suffix(".dict")
    words.write_text("".join(f'"{write_token(token)}"\n' for token in target.tokens or [b"\0"]))
    arguments = [
        f"-max_total_time={options.seconds}",
        f"-seed={options.seed}",
        f"-max_len={MAX_BYTES}",
        f"-timeout={MAX_SECONDS}",
        f"-rss_limit_mb={MAX_MB}",
        f"-artifact_prefix={work}/failed-",
        f"-dict={words}",
        "-print_final_stats=1",
    ]
    atheris.Setup([sys.argv[0], *arguments, str(work)], target.run)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
