"""Feature gates: which a release knows, and to what they may be set."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ..core.release import Gates, Release
from ..exceptions import PolicyError

ALL_ALPHA = "AllAlpha"
"""The gate that sets every gate of stage ALPHA that is not set itself."""
POD_PRIORITY = "PodPriority"
_TRUE = ("1", "t", "T", "TRUE", "true", "True")
_FALSE = ("0", "f", "F", "FALSE", "false", "False")


def keeps_priorities(gates: Mapping[str, bool]) -> bool:
    """Whether gate PodPriority is on in *gates*, where the release has it: without it the API server drops the priorities of new pods."""
    return gates.get(POD_PRIORITY, True)


def parse_gates(text: str) -> dict[str, bool]:
    """``A=true,B=false`` as a mapping, as the flag ``--feature-gates`` is read; raises :class:`~kubeclassic.exceptions.PolicyError`.

    Upstream: featuregate Set. It knows no names yet; :func:`resolved_gates` checks them.
    """
    return dict(_setting(part) for part in text.split(",") if part)


def _setting(part: str) -> tuple[str, bool]:
    name, equals, value = (piece.strip() for piece in part.partition("="))
    if not equals:
        raise PolicyError(f"missing bool value for {name}")
    if value not in _TRUE + _FALSE:
        raise PolicyError(f'invalid value of {name}={value}, err: strconv.ParseBool: parsing "{value}": invalid syntax')
    return name, value in _TRUE


def resolved_gates(release: Release, wanted: Mapping[str, bool] | str | None = None) -> Gates:
    """Every gate of *release* and whether it is on; *wanted*: those that differ from the defaults.

    Raises :class:`~kubeclassic.exceptions.PolicyError` with upstream's text for a gate that the release does not know or has locked.
    Upstream: featuregate SetFromMap.
    """
    settings = parse_gates(wanted) if isinstance(wanted, str) else dict(wanted or {})
    for name, value in settings.items():
        _check(release, name, value)
    gates = {name: gate.default for name, gate in release.gates.items()}
    if ALL_ALPHA in settings:
        gates.update({name: settings[ALL_ALPHA] for name, gate in release.gates.items() if gate.stage == "ALPHA"})
    return MappingProxyType(gates | settings)


def _check(release: Release, name: str, value: bool) -> None:
    gate = release.gates.get(name)
    if gate is None:
        raise PolicyError(f"unrecognized feature gate: {name}")
    if gate.locked and gate.default != value:
        raise PolicyError(f"cannot set feature gate {name} to {_shown(value)}, feature is locked to {_shown(gate.default)}")


def _shown(value: bool) -> str:
    return "true" if value else "false"
