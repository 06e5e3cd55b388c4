"""VolumeRestrictions: disks that other pods use, and claims that only one pod may use."""

import numpy as np

from kubeclassic.core.arrays.batch import Overlay
from kubeclassic.framework.plugin import unresolvable
from kubeclassic.framework.plugins.volumerestrictions import VolumeRestrictions
from tests.support.asking import cycle_of, found_by, handle, refusals
from tests.support.build import node, pod
from tests.support.volumebuild import EPHEMERAL, claim, using

IN_USE = "node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode"
NODES = (node("a"), node("b"))
SOLE = claim("c", accessModes=["ReadWriteOncePod"])


def plugin(**gates):
    return VolumeRestrictions(None, handle(**gates))


def against(new, *objects, by=None):
    return refusals(by or plugin(), new, *NODES, *objects)


# --- Sole users ---------------------------------------------------------------------------------------------


def test_users_in_other_namespaces_do_not_count():
    """A claim of the same name in another namespace is another claim."""
    assert against(using("new", "c"), using("old", "c", on="a", namespace="other"), SOLE) == {
        "a": None,
        "b": None,
    }


def test_the_gate_switches_it_off():
    """With gate ReadWriteOncePod off neither users nor missing claims matter, and no state is needed."""
    off = plugin(ReadWriteOncePod=False)
    assert against(using("new", "c"), using("old", "c", on="a"), SOLE, by=off) == {"a": None, "b": None}
    assert against(using("new", "gone"), by=off) == {"a": None, "b": None}
    assert off.without_pre_filter is None
    assert off.follows_pods is None
    assert plugin().without_pre_filter == 'cannot read "PreFilterVolumeRestrictions" from cycleState'


def test_a_missing_claim_ends_the_cycle():
    """Every claim that the pod names must be there; those of generic ephemeral volumes are not checked."""
    cycle = cycle_of(using("new", EPHEMERAL, "gone"), *NODES)
    assert plugin().pre_filter(cycle.template, cycle) == unresolvable(
        'persistentvolumeclaim "gone" not found'
    )
    cycle = cycle_of(using("new", EPHEMERAL), *NODES)
    assert plugin().pre_filter(cycle.template, cycle) is None


def trial(cycle, *names):
    return Overlay.of(cycle.table, np.array([cycle.table.row_of[name] for name in names], np.intp))


# --- Trials -------------------------------------------------------------------------------------------------


def test_taking_the_user_off_frees_the_claim():
    """Removing the user in a trial frees the claim; adding it again takes the claim."""
    cycle = cycle_of(using("new", "c"), *NODES, using("old", "c", on="a"), SOLE)
    nodes = trial(cycle, "a", "b")
    user = nodes.pods(0)[0]
    nodes.remove(user, 0)
    assert found_by(plugin(), cycle, nodes) == {"a": None, "b": IN_USE}
    nodes.add(user, 0)
    assert found_by(plugin(), cycle, nodes) == {"a": IN_USE, "b": IN_USE}


def test_a_nominated_user_takes_it():
    """A pod that is only added for a trial uses its claims too."""
    cycle = cycle_of(using("new", "c"), *NODES, SOLE)
    nodes = trial(cycle, "a", "b")
    nodes.add(cycle.templates.entry(using("other", "c"), nominated=True), 1)
    assert found_by(plugin(), cycle, nodes) == {"a": None, "b": IN_USE}


def test_namespaces_do_not_matter_in_trials():
    """Upstream: a pod of another namespace with a claim of the same name frees the claim when it is
    removed."""
    objects = [*NODES, using("old", "c", on="a"), using("far", "c", on="b", namespace="other"), SOLE]
    cycle = cycle_of(using("new", "c"), *objects)
    nodes = trial(cycle, "b")
    nodes.remove(nodes.pods(0)[0], 0)
    assert found_by(plugin(), cycle, nodes) == {"b": None}


def test_pods_without_volumes_are_of_no_concern():
    """The plugin does not run for a pod without volumes."""
    assert not plugin().concerns(cycle_of(pod("new"), *NODES).template)
    assert plugin().concerns(cycle_of(using("new", "c"), *NODES).template)
