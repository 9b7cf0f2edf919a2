"""The speed of esr and its peers: one command measures, stores the raw figures and writes the page.

    python -m benchmarks.speed DOCUMENTS QUERIES --work FOLDER

Every search runs in one thread. The variables for this are set here, before libraries read them.
"""

import os

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(name, "1")
