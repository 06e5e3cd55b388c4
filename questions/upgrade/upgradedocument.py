"""An upgrade as data: each release of the way, each step, and each decision that a step changes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from ...api.reading.notices import ResultDocument
from ...api.record import UNSET, Count, Record, UnsetType, says
from ...framework.facts.facttable import OtherPatches, ReleaseFact
from ..compare.causes import CauseKind
from .causes import Effect

Change = Annotated[
    Literal["gained", "lost", "makes room", "elsewhere", "other room"],
    says(
        "A node that it did not have before; none any more; a node only by evicting others; another node; or another node or other "
        "victims of a preemption."
    ),
]


class UpgradeCause(Record):
    """How often a step changes decisions for one reason."""

    effect: Annotated[
        Effect, says("A fact of the release; or an earlier decision, after which the nodes were filled otherwise; or it is not known.")
    ]
    fact: Annotated[str | None, says("Its id.")]
    rule: Annotated[str | None, says("The first rule that differs, else the one that the fact is about.")]
    decisions: Count


class MovedPod(Record):
    """A decision that a step changes."""

    pod: str
    before: Annotated[str, says("The release.")]
    after: str
    retry: Annotated[bool, says("It is another try of a pod that made room.")]
    change: Change
    old: Annotated[str | None, says("The node before, or that on which it made room.")]
    new: str | None
    effect: Effect
    fact: Annotated[str | None, says("The id of the fact.")]
    kind: CauseKind
    rule: str | None
    node: Annotated[str | None, says("The node in question.")]
    points: Annotated[int | None, says("How many points of 100 that node gains by the rule on the node before.")]
    text: str


class DifferingNode(Record):
    """A node of which the releases on the two sides of a step say something else, on the same state of the cluster."""

    after: Annotated[str, says("The newer release.")]
    node: str
    old: Annotated[str, says("Whether it fits in the older release, and why not; or its points of 100 by the rule that decides.")]
    new: str


class UpgradeStep(Record):
    """From one release to the next of the way."""

    before: str
    after: str
    differ: Annotated[Count, says("How many decisions differ.")]
    gained: Count
    lost: Count
    makes_room: Count
    elsewhere: Count
    other_room: Count
    causes: tuple[UpgradeCause, ...]


class UpgradeStage(Record):
    """A release of the way."""

    release: str
    like: Annotated[str, says("The patch level that it is like.")]
    runs: Annotated[str, says("What of a Policy or a profile it runs.")]
    placed: Annotated[Count, says("Pods that find a node.")]
    unplaced: Count
    same_as: Annotated[
        str | None,
        says("The first release of the way since which no decision differs; null: this one."),
    ]
    other_patches: OtherPatches = ""


class UpgradeDocument(ResultDocument):
    """The same pods through each release of an upgrade."""

    KIND = "Upgrade"
    mode: Annotated[
        Literal["locked", "free"],
        says("All releases decide on the same states, which the first one's decisions make; or each goes its own way."),
    ]
    same: Annotated[bool, says("No step changes a decision.")]
    pods: Annotated[Count, says("How many pods were tried.")]
    stages: tuple[UpgradeStage, ...]
    steps: tuple[UpgradeStep, ...]
    moved: Annotated[tuple[MovedPod, ...], says("By step, in the order of decisions.")]
    facts: Annotated[tuple[ReleaseFact, ...], says("Those that are a cause.")]
    ways: Annotated[Mapping[str, tuple[str | None, ...]], says("Pod that moves -> its node in each release of the way.")]
    nodes: Annotated[tuple[DifferingNode, ...] | UnsetType, says("With --pod: the nodes that differ in the steps that move it.")] = UNSET
