"""A session in the lab: states one after the other, back and forth among them, pinned ones, and any of them as files and commands."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import attrs
import yaml

from ...algorithmprovider.files import configuration_document
from ...algorithmprovider.registry import DEFAULT_PROVIDER
from ...api.inventory import config_maps
from ...api.load import Loaded
from ...api.objects.pods import DEFAULT_SCHEDULER
from ...api.reading.notices import unread_sentences, warning_records
from ...exceptions import KubeclassicError
from ...framework.options import GivenOptions
from ...framework.releases import ALL_RELEASES
from ...framework.schedulerspec import SchedulerSpec
from ...simulation.scenario import Files
from .actions import CHOICES, ActionValues, changed, filters_of, scorers_of
from .labconfiguration import DEFAULT_PROFILE, POLICY, PROFILE, PROVIDER, Json, LabConfiguration, LabError, Source, check_release, providers
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
            wanted = {"undo": self.at - 1, "redo": self.at + 1}.get(action.name)
            wanted = action.number("at") if wanted is None else wanted
            if not 0 <= wanted < len(self.history):
                nothing = {"undo": "nothing to undo", "redo": "nothing to redo"}
                raise LabError(nothing.get(action.name, f"at: expected a step of the history, got {wanted}"), action.name)
            self.at = wanted
        elif name == "pin":
            self.pins[action.choice("pin", PINS)] = self.state
        elif name == "unpin":
            self.pins.pop(action.choice("pin", PINS), None)
        else:
            self._step(action)

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
            raise LabError(f"against: expected one of {', '.join(AGAINST)}, got {against!r}", "against")
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


# --- from options to a session --------------------------------------------------------------------------------------


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
        for name in ("policy", "policy_configmap", "provider"):
            if getattr(options, name, None) is not None:
                told = f"{name}: release {options.release} runs a profile in the lab, which `kubeclassic policy migrate` makes of a Policy"
                raise LabError(told)
        given = getattr(options, "profile", None) or options.config
        if given is None:
            return Source(PROFILE, DEFAULT_PROFILE)
        path = Path(cast("str | os.PathLike[str]", given))
        return Source(PROFILE, path.name, configuration_document(path).data, str(path))
    configuration = spec.config
    policy = configuration.source.policy
    if configuration.source.provider or policy is None:
        return Source(PROVIDER, configuration.source.provider or DEFAULT_PROVIDER)
    written = configuration.policy_document(config_maps([loaded]))
    assert written is not None
    document = written.data if written.data.get("apiVersion") else {"kind": "Policy", "apiVersion": "v1"}
    if policy.file is not None:
        path = configuration.folder / policy.file
        return Source(POLICY, path.name, document, str(path))
    return Source(POLICY, policy.where(Path()), document)


def kept_words(options: GivenOptions, spec: SchedulerSpec) -> list[str]:
    """The options of the scheduler that the lab cannot move, as words of a command line."""
    words = [word for place in options.rules for word in ("--rules", place)]
    words += ["--extenders", options.extenders] if isinstance(options.extenders, str) else []
    words += ["--max-pd-vols", str(options.max_pd_vols)] if options.max_pd_vols is not None else []
    words += ["--equivalence-cache"] if spec.equivalence_cache else []
    name = spec.config.scheduler_name
    return words + (["--scheduler-name", name] if spec.profiles is None and name != DEFAULT_SCHEDULER else [])


POLICY_FILE, PROFILE_FILE, NODES_FILE = "lab-policy.json", "lab-profile.yaml", "lab-nodes.yaml"
Saved = tuple[str, str, str]
"""Name, media type, text."""
YAML, JSON, PLAIN = "application/yaml", "application/json", "text/plain"
_DUMPER = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


@attrs.frozen
class Given:
    """What the lab was started with and cannot move: paths, and words of the command line."""

    paths: tuple[str, ...]
    pods: tuple[str, ...] = ()
    """More files of waiting pods."""
    words: tuple[str, ...] = ()
    """Other options, such as ``--rules FILE.py:NAME``, as they were given."""


def saves(session: Session, given: Given) -> dict[str, Callable[[], Saved]]:
    """What makes the files of the current state, by name: its rules, and the commands that give it."""
    return {
        "rules": lambda: rules_file(session.state.configuration),
        "command": lambda: ("lab-command.sh", PLAIN, commands(session.state, session.input, given)),
    }


def rules_file(configuration: LabConfiguration, document: Json | None = None) -> Saved:
    """The Policy or profile that a configuration is, or another *document* of it, as a file."""
    found = with_percentage(configuration, configuration.saved()) if document is None else document
    if configuration.runs_profiles:
        return PROFILE_FILE, YAML, as_yaml(found)
    return POLICY_FILE, JSON, json.dumps(found, indent=2) + "\n"


def with_percentage(configuration: LabConfiguration, document: Json) -> Json:
    """*document*, a profile's with the percentage, which a Policy cannot have."""
    if not configuration.runs_profiles or configuration.percentage is None:
        return document
    given = document.get("profiles", ())
    profiles = [{key: value for key, value in profile.items() if key != "percentageOfNodesToScore"} for profile in given]
    return {**document, "percentageOfNodesToScore": configuration.percentage, **({"profiles": profiles} if profiles else {})}


