"""Classes of rows: equal rows are in one, and the host that is read off them is that of a look at all
rows."""

import numpy as np
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from kubeclassic.core.incremental import board
from kubeclassic.core.incremental.classes import grouped
from kubeclassic.core.incremental.verify import verifying
from kubeclassic.core.run import EventFeed
from kubeclassic.simulation.conform import engine_for
from tests.support.build import node, obj, pod
from tests.support.examples import examples

VALUES = st.integers(0, 2) | st.sampled_from([-(1 << 61), 1 << 61, 1 << 40])
RELEASES = ("1.12", "1.16", "1.34", "1.36")
SERVICE = obj(
    yaml.safe_load("{kind: Service, metadata: {name: s, namespace: default}, spec: {selector: {app: a}}}")
)
STEP = st.tuples(st.sampled_from(["small", "small", "peer", "apart", "leave"]), st.integers(0, 3))


@given(rows=st.lists(st.tuples(VALUES, VALUES, VALUES, st.booleans()), max_size=20), width=st.integers(0, 3))
def test_rows_are_in_one_group_where_they_are_equal(rows, width):
    """Whatever the values are, and however many columns there are; each group names one of its rows."""
    columns = [np.array([row[at] for row in rows], np.int64) for at in range(width)]
    inside = np.array([row[3] for row in rows], np.bool_)
    found, first = grouped(columns, inside)
    assert ((found >= 0) == inside).all()
    assert found[first].tolist() == list(range(len(first)))
    for one, group in enumerate(found.tolist()):
        for other, mate in enumerate(found.tolist()):
            if group >= 0 and mate >= 0:
                assert (group == mate) is (rows[one][:width] == rows[other][:width])


def cluster(release):
    """Nine nodes of two sizes in three zones, and a service."""
    made = engine_for(release, {"percentageOfNodesToScore": 100, "featureGates": {}})
    for number in range(9):
        zone = f"z{number % 3}"  # under both names that releases know
        zones = {"failure-domain.beta.kubernetes.io/zone": zone, "topology.kubernetes.io/zone": zone}
        EventFeed(made).put(
            node(
                f"n{number}",
                cpu=str(2 + number % 2),
                labels={"kubernetes.io/hostname": f"n{number}", **zones},
            )
        )
    EventFeed(made).put(SERVICE)
    return made


def incoming(number, kind):
    """A pod: a small one, one of the service, or one that keeps to itself in its zone."""
    more = {}
    if kind == "apart":
        term = {"labelSelector": {"matchLabels": {"app": "a"}}, "topologyKey": "kubernetes.io/hostname"}
        more["affinity"] = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    labels = {"app": "b" if kind == "small" else "a"}
    return pod(
        f"p{number}", labels=labels, requests={"cpu": "300m", "memory": "64Mi"}, uid=f"u{number}", **more
    )


@pytest.mark.parametrize("release", RELEASES)
@examples(0.5)
@given(steps=st.lists(STEP, max_size=30))
def test_hosts_are_those_of_a_look_at_all_rows(release, steps):
    """Pods of three kinds come and go: a scheduler with classes, verified, places them as one without
    does."""
    with pytest.MonkeyPatch.context() as patch, verifying():
        by_classes = cluster(release)
        by_rows = cluster(release)
        placed = []
        for number, (kind, which) in enumerate(steps):
            if kind == "leave":
                for gone in placed[which : which + 1]:
                    EventFeed(by_classes).delete(gone)
                    EventFeed(by_rows).delete(gone)
                del placed[which : which + 1]
                continue
            hosts = []
            for made, most in ((by_classes, 1 << 20), (by_rows, -(1 << 20))):
                patch.setattr(board, "MOST_MOVED", most)
                hosts.append(made.schedule(incoming(number, kind), details=False).host)
            assert hosts[0] == hosts[1]
            if hosts[0] is not None:
                placed.append(incoming(number, kind).bound_to(hosts[0]))
                EventFeed(by_classes).put(placed[-1])
                EventFeed(by_rows).put(placed[-1])
