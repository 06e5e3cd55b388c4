"""Volumes for the claims of pods: their choice, their nodes, and the scheduler's assumptions."""

from __future__ import annotations

from .binder import *
from .intree import *
from .match import *
