"""A session in the lab: states one after the other, back and forth among them, and pinned ones. Any number of pages can look at it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import attrs

from ...algorithmprovider.config import POLICY_KEY, PolicySource, policy_document
from ...algorithmprovider.registry import DEFAULT_PROVIDER
from ...api.inventory import config_maps
from ...api.load import Loaded
from ...api.objects.pods import DEFAULT_SCHEDULER
from ...api.reading.documents import parsed, read_documents
from ...api.reading.notices import unread_sentences, warning_records
from ...exceptions import KubeclassicError
from ...framework.options import GivenOptions
from ...framework.releases import ALL_RELEASES
from ...framework.schedulerspec import SchedulerSpec
from ..scenario import Files
from .actions import CHOICES, ActionValues, changed, filters_of, scorers_of
from .labconfiguration import DEFAULT_PROFILE, POLICY, PROFILE, PROVIDER, LabConfiguration, LabError, Source, check_release, providers
from .labinput import Changes, LabInput, counted
from .labrun import LabRun, RunDifference
from .workbench import LabState, Workbench

MOST_STATES = 500
PINS = ("A", "B")
AGAINST = ("step", "start", *PINS)
"""What an answer can be compared with: the state before it, the first one, a pinned one."""


@attrs.define(eq=False)
class Session:
    """One cluster, and what was tried on it. Nothing here is for two threads at a time."""

    input: LabInput
    sources: list[Source]
    history: list[LabState]
    at: int = 0
    """The index of the current state."""
    pins: dict[str, LabState] = attrs.field(factory=dict)
    bench: Workbench = attrs.field(init=False)
    _numbers: int = 1

    def __attrs_post_init__(self) -> None:
        self.bench = Workbench(self.input)

    @classmethod
    def begin(cls, lab_input: LabInput, start: LabConfiguration, edits: Sequence[str] = ()) -> Session:
        """A session that begins with *start* and these edits. Raises what the first answer raises."""
        known = [source for source in providers() if source.key != start.source.key]
        session = cls(lab_input, [start.source, *known], [LabState(0, start, Changes(tuple(edits)))])
        session.bench.answer(session.state)
        return session

    @property
    def state(self) -> LabState:
        """The current state."""
        return self.history[self.at]

    # --- what is done -----------------------------------------------------------------------------------------------

    def do(self, asked: dict[str, Any]) -> None:
        """Do what *asked* says; the result is the current state. An error changes nothing.

        Raises :class:`~kubeclassic.exceptions.KubeclassicError`; a :class:`~.labconfiguration.LabError` says which field it is about.
        """
        action = ActionValues(asked)
        name = action.name
        if name in ("undo", "redo", "goto"):
            self._go(action)
        elif name == "pin":
            self.pins[action.choice("pin", PINS)] = self.state
        elif name == "unpin":
            self.pins.pop(action.choice("pin", PINS), None)
        else:
            self._step(action)

    def _go(self, action: ActionValues) -> None:
        wanted = {"undo": self.at - 1, "redo": self.at + 1}.get(action.name)
        wanted = action.number("at") if wanted is None else wanted
        if not 0 <= wanted < len(self.history):
            nothing = {"undo": "nothing to undo", "redo": "nothing to redo"}
            raise LabError(nothing.get(action.name, f"at: got {wanted}, wanted a step of the history"), action.name)
        self.at = wanted

    def _step(self, action: ActionValues) -> None:
        sources = list(self.sources)
        configuration, changes, did = changed(action, self.state, self.history[0], sources, self.bench.scenario)
        new = LabState(self._numbers, configuration, changes, did)
        if (configuration, changes) == (self.state.configuration, self.state.changes):
            return
        try:
            self._check_edits(changes, new)
            self.bench.answer(new)
        except LabError:
            raise
        except KubeclassicError as error:
            raise LabError(str(error), action.field) from None
        self._numbers += 1
        self.sources = sources
        is_more = action.is_drag and self.at > 0 and self.state.did.partition(" to ")[0] == did.partition(" to ")[0]
        kept = self.at if is_more else self.at + 1
        self.history = [*self.history[:kept], new]
        if len(self.history) > MOST_STATES:
            del self.history[1]
        self.at = len(self.history) - 1

    def _check_edits(self, changes: Changes, new: LabState) -> None:
        """Raise :class:`~.labconfiguration.LabError` where the edits that are new in *changes* change nothing."""
        before = self.state.changes.edits
        if changes.copies != self.state.changes.copies or len(changes.edits) <= len(before) or changes.edits[: len(before)] != before:
            return
        added = changes.edits[len(before) :]
        told = [one for one in self.bench.scenario(new).edited if one.edit.text in added]
        if told and not any(one.changed for one in told):
            raise LabError("; ".join(map(str, told)), "edit")

    # --- what is seen -----------------------------------------------------------------------------------------------

    @property
    def answer(self) -> LabRun:
        """What the current state comes to."""
        return self.bench.answer(self.state)

    def other(self, against: str) -> LabState | None:
        """The state that *against* means; None if there is none."""
        if against == "step":
            return self.history[self.at - 1] if self.at else None
        return self.history[0] if against == "start" else self.pins.get(against)

    def known(self, number: object) -> LabState | None:
        """The state of that number; None if it is not kept."""
        return next((state for state in (*self.history, *self.pins.values()) if state.number == number), None)

    def difference(self, against: str, seen: LabState | None = None) -> RunDifference | None:
        """How the current answer differs from another; None if there is none to compare with. *seen* stands for the step before."""
        if against not in AGAINST:
            raise LabError(f"against: got {against!r}, wanted one of {', '.join(AGAINST)}", "against")
        other = seen if against == "step" and seen is not None else self.other(against)
        return None if other is None else RunDifference.between(self.bench.answer(other), self.answer)

    def record(self) -> dict[str, Any]:
        """The current state as plain data: all that a page has controls for."""
        state, found = self.state, self.state.configuration
        return {
            "number": state.number,
            **configuration_record(found),
            "releases": list(ALL_RELEASES),
            "sources": [source.record() for source in self.sources if source.runs_on(found.release)],
            "choices": {name: list(values) for name, values in CHOICES.items()},
            "filters": [rule.record() for rule in filters_of(found)],
            "scorers": [rule.record() for rule in scorers_of(found)],
            "fixed": found.why_fixed,
            **counted(state.changes),
            "history": [{"number": one.number, "did": one.did} for one in self.history],
            "at": self.at,
            "pins": {name: self.pin_record(pinned) for name, pinned in self.pins.items()},
            "warnings": warning_records(self.answer.notices),
            "unread": unread_sentences(self.answer.notices),
        }

    def pin_record(self, pinned: LabState) -> dict[str, Any]:
        """A pinned state: its configuration and its numbers."""
        answer = self.bench.answer(pinned)
        return {
            "number": pinned.number, "did": pinned.did, **configuration_record(pinned.configuration), **counted(pinned.changes),
            "summary": answer.summary,
        }  # fmt: skip


def configuration_record(found: LabConfiguration) -> dict[str, Any]:
    """A configuration as plain data, with what was moved."""
    return {
        "release": found.release, "profiles": found.runs_profiles, "source": found.source.record(),
        "switches": dict(found.switches), "weights": dict(found.weights), "percentage": found.percentage,
        "hardPodAffinityWeight": found.hard_weight, "preemption": found.preemption, "tieBreak": found.tie_break, "seed": found.seed,
        "order": found.order,
    }  # fmt: skip


# --- from options to a session ----------------------------------------------------------------------------------------


def session_of(
    options: GivenOptions, spec: SchedulerSpec, files: Files, *, cron_jobs: bool = False, order: str = "input", edits: Sequence[str] = ()
) -> Session:
    """A session on *files* that begins with what *spec* makes of *options*.

    Raises :class:`~kubeclassic.exceptions.KubeclassicError` for bad input.
    """
    check_release(spec.version)
    start = LabConfiguration.of(spec, _source(options, spec, files.loaded), order)
    if spec.profiles is not None:
        weight = getattr(options, "hard_pod_affinity_weight", None)
        start = attrs.evolve(start, percentage=options.percentage_of_nodes_to_score, hard_weight=weight)
    return Session.begin(LabInput(files, cron_jobs), start, edits)


def _source(options: GivenOptions, spec: SchedulerSpec, loaded: Loaded) -> Source:
    """Where the rules come from."""
    if spec.profiles is not None:
        return _profile(options)
    configuration = spec.config
    policy = configuration.source.policy
    if configuration.source.provider or policy is None:
        return Source(PROVIDER, configuration.source.provider or DEFAULT_PROVIDER)
    if policy.file is not None:
        path = configuration.folder / policy.file
        return Source(POLICY, path.name, policy_document(path).data, str(path))
    return _of_config_map(policy, loaded)


def _of_config_map(policy: PolicySource, loaded: Loaded) -> Source:
    source = policy.config_map
    assert source is not None
    found = config_maps([loaded]).get((source.namespace, source.name), {}).get("data") or {}
    if POLICY_KEY not in found:
        raise KubeclassicError(f'ConfigMap {source.namespace}/{source.name}: got no Policy, wanted one at key "{POLICY_KEY}"')
    (document,) = parsed(found[POLICY_KEY], f"ConfigMap {source.name}")
    return Source(POLICY, f"ConfigMap {source.name}", document)


def _profile(options: GivenOptions) -> Source:
    for name in ("policy", "policy_configmap", "provider"):
        if getattr(options, name, None) is not None:
            told = f"{name}: release {options.release} runs a profile in the lab, which `kubeclassic policy migrate` makes of a Policy"
            raise LabError(told)
    given = getattr(options, "profile", None) or options.config
    if given is None:
        return Source(PROFILE, DEFAULT_PROFILE)
    path = Path(cast("str | os.PathLike[str]", given))
    (document,) = read_documents(path)
    return Source(PROFILE, path.name, document.data, str(path))


def kept_words(options: GivenOptions, spec: SchedulerSpec) -> list[str]:
    """The options of the scheduler that the lab cannot move, as words of a command line."""
    words = [word for place in options.rules for word in ("--rules", place)]
    words += ["--extenders", options.extenders] if isinstance(options.extenders, str) else []
    words += ["--max-pd-vols", str(options.max_pd_vols)] if options.max_pd_vols is not None else []
    words += ["--equivalence-cache"] if spec.equivalence_cache else []
    name = spec.config.scheduler_name
    return words + (["--scheduler-name", name] if spec.profiles is None and name != DEFAULT_SCHEDULER else [])
