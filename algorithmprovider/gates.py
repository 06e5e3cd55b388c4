"""Feature gates: which ones a release knows, and which values they may have."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from ..api.meaning import ServerRules
from ..core.release import Gates, Release
from ..exceptions import PolicyError

UNKNOWN_GATE = "unrecognized feature gate: "
"""The beginning of the refusal of a gate that a release does not have."""
ALL_OF_STAGE = {"AllAlpha": "ALPHA", "AllBeta": "BETA"}
"""Gates that set all gates of a stage, except those set by themselves; up to 1.16 there is only the first."""
GivenGates = Mapping[str, bool] | str | None
"""Changes to the gates of a release, as a mapping or in the form of the flag; None: none."""
TRUE = ("1", "t", "T", "TRUE", "true", "True")
FALSE = ("0", "f", "F", "FALSE", "false", "False")
"""The texts that Go reads as true and as false."""


def server_rules(release: Release, gates: Mapping[str, bool]) -> ServerRules:
    """The admission of new objects by an API server of *release*; other gates than *gates* have their
    defaults."""
    known = {**resolved_gates(release), **gates}
    return replace(
        release.server,
        keeps_priorities=known.get("PodPriority", True),
        gives_overhead=known.get("PodOverhead", False),
        honours_policies=known.get("NonPreemptingPriority", False),
        keeps_sidecars=known.get("SidecarContainers", True),
        takes_ephemeral_volumes=known.get("GenericEphemeralVolume", True),
        keeps_host_users=known.get("UserNamespacesSupport", False),
        shares_host_network=known.get("UserNamespacesHostNetworkSupport", False),
        keeps_pod_resources=known.get("PodLevelResources", False),
        restarts_all=known.get("RestartAllContainersOnContainerExits", False)
        or not known.get("ContainerRestartRules", False),
        merges_label_keys=known.get("MatchLabelKeysInPodAffinity", False),
        merges_spread_keys=known.get("MatchLabelKeysInPodTopologySpreadSelectorMerge", False),
    )


def parse_gates(text: str) -> dict[str, bool]:
    """``A=true,B=false`` as a mapping, as the flag ``--feature-gates`` is read; raises
    :class:`~kubeclassic.exceptions.PolicyError`.

    Upstream: featuregate Set. It knows no names yet; :func:`resolved_gates` checks them.
    """
    value_by_gate = {}
    for part in filter(None, text.split(",")):
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals:
            raise PolicyError(f"missing bool value for {name}")
        if value not in TRUE + FALSE:
            raise PolicyError(
                f'invalid value of {name}={value}, err: strconv.ParseBool: parsing "{value}": invalid syntax'
            )
        value_by_gate[name] = value in TRUE
    return value_by_gate


class KnownGates(dict[str, bool]):
    """Gates of a release, and whether they are on; one that the release does not have is off."""

    def __missing__(self, gate: str) -> bool:
        return False

    def __repr__(self) -> str:
        return f"<{sum(self.values())} of {len(self)} gates on>"


def resolved_gates(release: Release, changes: GivenGates = None) -> Gates:
    """Every gate of *release* and whether it is on; *changes* are the changes to the defaults.

    Gates that are gone because their feature is always there are on. Raises
    :class:`~kubeclassic.exceptions.PolicyError`: with upstream's text for a gate that the release does not
    know or has locked, or for one whose feature is not modelled, so that no decision is made as if it were
    off. Upstream: featuregate SetFromMap.
    """
    settings = parse_gates(changes) if isinstance(changes, str) else dict(changes or {})
    for name, value in settings.items():
        gate = release.gates.get(name)
        if gate is None:
            raise PolicyError(f"{UNKNOWN_GATE}{name}")
        if gate.locked and gate.default != value:
            new_value, default_value = (str(setting).lower() for setting in (value, gate.default))
            raise PolicyError(
                f"cannot set feature gate {name} to {new_value}, feature is locked to {default_value}"
            )
    gates = KnownGates.fromkeys(sorted(release.configuration.settled_gates), True)
    gates.update({name: gate.default for name, gate in release.gates.items()})
    for everything, stage in ALL_OF_STAGE.items():
        if everything in settings:
            gates.update(
                {name: settings[everything] for name, gate in release.gates.items() if gate.stage == stage}
            )
    gates.update(settings)
    # Refuse gates that *settings* turn on while a gate that they need is off, or the other way round.
    # Upstream: featuregate Validate.
    faults = []
    for name, needed in release.configuration.gate_needs.items():
        off = [gate_name for gate_name in needed if not gates[gate_name]]
        if off and gates[name] and not settings.keys().isdisjoint((name, *off, *ALL_OF_STAGE)):
            faults.append(f"{name} is enabled, but depends on features that are disabled: [{' '.join(off)}]")
    if faults:
        raise PolicyError(faults[0] if len(faults) == 1 else f"[{', '.join(sorted(faults))}]")
    for name, what in release.configuration.not_modelled.items():
        if gates.get(name, False):
            raise PolicyError(f"feature gate {name}: expected false, got true: {what}: this is not modelled")
    return gates
