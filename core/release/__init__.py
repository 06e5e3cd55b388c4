"""What a release is, as a table of cells. The values are in ``facts``, in ``gates.txt``, and where releases
are made.
"""

from __future__ import annotations

from .framework import *
from .release import *
