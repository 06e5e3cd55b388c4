"""Facts that no case shows: what a release does with a user's plugins, in a race, or for a caller of its
parts. One function a fact."""

import asyncio
import json
from contextlib import suppress
from types import SimpleNamespace

from kubeclassic.algorithmprovider.config import AlgorithmConfiguration
from kubeclassic.algorithmprovider.extenders import ExtenderConfig
from kubeclassic.algorithmprovider.policy import WrittenPolicy, faults_of_form
from kubeclassic.core.binding import VolumeError
from kubeclassic.core.decision.preemptionplan import Preemption
from kubeclassic.core.run import Run
from kubeclassic.exceptions import PolicyError
from kubeclassic.extenders.choice import make_extenders
from kubeclassic.extenders.overhttp import PostReply
from kubeclassic.framework.config.configuration import read_configuration
from kubeclassic.framework.flow import framework_engine
from kubeclassic.framework.plugin import Plugin, PreFilterResult, unresolvable, unschedulable
from kubeclassic.framework.registry import DEFAULT_REGISTRY
from kubeclassic.live.scheduler.consequences import ClassicConsequences
from kubeclassic.simulation.conform import build, engine_for
from tests.framework.facts.forms import case, disabled, enabled, node, pod, policy, profile
from tests.support.build import obj
from tests.support.permitbuild import Doorman, names
from tests.support.refusals import refusal_text


def _plain(release, *objects):
    """A scheduler that was told of *objects*."""
    return build(case(objects) | {"version": release.version}, {}, release=release)


def _configured(release, document, *objects, plugins=()):
    """A scheduler by a configuration with a user's *plugins*, fed with *objects*."""
    registry = {**DEFAULT_REGISTRY, **{plugin.name: plugin for plugin in plugins}}
    run = Run(framework_engine(read_configuration(document, None, release), registry=registry))
    for item in objects:
        run.put(obj(item))
    return run


# --- nominations and preemption -----------------------------------------------------------------------------


def own_nomination(release):
    """A pod that is tried while the node that waits for it has room for one such pod."""
    engine = _plain(release, node("n", cpu="1"))
    waiting = obj(pod("web", cpu="1"))
    engine.nominations.add(waiting, "n")
    return engine.schedule(waiting).error


def nominated_at_once(release):
    """Whether the queue knows of a nomination when the API server is asked to write it."""
    known = {}
    seen = []

    async def read_pod(asked):
        return asked

    async def put_status(asked, status):
        seen.append(known.get(asked.key))

    queue = SimpleNamespace(nominate=lambda asked, name: known.update({asked.key: name}))
    api = SimpleNamespace(read_pod=read_pod, put_status=put_status)
    state = SimpleNamespace(release=release, queue=queue, api=api, touch=lambda: None)
    asyncio.run(ClassicConsequences(state).make_room(obj(pod("web")), Preemption(node="n")))
    return seen


def cluster_as_seen(release):
    """A pod leaves its node while an extender is asked about another."""
    low = pod("low", "a", cpu="1", priority=0)
    head = {"urlPrefix": "http://one.test", "filterVerb": "filter", "nodeCacheCapable": True}
    config = {"policy": policy("PodFitsResources", extenders=[head])}
    engine = engine_for(release.version, config, release=release)
    run = Run(engine)

    def reply(url, body, timeout):
        with suppress(KeyError):
            run.feed.delete(obj(low))
        return PostReply(200, b'{"NodeNames": [], "FailedNodes": {"b": "busy"}}')

    engine.extenders = make_extenders(engine.algorithm.extenders, release, lambda asked: reply)
    for item in (node("a", cpu="1"), node("b"), low):
        run.put(obj(item))
    return engine.schedule(obj(pod("web", cpu="1", priority=9))).record()["preemption"]["candidates"]


def failing_to_preempt(release):
    """The message about a pod where an extender cannot be asked for victims."""
    engine = _plain(release, node("n", cpu="1"), pod("low", "n", cpu="1", priority=0))
    configs = [ExtenderConfig(preempt_verb="preempt")]
    engine.extenders = make_extenders(configs, release, lambda config: lambda *asked: PostReply(500))
    return engine.schedule(obj(pod("web", cpu="1", priority=9))).error


