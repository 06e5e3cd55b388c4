"""What-if against plain trials: each suggestion holds in a simulation from the start, and no smaller single
change is missed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import kubeclassic
from kubeclassic.api.objects.quantity import Quantity
from kubeclassic.framework.releases import ALL_RELEASES
from tests.support.examples import examples
from tests.support.whatifbuild import ASKED, TAINTS, clusters, evicts, host_of, node, pod, without

RELEASES = st.sampled_from(sorted(ALL_RELEASES))


def asked(items, release, want=None):
    """Everything that helps the asked pod."""
    return kubeclassic.what_if(items, ASKED, scheduler=release, want=want, every=True)


def trials(items):
    """Every single change of the kinds that are a yes or a no, as edits."""
    pod = items[-1]
    names = [item["metadata"]["name"] for item in items if item["kind"] == "Node"]
    for key, value, effect in TAINTS:
        text = f"{key}{f'={value}' if value else ''}:{effect}"
        yield (f"pod {ASKED} tolerations+={text}",)
        yield from ((f"node {name} taints-={text}",) for name in names)
    for key, value in pod["spec"].get("nodeSelector", {}).items():
        yield (f"pod {ASKED} nodeSelector.{key}-",)
        yield from ((f"node {name} labels.{key}={value}",) for name in names)
    yield from ((f"node {name} unschedulable-",) for name in names)
    yield (f"pod {ASKED} affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0]-",)
    yield (f"pod {ASKED} spec.containers[c].ports[0].hostPort-",)


def works(items, release, edit):
    """Whether the asked pod gets a node after *edit*; an edit that changes nothing, or is refused, does not
    help."""
    try:
        return host_of(items, release, [edit]) is not None
    except kubeclassic.KubeclassicError:
        return False


def of_kind(found, kind):
    """The suggestions of a kind."""
    return [one for one in found.suggestions if one.kind == kind]


def numbers(found, begin):
    """The values that these suggestions set at one field alone."""
    return {
        one.patch[0].removeprefix(begin)
        for one in found
        if one.patch[0].startswith(begin) and " " not in one.patch[0][len(begin) :]
    }


def host_after(items, release, one):
    """Where simulate puts the asked pod with the edits of a suggestion, once its victims are gone."""
    left = [item for item in items if f"default/{item['metadata']['name']}" not in one.victims]
    return host_of(left, release, one.patch)


@examples(0.6)
@given(items=clusters(), release=RELEASES)
def test_each_suggestion_holds(items, release):
    """After each change another scheduler, which begins from the start, puts the pod where the suggestion
    says."""
    for one in asked(items, release).suggestions:
        assert host_after(items, release, one) == one.host, one


@examples(0.6)
@given(items=clusters(), release=RELEASES)
def test_no_single_change_is_missed(items, release):
    """Each toleration, taint, label, selector, cordon, term and port that helps alone is told."""
    found = asked(items, release)
    if found.fits:
        return
    told = {text for one in found.suggestions for text in one.patch}
    told |= {text.removesuffix(" taints-=node.kubernetes.io/unschedulable") for text in told}
    for (edit,) in trials(items):
        if works(items, release, edit):
            assert edit in told, (edit, told)


@examples(0.4)
@given(items=clusters(), release=RELEASES)
def test_amounts_are_exact(items, release):
    """A request is lowered, and a node raised, by no more than is needed: one unit less does not do."""
    found = asked(items, release)
    if found.fits:
        return
    nodes = [item["metadata"]["name"] for item in items if item["kind"] == "Node"]
    for name in ("cpu", "memory"):
        begin = f"pod {ASKED} requests.{name}="
        check_exact(items, release, begin, numbers(of_kind(found, "request"), begin), enough="0", step=1)
        for each in nodes:
            begin = f"node {each} allocatable.{name}="
            check_exact(
                items, release, begin, numbers(of_kind(found, "allocatable"), begin), enough="1000Gi", step=-1
            )


def check_exact(items, release, begin, told, *, enough, step):
    """The one value in *told* works and its neighbour does not; there is one if *enough* works."""
    assert len(told) == works(items, release, begin + enough), (begin, told)
    for value in told:
        amount = Quantity.parse(value)
        is_cpu = "cpu" in begin
        near = f"{amount.milli_value() + step}m" if is_cpu else str(amount.value() + step)
        assert works(items, release, begin + value), (begin, value)
        assert not works(items, release, begin + near), (begin, value, near)


@examples(0.6)
@given(items=clusters(), release=RELEASES)
def test_no_pod_is_missed(items, release):
    """Each pod whose deletion helps is told, or an equal one on its node; and the smallest priority that
    makes room."""
    found = asked(items, release)
    if found.fits:
        return
    words = " ".join(one.change for one in (*of_kind(found, "delete"), *of_kind(found, "move")))
    for item in items:
        if (
            item["kind"] == "Pod"
            and item is not items[-1]
            and host_of(without(items, item["metadata"]["name"]), release) is not None
        ):
            equal = [other for other in items[:-1] if {**other, "metadata": 0} == {**item, "metadata": 0}]
            assert any(f"default/{other['metadata']['name']} " in words for other in equal), (item, words)
    now = items[-1]["spec"]["priority"]
    least = next((priority for priority in range(now + 1, 12) if evicts(items, release, priority)), None)
    told = numbers(of_kind(found, "priority"), f"pod {ASKED} priority=")
    assert evicts(items, release, now) or told == {str(least)} - {"None"}, (least, told)


@examples(0.4)
@given(items=clusters(), release=RELEASES, place=st.integers(0, 3))
def test_a_wanted_node_is_the_host(items, release, place):
    """With a wanted node, each change makes it the host in a simulation from the start."""
    nodes = [item["metadata"]["name"] for item in items if item["kind"] == "Node"]
    want = nodes[place % len(nodes)]
    for one in asked(items, release, want).suggestions:
        assert one.host == want
        assert host_after(items, release, one) == want, one


@pytest.mark.parametrize("release", sorted(ALL_RELEASES))
def test_the_trials_find_something(release):
    """The plain trials can say yes and no."""
    items = [node("n0"), pod("asked", 1500)]
    assert not works(items, release, f"pod {ASKED} requests.cpu=1100m")
    assert works(items, release, f"pod {ASKED} requests.cpu=1000m")
