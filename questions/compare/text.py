"""A comparison in words: the verdict, and sentences on decisions and causes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...api.words import count_doing, count_of
from ..result import NOTHING_TRIED, for_reasons
from .agreement import DIFFERENT, LOCKED, AgreementCounts
from .causes import KINDS, SAMPLING, Cause
from .document import ComparedConfiguration, ComparedDecision, ComparisonDocument, ConfigurationPair, Losses

NO_HOST, GATED_HOST = "<none>", "<gated>"
"""In place of a host where the pod has none, or was not tried."""
OTHER_NODE = "on another node"
USES = {
    "use": "the share of all nodes' capacity",
    "imbalance": "the standard deviation of the nodes' use",
    "fullest - emptiest": "the use of the fullest node less that of the emptiest",
    "fragmentation": "the share of the free room on nodes where a waiting pod does not fit",
}
"""What is said of how the clusters end -> what that is."""


def with_own_cluster(found: ComparisonDocument) -> Sequence[ComparedConfiguration]:
    """The configurations with a cluster of their own at the end: all, or only the first in mode locked."""
    return found.configurations[:1] if found.mode == LOCKED else found.configurations


# --- the verdict ----------------------------------------------------------------------------------------------------


def label(found: ComparisonDocument, at: int) -> str:
    """What sentences call a configuration: its release, where all releases differ; else its name."""
    name, releases = found.configurations[at].name, [one.release for one in found.configurations]
    if len(name) > 1:
        return f"the {name}"
    return releases[at] if len(set(releases)) == len(releases) else name


def side_name(found: ComparisonDocument, at: int) -> str:
    """A configuration's name, with its release where all releases differ."""
    name, called = found.configurations[at].name, label(found, at)
    return name if len(name) > 1 or name == called else f"{name} ({called})"


def verdict(found: ComparisonDocument) -> str:
    """The outcome in one sentence: who loses, and for what."""
    if found.differences:
        return ". ".join([_against(found, at) for at in range(len(found.against))])
    if not found.decisions:
        return NOTHING_TRIED
    all_of = f"All {found.decisions:,} decisions are" if found.decisions > 1 else "The only decision is"
    return f"{all_of} the same{in_error(found.against[0].agreement)}"


def in_error(found: AgreementCounts) -> str:
    """How many of the decisions that are the same say nothing."""
    many = " of them ended in an error on both sides" if found.decisions > 1 else " ended in an error on both sides"
    return f", but {found.errors:,}{many}" if found.errors else ""


def _against(found: ComparisonDocument, at: int) -> str:
    """One configuration beside the first."""
    pair = found.against[at]
    lost, gained = len(pair.lost.pods), len(pair.gained.pods)
    first, second = label(found, 0), label(found, at + 1)
    if not lost and not gained:
        # No pod gains or loses a place: how many decisions are other ones.
        agreement, moved, held = pair.agreement, len(pair.elsewhere), len(pair.gated)
        places = f"The same pods find a place under {first} and {second}"
        if held:
            return f"{count_of(held, 'pod is', 'pods are')} gated by {first} or {second}, and placed by the other one"
        if found.mode != LOCKED:
            if not moved:
                return f"{places}, each on the same node"
            return f"{places}, {moved:,} of them on another node"
        counted = ((agreement.different, DIFFERENT), (agreement.gated, "gated by one of them"))
        counts = [f"{count_of(count, 'is', 'are')} {text}" for count, text in counted if count]
        if counts:
            return f"{places}; of {agreement.decisions:,} decisions {' and '.join(counts)}"
        others = count_of(agreement.equally_good, "is equally good", "are equally good")
        return f"No decision is different under {second}; {others} for {first}"
    if lost == gained:
        return f"As many pods find a place under {second}, but not the same ones: {_both(pair)}"
    net, word = abs(lost - gained), "more" if gained > lost else "fewer"
    head = f"{count_of(net, f'pod {word} finds a place', f'pods {word} find a place')} under {second}"
    if lost and gained:
        return f"{head}: {_both(pair)}"
    if gained:
        return f"{head}{_alone(pair.gained)}; under {first} there is none: {reasons_of(pair.gained)}"
    return f"{head}{_alone(pair.lost)}: {reasons_of(pair.lost)}"


def _alone(found: Losses) -> str:
    """The name of the pod, if it is only one."""
    return f", {found.pods[0].pod}" if len(found.pods) == 1 else ""


def _both(pair: ConfigurationPair) -> str:
    """Who loses and who gains, where there are both."""
    lost, gained = len(pair.lost.pods), len(pair.gained.pods)
    losing, gaining = count_of(lost, "loses its place", "lose theirs"), count_of(gained, "gains one", "gain one")
    return f"{losing} ({reasons_of(pair.lost)}), {gaining}"


