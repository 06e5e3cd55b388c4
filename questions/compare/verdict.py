"""The verdict of a comparison, and what sentences call its sides."""

from __future__ import annotations

from ...api.words import count_of
from ..result import NOTHING_TRIED, for_reasons
from .comparison import AgreementCounts, ComparisonDocument, Losses


def label(found: ComparisonDocument, at: int) -> str:
    """What sentences call a configuration: its release, where all releases differ; else its name."""
    name = found.configurations[at].name
    releases = [one.release for one in found.configurations]
    if len(name) > 1:
        return f"the {name}"
    return releases[at] if len(set(releases)) == len(releases) else name


def side_name(found: ComparisonDocument, at: int) -> str:
    """A configuration's name, with its release where all releases differ."""
    name = found.configurations[at].name
    called = label(found, at)
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
    of_them = " of them" if found.decisions > 1 else ""
    return f", but {found.errors:,}{of_them} ended in an error on both sides" if found.errors else ""


def _against(found: ComparisonDocument, at: int) -> str:
    """One configuration beside the first."""
    pair = found.against[at]
    lost = len(pair.lost.pods)
    gained = len(pair.gained.pods)
    first = label(found, 0)
    second = label(found, at + 1)
    if not lost and not gained:
        # No pod gains or loses a place: how many decisions are other ones.
        agreement = pair.agreement
        moved = len(pair.elsewhere)
        held = len(pair.gated)
        places = f"The same pods find a place under {first} and {second}"
        if held:
            return f"{count_of(held, 'pod is', 'pods are')} gated by {first} or {second}, and placed by the other one"
        if found.mode != "locked":
            return f"{places}, {f'{moved:,} of them on another node' if moved else 'each on the same node'}"
        counted = ((agreement.different, "different"), (agreement.gated, "gated by one of them"))
        counts = [f"{count_of(count, 'is', 'are')} {text}" for count, text in counted if count]
        if counts:
            return f"{places}; of {agreement.decisions:,} decisions {' and '.join(counts)}"
        others = count_of(agreement.equally_good, "is equally good", "are equally good")
        return f"No decision is different under {second}; {others} for {first}"
    losing = count_of(lost, "loses its place", "lose theirs")
    gaining = count_of(gained, "gains one", "gain one")
    both = f"{losing} ({reasons_of(pair.lost)}), {gaining}"
    if lost == gained:
        return f"As many pods find a place under {second}, but not the same ones: {both}"
    word = "more" if gained > lost else "fewer"
    head = f"{count_of(abs(lost - gained), f'pod {word} finds a place', f'pods {word} find a place')} under {second}"
    if lost and gained:
        return f"{head}: {both}"
    moved_pods = pair.gained if gained else pair.lost
    name = f", {moved_pods.pods[0].pod}" if len(moved_pods.pods) == 1 else ""
    return f"{head}{name}{f'; under {first} there is none' if gained else ''}: {reasons_of(moved_pods)}"


def reasons_of(found: Losses) -> str:
    """For what pods have no place."""
    return for_reasons({one.reason: one.pods for one in found.reasons})
