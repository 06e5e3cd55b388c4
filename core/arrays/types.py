"""Names for arrays by what is in them. Shapes are in the docstrings of their owners."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
"""Where something holds."""
Rows = NDArray[np.intp]
"""Rows of a table, or indexes into a batch."""
ValueCodes = NDArray[np.intp]
"""Values of a column, as indexes into its list of distinct values."""
Scores = NDArray[np.int64]
"""What a priority gives each node."""

NO_INTS: Ints = np.zeros(0, np.int64)
NOWHERE: Mask = np.zeros(0, np.bool_)
"""What arrays begin with that are made later: read only, as nothing is in them."""
