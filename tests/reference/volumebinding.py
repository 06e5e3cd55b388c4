"""The volumes of one node for a pod's claims, by plain loops over the objects."""

from typing import NamedTuple

from kubeclassic.api.meaning.labels import node_selector_matches, selector_matches
from kubeclassic.api.objects.quantity import Quantity

BETA = "volume.beta.kubernetes.io/storage-class"
SELECTED = "volume.kubernetes.io/selected-node"
ZERO = Quantity()


class Rules(NamedTuple):
    """The differences between releases and gates."""

    selected_node_is_immediate: bool
    checks_phase: bool
    volume_mode: str
    matches_by_beta_class: bool
    block_volumes: bool


class Answer(NamedTuple):
    """The answer for a node: the flags, or the text of an error, and the names of volumes and claims in the
    decision."""

    unbound: bool
    bound: bool
    error: str = None
    bindings: tuple = ()
    provisionings: tuple = ()


class ModeError(Exception):
    """A volumeMode is missing in a release that cannot do without."""


def reachable(volume, node):
    affinity = volume.spec.node_affinity
    return affinity is None or node_selector_matches(affinity, node.labels, "")


def mode_differs(claim, volume, rules):
    modes = [claim.spec.volume_mode, volume.spec.volume_mode]
    if not rules.block_volumes:
        return rules.volume_mode == "reject" and "Block" in modes
    if rules.volume_mode == "strict" and None in modes:
        raise ModeError("error checking if volumeMode was a mismatch: api defaulting for volumeMode failed")
    return (modes[0] or "Filesystem") != (modes[1] or "Filesystem")


def is_allowed(kind, node):
    """Whether *kind* has no terms, or the node has a value of each key of one of them; no value is valid
    where a key has none."""
    terms = [term.match_label_expressions for term in kind.allowed_topologies]
    return not terms or any(
        term and all(node.labels.get(one.key) in one.values for one in term) for term in terms
    )


def belongs(volume, claim):
    to = volume.spec.claim_ref
    return (
        to is not None
        and to.name == claim.name
        and to.namespace == claim.namespace
        and to.uid in ("", claim.uid)
    )


def best(claim, volumes, node, chosen, rules):
    wanted = claim.spec.requests.get("storage", ZERO)
    smallest = None
    for volume in volumes:
        if (
            volume.name in chosen
            or mode_differs(claim, volume, rules)
            or volume.metadata.deletion_timestamp is not None
        ):
            continue
        capacity = volume.spec.capacity.get("storage", ZERO)
        if capacity < wanted:
            continue
        if belongs(volume, claim):
            return volume if reachable(volume, node) else None
        if (
            suits(claim, volume, rules)
            and reachable(volume, node)
            and (smallest is None or capacity < smallest.spec.capacity["storage"])
        ):
            smallest = volume
    return smallest


def suits(claim, volume, rules):
    if volume.spec.claim_ref is not None or (rules.checks_phase and volume.phase != "Available"):
        return False
    if claim.spec.selector is not None and not selector_matches(claim.spec.selector, volume.labels):
        return False
    if volume.annotations.get(BETA, volume.spec.storage_class_name) != claim.annotations.get(
        BETA, claim.spec.storage_class_name or ""
    ):
        return False
    return set(claim.spec.access_modes) <= set(volume.spec.access_modes)


def find(keys, claims, volumes, classes, node, rules):
    """The answer of one node for the claims *keys*."""
    bound = []
    delayed = []
    immediate = False
    for key in keys:
        claim = claims[key]
        if claim.spec.volume_name and "pv.kubernetes.io/bind-completed" in claim.annotations:
            bound.append(claim)
            continue
        kind = classes.get(claim.annotations.get(BETA, claim.spec.storage_class_name or ""))
        waits = kind is not None and kind.volume_binding_mode == "WaitForFirstConsumer"
        if rules.selected_node_is_immediate and SELECTED in claim.annotations:
            waits = False
        if waits and not claim.spec.volume_name:
            delayed.append(claim)
        else:
            immediate = True
    if immediate:
        return Answer(False, False, "pod has unbound immediate PersistentVolumeClaims")
    bound_ok = True
    for claim in bound:
        volume = volumes.get(claim.spec.volume_name)
        if volume is None:
            return Answer(False, False, f'could not find v1.PersistentVolume "{claim.spec.volume_name}"')
        if not reachable(volume, node):
            bound_ok = False
            break
    return _unbound(delayed, bound_ok, volumes, classes, node, rules)


def _unbound(delayed, bound_ok, volumes, classes, node, rules):
    to_provision = [claim for claim in delayed if SELECTED in claim.annotations]
    if any(claim.annotations[SELECTED] != node.name for claim in to_provision):
        return Answer(False, bound_ok)
    chosen = set()
    bindings = []
    rest = [claim for claim in delayed if SELECTED not in claim.annotations]
    for claim in sorted(rest, key=lambda claim: claim.spec.requests.get("storage", ZERO)):
        name = claim.spec.storage_class_name or ""
        if rules.matches_by_beta_class:
            name = claim.annotations.get(BETA, name)
        listed = [volumes[key] for key in sorted(volumes) if volumes[key].spec.storage_class_name == name]
        try:
            volume = best(claim, listed, node, chosen, rules)
        except ModeError as error:
            return Answer(False, False, str(error))
        if volume is None:
            to_provision.append(claim)
        else:
            chosen.add(volume.name)
            bindings.append((volume.name, claim.key))
    for claim in to_provision:
        kind = classes[claim.annotations.get(BETA, claim.spec.storage_class_name or "")]
        if kind.provisioner in ("", "kubernetes.io/no-provisioner") or not is_allowed(kind, node):
            return Answer(False, bound_ok, None, tuple(bindings))
    return Answer(True, bound_ok, None, tuple(bindings), tuple(claim.key for claim in to_provision))
