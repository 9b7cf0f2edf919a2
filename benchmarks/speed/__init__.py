"""The speed of esr beside its peers: one command that measures, keeps the raw figures and writes the page.

    python -m benchmarks.speed DOCUMENTS QUERIES --work FOLDER

Every search runs in one thread, so what counts threads is told so here, before anything reads it.
"""

import os

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(name, "1")