def as_yaml(document: Mapping[str, Any]) -> str:
    """*document* in the order that it has."""
    text: str = yaml.dump(_plain(document), Dumper=_DUMPER, sort_keys=False, allow_unicode=True)
    return text


def _plain(value: Any) -> Any:
    """*value* without types of our own, which YAML would name."""
    if isinstance(value, Mapping):
        return {str(key): _plain(held) for key, held in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(held) for held in value]
    return value if value is None or isinstance(value, bool | int | float) else str(value)


# --- the commands ---------------------------------------------------------------------------------------------------


def commands(state: LabState, lab_input: LabInput, given: Given) -> str:
    """Commands for a terminal that give exactly the placement of *state*: the files that it needs, then ``kubeclassic simulate``."""
    configuration, files = state.configuration, list[tuple[str, str]]()
    nodes = lab_input.new_nodes(state.changes)
    paths = list(given.paths)
    if nodes:
        files.append((NODES_FILE, as_yaml({"apiVersion": "v1", "kind": "List", "items": nodes})))
        paths.append(NODES_FILE)
    words = ["kubeclassic", "simulate", *paths]
    words += [word for path in given.pods for word in ("--pods", path)]
    words += [*_rules(configuration, files), *_settings(configuration)]
    words += [word for edit in state.changes.edits for word in ("--set", edit)]
    written = "".join(f"cat > {name} <<'END-OF-FILE'\n{text}END-OF-FILE\n" for name, text in files)
    return f"{written}{shlex.join([*words, *given.words])}\n"


def _rules(configuration: LabConfiguration, files: list[tuple[str, str]]) -> Sequence[str]:
    """The options that say which rules run; what they name is added to *files*."""
    source, words = configuration.source, ["--release", configuration.release]
    is_plain = not configuration.is_moved and (configuration.hard_weight is None or not configuration.runs_profiles)
    flag = "--profile" if configuration.runs_profiles else "--policy"
    if source.kind == PROFILE and source.document is None and is_plain:
        return words
    if source.kind == PROVIDER and is_plain:
        return [*words, "--provider", source.name]
    if source.file is not None and is_plain and not configuration.hard_weight:
        return [*words, flag, source.file]
    name, _, text = rules_file(configuration, configuration.document() or {})
    files.append((name, text))
    return [*words, flag, name]


def _settings(configuration: LabConfiguration) -> Sequence[str]:
    found = configuration
    gates = ",".join(f"{name}={str(on).lower()}" for name, on in sorted(found.gates.items()))
    hard = None if found.runs_profiles else found.hard_weight
    options: dict[str, object] = {
        "--feature-gates": gates or None, "--percentage-of-nodes-to-score": found.percentage,
        "--hard-pod-affinity-symmetric-weight": hard, "--tie-break": found.tie_break if found.tie_break != "release" else None,
        "--seed": found.seed or None, "--order": found.order if found.order != "input" else None,
    }  # fmt: skip
    words = [word for flag, value in options.items() if value is not None for word in (flag, str(value))]
    return words if found.preemption else [*words, "--disable-preemption"]
