"""What a release is, as a table of cells. The values are in ``algorithmprovider/releases.py`` and ``framework/tables``."""

from __future__ import annotations

from .framework import ConfigurationCells, DeviceCells, FrameworkCells, QueueingCells, words_of
from .policies import PolicyCells
from .release import (
    ClientCells,
    ExtenderCells,
    FeatureGate,
    Footprint,
    GateEffect,
    Gates,
    LiveCells,
    NominationCells,
    PreemptionCells,
    QueueCells,
    Release,
    Requests,
    VolumeCells,
    gates_after,
)

__all__ = (
    "ClientCells",
    "ConfigurationCells",
    "DeviceCells",
    "ExtenderCells",
    "FeatureGate",
    "Footprint",
    "FrameworkCells",
    "GateEffect",
    "Gates",
    "LiveCells",
    "NominationCells",
    "PolicyCells",
    "PreemptionCells",
    "QueueCells",
    "QueueingCells",
    "Release",
    "Requests",
    "VolumeCells",
    "gates_after",
    "words_of",
)
