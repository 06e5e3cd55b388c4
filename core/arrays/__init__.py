"""The cluster as arrays: columns, the table of nodes, the census of pods, the batches of rows that rules are
asked about, and what predicates answer."""

from __future__ import annotations

from .batch import *
from .census import *
from .columns import *
from .counts import *
from .failures import *
from .reduction import *
from .table import *
