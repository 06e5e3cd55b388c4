"""Small clusters for the tests of PodTopologySpread, and random ones."""

import yaml
from hypothesis import strategies as st

from kubeclassic.framework.config.args import PodTopologySpreadArgs
from kubeclassic.framework.plugins.podtopologyspread import PodTopologySpread
from tests.support.asking import handle, refusals
from tests.support.build import node, pod

TEXT = "node(s) didn't match pod topology spread constraints"
SHORT = {TEXT: "skew", f"{TEXT} (missing required label)": "label", None: None}
NEAR = yaml.safe_load("{matchExpressions: [{key: app, operator: Near, values: [a]}]}")
LEAVING = {"deletionTimestamp": "2020-01-01T00:00:00Z"}
A = node("a", labels={"zone": "x", "rack": "1"})
B = node("b", labels={"zone": "y", "rack": "1"})


def constraint(key="zone", skew=1, selector=None, when="DoNotSchedule", **more):
    """A constraint over pods with ``app: a``, or those of *selector*."""
    wanted = {"matchLabels": {"app": "a"}} if selector is None else selector
    return {"maxSkew": skew, "topologyKey": key, "whenUnsatisfiable": when, "labelSelector": wanted, **more}


def soft(key="zone", skew=1, **more):
    """A constraint with ScheduleAnyway."""
    return constraint(key, skew, when="ScheduleAnyway", **more)


def incoming(*constraints, **more):
    """The pod to schedule, of ``app: a``."""
    return pod(
        "new",
        labels={"app": "a"} | more.pop("labels", {}),
        topologySpreadConstraints=list(constraints),
        **more,
    )


def peer(name, on, **more):
    """A bound pod of ``app: a``."""
    return pod(name, on=on, labels={"app": "a"} | more.pop("labels", {}), **more)


def plugin(defaults=None, release="1.27", **gates):
    """The plugin of *release* with System defaults, or with List defaults if *defaults* are given."""
    args = (
        PodTopologySpreadArgs(defaulting_type="System")
        if defaults is None
        else PodTopologySpreadArgs(tuple(defaults), "List")
    )
    return PodTopologySpread(args, handle(release, **gates))


def named(found):
    """Reasons by their short names."""
    return {name: SHORT[text] for name, text in found.items()}


def against(new, *objects, by=None):
    """Node -> skew, label or None."""
    return named(refusals(by or plugin(), new, *objects))


# --- random clusters ----------------------------------------------------------------------------------------

KEYS = ["zone", "rack", "kubernetes.io/hostname"]
HOSTS = st.sampled_from("hij")
LABELS = st.fixed_dictionaries(
    {}, optional={"zone": st.sampled_from("xyz"), "rack": st.sampled_from(["", "1", "2"]), KEYS[2]: HOSTS}
)
