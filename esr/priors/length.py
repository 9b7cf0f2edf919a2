"""The length prior: a sentence is as likely as it is long."""

import math

from esr.priors.prior import Prior, register

LENGTH = register(
    Prior(
        "length",
        "log( c(s) / collection length ); sentences without terms are left out",
        "Fernández, Losada & Azzopardi 2011, Table 9; docs/formulas.md, A.8",
        "length",
        "log",
        lambda collection: -math.log(max(collection.occurrences, 1)),
    )
)
