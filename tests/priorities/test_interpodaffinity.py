"""InterPodAffinityPriority: terms, weights, and preferences that are wrong."""

import numpy as np
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from kubeclassic.core.arrays.batch import Batch
from kubeclassic.core.arrays.reduction import FEW_KEYS, Reduction, Stretched
from kubeclassic.core.cycle import PriorityError
from kubeclassic.priorities.interpodaffinity import inter_pod_affinity
from tests.support.affinitybuild import A, C, affinity, peer, term
from tests.support.build import engine, pod, scored
from tests.support.examples import examples

INVALID = yaml.safe_load("{matchExpressions: [{key: app, operator: Near, values: [a]}]}")
BAD = (1, {"labelSelector": INVALID, "topologyKey": "zone"})
PLAIN = pod("new", app="a")


def incoming(**terms):
    """The pod that is to be scheduled."""
    return pod("new", app="b", affinity=affinity(**terms))


def raw(new, *objects, **options):
    """Node -> sum of weights."""
    return scored(inter_pod_affinity, new, *objects, reduced=False, **options)


@pytest.mark.parametrize("release, scores", [("1.14", [10, 5, 10]), ("1.15", [10, 10, 10])])
def test_a_node_that_stands_twice(release, scores):
    """Up to 1.14 sums are kept by name, so that a node that the search visited twice has twice its sum."""
    cycle = engine(A, C, peer("f", "a"), peer("g", "c"), release=release).begin(incoming(like=[(1, term())]))
    rows = [cycle.table.row_of[name] for name in "aca"]
    nodes = Batch(cycle.table, np.array(rows, np.intp))
    sums = inter_pod_affinity.score(cycle.template, nodes, cycle)
    assert sums.tolist() == [1, 1, 1]
    assert inter_pod_affinity.reduce(cycle.template, sums, nodes, cycle).tolist() == scores


def test_the_pods_own_needs_a_pod_to_match():
    """An invalid preference is an error once there is a pod, and nothing before."""
    assert raw(incoming(like=[BAD]), A) == {"a": 0}
    with pytest.raises(PriorityError, match=r'^"Near" is not a valid pod selector operator$'):
        raw(incoming(like=[BAD]), A, peer())


def test_an_existing_pods_one_is_an_error_for_every_pod():
    """One bad preference in the cluster fails the priority, a single time and not once a node."""
    with pytest.raises(PriorityError) as caught:
        raw(PLAIN, A, peer(dislike=[BAD]))
    assert caught.value.once


def test_on_a_node_that_is_gone_it_does_no_harm():
    """Pods whose node is not found are not looked at."""
    assert raw(PLAIN, A, peer(on="gone", dislike=[BAD]), release="1.12") == {"a": 0}


SPREADS = st.integers(0, 40) | st.integers(FEW_KEYS - 2, FEW_KEYS + 99) | st.integers(0, 1 << 40)


@examples(4)
@given(
    lowest=st.integers(-(1 << 40), 1 << 40),
    spread=SPREADS,
    top=st.sampled_from([10, 100]),
    shares=st.lists(st.floats(0, 1), max_size=20),
)
def test_each_sum_is_divided(lowest, spread, top, shares):
    """Each sum becomes what one division says, whether sums are counted in an array or sorted."""
    raw = [lowest, *(lowest + int(share * spread) for share in shares), lowest + spread]
    reduce = Reduction(lambda pod, found, cycle: Stretched(found.lowest, found.highest, top))
    wanted = [int(float(top) * ((one - lowest) / float(spread))) if spread else 0 for one in raw]
    assert reduce(None, np.array(raw, np.int64), None, None).tolist() == wanted
