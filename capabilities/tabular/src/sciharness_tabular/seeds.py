"""Seeds for the parts of an operation, all from the one seed of the run."""

from __future__ import annotations

import numpy as np


def derived_seed(seed: int, part: int) -> int:
    """Return a seed below 2^31 that depends on both numbers.

    >>> derived_seed(0, 1) == derived_seed(0, 1), derived_seed(0, 1) == derived_seed(0, 2)
    (True, False)
    """
    return int(np.random.SeedSequence([seed % 2**64, part]).generate_state(1)[0] >> 1)
