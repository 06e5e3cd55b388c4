"""What a release is, as a table of cells. The values are in ``algorithmprovider/releases.py`` and ``framework/tables``."""

from __future__ import annotations

from .framework import *
from .release import *
