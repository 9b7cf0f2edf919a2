"""Products of a vector with stored vectors, of 8-bit numbers: sums of whole numbers, exact in any order."""

from __future__ import annotations

import numpy as np

from esr.engines.embedded.search.kernel.numba_support import eager_jit
from esr.engines.embedded.search.kernel.signatures import DOUBLES, LONGS, SHORTS, VECTORS


@eager_jit(DOUBLES, VECTORS, LONGS, SHORTS)
def multiply_vectors(products, vectors, rows, query):
    """Set `products`, of shape (n,), to those of the query with the vectors of these rows.

    The query has 16-bit numbers, for which processors have an instruction that multiplies and adds. A sum of
    4,096 products, as many as a vector may have dimensions, has 27 bits.
    """
    dimensions = len(query)
    for n in range(len(rows)):
        row = vectors[rows[n]]
        total = np.int32(0)
        for i in range(dimensions):
            total = np.int32(total + np.int32(row[i]) * np.int32(query[i]))
        products[n] = total
