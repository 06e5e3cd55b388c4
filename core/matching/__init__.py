"""The nodes, pods and namespaces that selectors and owners match, and the topology domains of nodes."""

from __future__ import annotations

from .nodeselectors import *
from .owners import *
from .spread import *
