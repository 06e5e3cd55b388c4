"""The meaning of labels, selectors and tolerations."""

from __future__ import annotations

from .durations import *
from .labels import *
from .podtotals import *
from .serverrules import *
