"""A state of the lab: the options of a scheduler with what is moved of its rules, and the edits of the cluster."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta, Struct

from ...choices import ORDERS

MOST_WEIGHT = 1_000_000
Json = dict[str, Any]


class LabState(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the page sends with each question; undo and redo are a list of such states."""

    scheduler: Json
    """Options of a scheduler by their names, of :data:`~.rules.MOVABLE`; others are as the lab was started."""
    weights: dict[str, Annotated[int, Meta(ge=0, le=MOST_WEIGHT)]] = {}
    """Priority, or plugin that scores -> its weight, where the Policy or profile says otherwise; 0: it is off."""
    switches: dict[str, bool] = {}
    """Predicate, or plugin that filters -> whether it is on, where the Policy or profile says otherwise."""
    order: Annotated[str, Meta(pattern=f"^({'|'.join(ORDERS)})$")] = "input"
    edits: Annotated[tuple[Annotated[str, Meta(max_length=2000)], ...], Meta(max_length=500)] = ()
    """As ``--set`` takes them."""
    pods: tuple[Json, ...] = ()
    """Manifests of pods and workloads that are added."""