def scored_as_sent(release):
    """The scores of two nodes that an extender sends back, one of them half full."""
    head = ExtenderConfig(filter_verb="filter")
    engine = _plain(release, node("a", cpu="2"), node("b", cpu="2"), pod("there", "a", cpu="1"))

    def reply(url, body, timeout):
        return PostReply(200, json.dumps({"Nodes": json.loads(body)["Nodes"]}).encode())

    engine.extenders = make_extenders([head], release, lambda config: reply)
    return engine.schedule(obj(pod("web", cpu="1"))).scores


def sampled(release):
    """The node that makes room where one candidate is enough, and the second would be better."""
    args = {"DefaultPreemption": {"minCandidateNodesPercentage": 0, "minCandidateNodesAbsolute": 1}}
    there = [
        node("a", cpu="1"),
        node("b", cpu="1"),
        pod("more", "a", cpu="1", priority=5),
        pod("less", "b", cpu="1", priority=1),
    ]
    run = _configured(release, profile("v1beta1", args), *there)
    plan = run.cycle(obj(pod("web", cpu="1", priority=9))).preemption
    return plan and plan.node


# --- plugins ------------------------------------------------------------------------------------------------


class OnlyA(Plugin):
    """Names node a."""

    name = "OnlyA"

    def pre_filter(self, pod, cycle):
        """The name."""
        return PreFilterResult(frozenset("a"))


class AlsoB(Plugin):
    """Names node b."""

    name = "AlsoB"

    def pre_filter(self, pod, cycle):
        """The name."""
        return PreFilterResult(frozenset("b"))


class Later(Plugin):
    """Rejects each pod until something changes."""

    name = "Later"

    def pre_filter(self, pod, cycle):
        """The rejection."""
        return unschedulable("later")


class Never(Plugin):
    """Rejects each pod for good."""

    name = "Never"

    def pre_filter(self, pod, cycle):
        """The rejection."""
        return unresolvable("never")


def rejected_by(*plugins):
    """The error of a pod that two PreFilter *plugins* object to, with a pod that it could preempt."""
    document = profile(preFilter=enabled(*(plugin.name for plugin in plugins)))

    def trial(release):
        run = _configured(
            release, document, node("a"), node("b"), pod("low", "a", priority=0), plugins=plugins
        )
        return run.cycle(obj(pod("web", priority=9))).error

    return trial


class Weighed(Plugin):
    """Scores, and is told of what is bound."""

    name = "Weighed"

    def score(self, pod, nodes, cycle):
        """Nothing."""
        return nodes.zeros()

    def post_bind(self, pod, node_name):
        """Nothing."""


def weighed_at_a_later_point(release):
    """The weight of a plugin that is named for its scores, and for PostBind."""
    scoring = {"enabled": [{"name": Weighed.name, "weight": 5}]}
    document = profile("v1beta1", score=scoring, postBind=enabled(Weighed.name))
    run = _configured(release, document, plugins=(Weighed,))
    return run.engine.flow.profiles["default-scheduler"].weights[Weighed.name]


def chosen_as_idle(release):
    """The node that a pod of no higher priority than any other preempts on, once PreFilter rejected it."""
    run = _configured(release, profile("v1beta1", preFilter=enabled(Later.name)), node("n"), plugins=(Later,))
    plan = run.cycle(obj(pod("web"))).preemption
    return plan and plan.node


_AT_THE_DOOR = profile(permit=enabled(Doorman.name), reserve=enabled(Doorman.name))


def _visitor(said):
    made = pod("web")
    return obj({**made, "metadata": {**made["metadata"], "annotations": {Doorman.name: said}}})


def refused_at_the_door(release):
    """The error of a pod that Permit rejects."""
    return _configured(release, _AT_THE_DOOR, node("n"), plugins=(Doorman,)).cycle(_visitor("no")).error


