"""A state as files: the Policy or the profile, the scenario as manifests, and the commands that give the same placement in a terminal."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import attrs
import yaml

from ...api.objects import KubeObject
from ..scenario import Scenario
from .labconfiguration import PROVIDER, Json, LabConfiguration
from .labinput import LabInput, manifest_of
from .session import Session
from .workbench import LabState

POLICY_FILE, PROFILE_FILE, NODES_FILE, SCENARIO_FILE = "lab-policy.json", "lab-profile.yaml", "lab-nodes.yaml", "lab-scenario.yaml"
CONTROLLERS = ("ReplicaSet", "StatefulSet", "ReplicationController")
"""What the scheduler reads of these are selectors; as manifests they are workloads, which make pods."""
Saved = tuple[str, str, str]
"""Name, media type, text."""
YAML, JSON, PLAIN, HTML = "application/yaml", "application/json", "text/plain", "text/html"
_DUMPER = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


@attrs.frozen
class Given:
    """What the lab was started with and cannot move: paths, and words of the command line."""

    paths: tuple[str, ...]
    pods: tuple[str, ...] = ()
    """More files of waiting pods."""
    words: tuple[str, ...] = ()
    """Other options, such as ``--rules FILE.py:NAME``, as they were given."""


def saves(session: Session, given: Given, report: Callable[[], Saved]) -> dict[str, Callable[[], Saved]]:
    """What makes the files of the current state, by name; *report* makes the page."""
    return {
        "rules": lambda: rules_file(session.state.configuration),
        "scenario": lambda: (SCENARIO_FILE, YAML, scenario_file(session.bench.scenario(session.state))),
        "report": report,
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


def scenario_file(scenario: Scenario) -> str:
    """The manifests of a scenario, after all edits, as YAML."""
    items = [_manifest(item) for item in (*scenario.objects, *scenario.pending)]
    return as_yaml({"apiVersion": "v1", "kind": "List", "items": items})


def _manifest(item: KubeObject) -> Json:
    """An object; a controller wants no more pods, as all that it wants are there."""
    found = manifest_of(item)
    if item.kind not in CONTROLLERS:
        return found
    selector = found.get("spec", {}).get("selector") or {}
    labels = selector if item.kind == "ReplicationController" else selector.get("matchLabels") or {}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "main", "image": "none"}]}}
    return {**found, "spec": {**found.get("spec", {}), "replicas": 0, "template": template}}


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
