"""The cluster as arrays: columns, the table of nodes, the census of pods, and the batches of rows that rules
are asked about."""

from __future__ import annotations

from .batch import *
from .census import *
from .columns import *
from .counts import *
from .reduction import *
from .table import *