def refused_while_it_waits(release):
    """The error of a pod that is rejected while it waits on Permit."""
    run = _configured(release, _AT_THE_DOOR, node("n"), plugins=(Doorman,))
    visitor = _visitor("60")
    run.cycle(visitor)
    (waiting,) = run.engine.flow.profiles["default-scheduler"].waiting_pods
    waiting.reject(Doorman.name, "too late")
    failure = run.engine.flow.binding.permitted(visitor, "n")
    return failure and failure.text


def seen_by_another_profile(release):
    """The pods that a profile sees waiting while one of another profile does."""
    other = {"schedulerName": "other", "plugins": {}}
    document = {**_AT_THE_DOOR, "profiles": [*_AT_THE_DOOR["profiles"], other]}
    run = _configured(release, document, node("n"), plugins=(Doorman,))
    run.cycle(_visitor("60"))
    return names(run.engine.flow.profiles["other"].waiting_pods)


def affinity_to_no_label(release):
    """A profile that filters by ServiceAffinity without labels, and without its PreFilter."""
    args = {"ServiceAffinity": {"antiAffinityLabelsPreference": ["region"]}}
    return (
        _configured(release, profile("v1beta1", args, filter=enabled("ServiceAffinity")), node("n"))
        .cycle(obj(pod("web")))
        .error
    )


def missing_claim(release):
    """The volume binder's answer for a missing claim. A pod is refused for that before the binder is
    asked."""
    try:
        return _plain(release, node("n")).flow.binder.needs(["default/missing"])
    except VolumeError as error:
        return str(error)


def without_a_filter(release):
    """A pod, and a cordoned node, under a profile that disables the plugin against these."""
    document = profile("v1alpha2", filter=disabled("NodeUnschedulable"))
    cordoned = {**node("n"), "spec": {"unschedulable": True}}
    return _configured(release, document, cordoned).cycle(obj(pod("web"))).host


def managing(document, name):
    """The message about a configuration with an extender that manages a resource."""
    resource = {"name": name, "ignoredByScheduler": True}
    extender = {"urlPrefix": "http://one.test", "managedResources": [resource]}

    def refused(release):
        try:
            _configured(release, {**document, "extenders": [extender]})
        except PolicyError as error:
            return str(error)
        return None

    return refused


def policy_in_yaml(release):
    """The message about a Policy in YAML."""
    return list(faults_of_form(WrittenPolicy(is_yaml=True), release))


def naming_a_plugin(point):
    """The message about a configuration that names a plugin at an extension point."""

    def refused(release):
        config = AlgorithmConfiguration(plugins={point: ("Mine",)})
        return (
            refusal_text(PolicyError, config.validate, release) if point in release.missing_plugins else None
        )

    return refused


TRIALS = {
    "profiles-disable-plugins": without_a_filter,
    "policies-in-yaml": policy_in_yaml,
    "plugins-refused": naming_a_plugin("reserve"),
    "all-points-refused": naming_a_plugin("filter"),
    "own-nomination-left-out": own_nomination,
    "nominated-at-once": nominated_at_once,
    "claim-errors-with-namespace": missing_claim,
    "preemption-on-the-snapshot": cluster_as_seen,
    "idle-service-affinity": affinity_to_no_label,
    "no-idle-candidates": chosen_as_idle,
    "preemption-errors-told": failing_to_preempt,
    "nodes-scored-as-sent": scored_as_sent,
    "candidates-sampled": sampled,
    "late-fit-errors": refused_at_the_door,
    "wait-fit-errors": refused_while_it_waits,
    "pre-filter-goes-on": rejected_by(Later, Never),
    "disjoint-names-are-final": rejected_by(OnlyA, AlsoB),
    "disjoint-names-sorted": rejected_by(OnlyA, AlsoB),
    "weights-of-score": weighed_at_a_later_point,
    "waiting-pods-shared": seen_by_another_profile,
    "fit-arguments-for-extenders": managing(
        profile("v1beta1", preFilter=disabled("NodeResourcesFit"), filter=disabled("NodeResourcesFit")),
        "example.com/a",
    ),
}
"""Fact -> what shows it."""
