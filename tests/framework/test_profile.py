"""Profiles: which plugins run at which point, in which order, with which weights."""

import yaml

from kubeclassic.exceptions import PolicyError
from kubeclassic.framework.plugin import Plugin
from tests.support.frameworkbuild import disabled, enabled, profile_of
from tests.support.refusals import refusal_text


class Mine(Plugin):
    """A plugin that rejects nothing."""

    name = "Mine"

    def filter(self, pod, nodes, cycle):
        """Nothing."""


def filters(profile):
    """The plugins at *point*, in order."""
    return [plugin.name for plugin in dict(profile.points.items())["filter"]]


def refusal(plugins, **more):
    """The text with which a profile is refused."""
    text = refusal_text(PolicyError, profile_of, {"plugins": plugins, **more})
    return text.removeprefix("initializing profiles: creating profile for scheduler name default-scheduler: ")


def test_a_plugin_that_is_only_explicit_runs_last():
    """A plugin of one point alone comes after those of multiPoint."""
    assert filters(profile_of({"plugins": {"filter": enabled("Mine")}}, Mine))[-1] == "Mine"


def test_disabled_and_enabled():
    """A plugin that is enabled and disabled at a point runs last."""
    assert (
        filters(profile_of({"plugins": {"filter": disabled("NodeName") | enabled("NodeName")}}))[-1]
        == "NodeName"
    )


def test_a_sum_that_does_not_fit():
    """A weight has 32 bits, so no sum of positive ones can be too large."""
    assert "expected a whole number from -2147483648 to 2147483647" in refusal(
        {"score": enabled(NodeAffinity=2**63 // 100)}
    )


def test_a_weight_after_a_negative_one():
    """After a negative weight the original's check wraps around and refuses the next plugin; the last one
    may be negative."""
    alone = {
        "multiPoint": {"disabled": [{"name": "*"}]},
        "score": enabled(NodeAffinity=2, TaintToleration=-1),
    }
    points = {"queueSort": enabled("PrioritySort"), "bind": enabled("DefaultBinder")}
    assert profile_of({"plugins": {**alone, **points}}).weights == {"NodeAffinity": 2, "TaintToleration": -1}
    assert (
        refusal({"score": enabled(NodeAffinity=-1, TaintToleration=1)})
        == "total score of Score plugins could overflow"
    )


def test_unknown_plugin():
    """A name that is not in the registry is refused at the first point that lists it."""
    assert refusal({"filter": enabled("Nope")}) == 'FilterPlugin "Nope" does not exist'
    assert refusal({"multiPoint": enabled("Nope")}) == 'PreFilterPlugin "Nope" does not exist'


def test_wrong_point():
    """A plugin must have the point at which it is enabled."""
    assert (
        refusal({"filter": enabled("ImageLocality")})
        == 'plugin "ImageLocality" does not extend FilterPlugin plugin'
    )


def test_twice():
    """A plugin stands once at a point."""
    assert (
        refusal({"filter": enabled("NodeName", "NodeName")})
        == 'plugin "NodeName" already registered as "FilterPlugin"'
    )


def test_queue_sort_and_bind():
    """One queue sort plugin and a bind plugin are needed."""
    tail = 'for profile with scheduler name "default-scheduler"'
    assert refusal({"queueSort": disabled("*")}) == f"only one queue sort plugin required {tail}, but got 0"
    assert refusal({"bind": disabled("*")}) == f"at least one bind plugin is needed {tail}"


def test_arguments_of_node_resources_fit():
    """The arguments of NodeResourcesFit are checked when the plugin is constructed, and not before."""
    text = refusal(
        {},
        pluginConfig=yaml.safe_load("[{name: NodeResourcesFit, args: {scoringStrategy: {resources: []}}}]"),
    )
    assert text == (
        'initializing plugin "NodeResourcesFit": scoringStrategy.type: Unsupported value: "":'
        ' supported values: "LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"'
    )


def test_a_ratio_without_its_object():
    """Where the original crashes, a missing requestedToCapacityRatio is an error."""
    strategy = {"type": "RequestedToCapacityRatio"}
    text = refusal({}, pluginConfig=[{"name": "NodeResourcesFit", "args": {"scoringStrategy": strategy}}])
    assert text.startswith(
        'initializing plugin "NodeResourcesFit": scoringStrategy.requestedToCapacityRatio: Required value'
    )
