"""How the feature gates of a release of the framework may be set; ``gatetable`` has them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ...algorithmprovider.gates import parse_gates
from ...core.release import Gates
from ...exceptions import PolicyError
from .gatetable import OLDEST, Gatelist

ALL_OF_STAGE = {"AllAlpha": "ALPHA", "AllBeta": "BETA"}
"""Gates that set all gates of a stage, except those set by themselves."""


def resolved_gates(wanted: Mapping[str, bool] | str | None = None, known: Gatelist = OLDEST) -> Gates:
    """Every gate of *known* and whether it is on; *wanted* are the changes to the defaults, as a mapping or in the form of the flag.

    Raises :class:`~kubeclassic.exceptions.PolicyError` with upstream's text. Upstream: featuregate SetFromMap.
    """
    settings = parse_gates(wanted) if isinstance(wanted, str) else dict(wanted or {})
    for name, value in settings.items():
        _check(name, value, known)
    found = {name: gate.default for name, gate in known.items()}
    for everything, stage in ALL_OF_STAGE.items():
        if everything in settings:
            found.update({name: settings[everything] for name, gate in known.items() if gate.stage == stage})
    return MappingProxyType(found | settings)


def _check(name: str, value: bool, known: Gatelist) -> None:
    gate = known.get(name)
    if gate is None:
        raise PolicyError(f"unrecognized feature gate: {name}")
    if gate.locked and gate.default != value:
        wanted, kept = (str(setting).lower() for setting in (value, gate.default))
        raise PolicyError(f"cannot set feature gate {name} to {wanted}, feature is locked to {kept}")