def reasons_of(found: Losses) -> str:
    """For what pods have no place."""
    return for_reasons({one.reason: one.pods for one in found.reasons})


# --- sentences ------------------------------------------------------------------------------------------------------


def headline(found: ComparisonDocument, said: str) -> Iterator[str]:
    """The verdict, and how many decisions differ; in mode free the first one that does, as those after it may follow from it."""
    yield f"{said}."
    count = len(found.differences)
    tried = f"{found.mode}: {count_of(found.pods, 'pod')}, {count_of(found.decisions, 'decision')}"
    if not count:
        yield f"{tried}, all decisions are the same" if found.decisions else tried
    elif found.mode == LOCKED:
        yield f"{tried}, {count} decisions differ" if count > 1 else f"{tried}, 1 decision differs"
    else:
        yield f"{tried}; the first decision that differs:"
        yield from (first_line(against) for against in found.against if against.first_difference)
        if count > 1:
            more = "1 more decision differs" if count == 2 else f"{count - 1} more decisions differ"
            yield f"{more}; as each side has its own cluster, that can follow from the first. --mode locked leaves such out"


def first_line(against: ConfigurationPair) -> str:
    """The first decision in which two configurations differ, in a sentence."""
    found = against.first_difference
    if found is None:
        return ""
    hosts = f"{found.first or NO_HOST} in {against.first}, {found.second or NO_HOST} in {against.second}"
    return f"  {found.pod} (decision {found.number}): {hosts}; {found.verdict}: {cause_text(found.cause)}"


def hints(against: ConfigurationPair) -> Iterator[str]:
    """What to try, where the two differ in more than their rules."""
    sampled = sum(cause.decisions for cause in against.causes if cause.kind == SAMPLING)
    if sampled:
        yield (
            f"{count_of(sampled, 'decision')} of these: the two look at different shares of the nodes;"
            " with percentage=100 in both configurations each looks at all of them"
        )


def agreement_lines(against: ConfigurationPair) -> Iterator[str]:
    """The cycles of both: what is the same, what is another of the first one's best nodes, and what is different."""
    first, second, found = against.first, against.second, against.agreement
    also, alone = found.equal_for_both, found.equal_for_second_alone
    yield f"{found.decisions} decisions of both: {found.same} the same"
    if found.errors:
        yield f"  {found.errors} of these ended in an error on both sides, and so say nothing"
    if found.equally_good:
        yield f"  {found.equally_good} equally good: another node, which {first} scores as high as its own" + (
            f"; {second}, too, gives both the same score in {also}" if also else ""
        )
    if found.different:
        yield f"  {found.different} different" + (f"; {second} gives both nodes the same score in {alone}" if alone else "")
    if found.gated:
        yield f"  {found.gated} gated: one of the two does not try the pod, for its scheduling gates"
    yield (
        f"  the same nodes fit in {found.same_feasible}, the same ones are best in {found.same_best};"
        f" with any tie-break {second} takes one of {first}'s best in {found.best_within}"
    )


def left_out(found: ComparisonDocument, show: int | None) -> Iterator[str]:
    """A line on the decisions that are not listed, if there are any."""
    count = len(found.differences)
    if show is not None and count > show:
        more = count_doing(count - show, "more decision", "differ")
        yield f"{more}; --show {count} lists them, and -o html and -o json show all, with both tables"


def meaning_lines(found: ComparisonDocument) -> Iterator[str]:
    """What the words of the table of use mean, those that it has."""
    has_fragments = any(one.fragmentation for one in with_own_cluster(found))
    yield from (f"({name}: {meaning})" for name, meaning in USES.items() if name != "fragmentation" or has_fragments)


def decision_text(decision: ComparedDecision | None) -> str:
    """The host, or the node where room is made, or nothing."""
    if decision is None:
        return ""
    if decision.gated:
        return GATED_HOST
    room = f" (makes room on {decision.room_on})" if decision.room_on else ""
    return decision.host or NO_HOST + room


def cause_text(cause: Cause) -> str:
    """The cause in a few words."""
    rule, side, node = cause.rule or cause.kind, cause.side, cause.node
    if cause.kind == "score":
        return f"{rule} {cause.text}" if cause.text else f"{rule} decides for {node} in {side}"
    if cause.kind in ("predicate", "sampling"):
        return f"{rule} in {side} against {node}: {cause.text}"
    return f"{cause.kind}{f' in {side}' if side else ''}: {cause.text or KINDS[cause.kind]}"
