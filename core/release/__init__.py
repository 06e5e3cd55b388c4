"""Releases as tables of cells. The values are in ``facts``, in ``gates.txt``, and where releases are made."""

from __future__ import annotations

from .framework import *
from .release import *
