"""Manifests as the API server and the controllers complete them: defaults, admission, the pods of
workloads."""

from __future__ import annotations

from .admission import *
from .daemons import *
from .defaults import *
from .deviceclaims import *
from .disruption import *
from .missing import *
from .ownership import *
from .quotas import *
from .scaledown import *
from .volumes import *
from .workloadfaults import *
from .workloads import *
