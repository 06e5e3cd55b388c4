"""Manifests as the API server and the controllers complete them: defaults, admission, the pods of
workloads."""

from __future__ import annotations

from .admission import *
from .defaults import *
from .deviceclaims import *
from .disruption import *
from .missing import *
from .workloads import *
