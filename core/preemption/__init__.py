"""Preemption: the pods that have to leave so that a pod that fits nowhere fits somewhere.

* ``select``: an attempt of the releases of predicates, and failures kept from attempt to attempt; the
  framework's attempt is in ``framework/cycle/preemption.py``
* ``dryrun``: the dry run, the same for all, with two backings: overlays and arrays of sums; the protection by
  disruption budgets; outcomes, kept row by row from attempt to attempt
* ``victimchoice``: the pods of each row as arrays, in the order in which they are put back, and the node
  whose victims matter least
"""

from __future__ import annotations

from .dryrun import *
from .select import *
from .victimchoice import *
