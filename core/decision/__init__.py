"""The steps of a cycle (search, verdict, extenders, score, tie-break), and the decision with its details."""

from __future__ import annotations

from .decision import *
from .extender import *
from .flow import *
from .preemptionplan import *
from .score import *
from .verdict import *
