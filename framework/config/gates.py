"""How the feature gates of a release of the framework may be set; ``gatetable`` has them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ...algorithmprovider.gates import parse_gates
from ...core.release import Gates, Release
from ...exceptions import PolicyError
from ..releases import PROFILE_RELEASE
from .gatetable import Gatelist

ALL_OF_STAGE = {"AllAlpha": "ALPHA", "AllBeta": "BETA"}
"""Gates that set all gates of a stage, except those set by themselves."""


def resolved_gates(
    wanted: Mapping[str, bool] | str | None = None, release: Release = PROFILE_RELEASE
) -> Gates:
    """Every gate of *release* and whether it is on; *wanted* are the changes to the defaults, as a mapping or in the form of the flag.

    Gates that are gone because their feature is always there are on. Raises :class:`~kubeclassic.exceptions.PolicyError`: with upstream's
    text, or for a gate whose feature is not modelled, so that nothing is judged as if it were off. Upstream: featuregate SetFromMap.
    """
    settings = parse_gates(wanted) if isinstance(wanted, str) else dict(wanted or {})
    for name, value in settings.items():
        _check(name, value, release.gates)
    found = dict.fromkeys(sorted(release.configuration.settled_gates), True) | {name: gate.default for name, gate in release.gates.items()}
    for everything, stage in ALL_OF_STAGE.items():
        if everything in settings:
            found.update({name: settings[everything] for name, gate in release.gates.items() if gate.stage == stage})
    found |= settings
    for name, what in release.configuration.not_modelled.items():
        if found[name]:
            raise PolicyError(f"feature gate {name}: got true, wanted false: {what}: this is not modelled")
    return MappingProxyType(found)


def _check(name: str, value: bool, gates: Gatelist) -> None:
    gate = gates.get(name)
    if gate is None:
        raise PolicyError(f"unrecognized feature gate: {name}")
    if gate.locked and gate.default != value:
        wanted, kept = (str(setting).lower() for setting in (value, gate.default))
        raise PolicyError(f"cannot set feature gate {name} to {wanted}, feature is locked to {kept}")
