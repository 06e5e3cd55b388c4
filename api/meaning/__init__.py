"""The meaning of labels, selectors, tolerations and claims."""

from __future__ import annotations

from .durations import *
from .labels import *
from .podtotals import *
from .serverrules import *
from .volumes import *
