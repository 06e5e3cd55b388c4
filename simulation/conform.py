"""Run conformance cases: scheduling problems, and scripts of the queue, together with what the original Go
scheduler did."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import Factory, frozen

from ..algorithmprovider import resolve
from ..algorithmprovider.policy import DEFAULT_PROVIDER, read_policy
from ..api.objects import JsonDict, JsonObject, KubeObject, Pod, Quantity
from ..api.reading import decode, json_lines, shown
from ..api.record import Count, DocumentRecord, Names, Record
from ..core.cycle import Algorithm
from ..core.decision import Decision
from ..core.engine import Engine
from ..core.release import Release
from ..core.run import EventFeed, Run
from ..exceptions import KubeclassicError, ManifestError, PolicyError, UnknownNameError
from ..extenders.choice import make_extenders
from ..extenders.extender import FAULT
from ..extenders.scripted import ScriptedPost
from ..framework.config.configuration import KIND, KubeSchedulerConfiguration, read_configuration
from ..framework.config.profiles import GROUP
from ..framework.policy import configuration_of_policy, configuration_of_provider
from ..framework.releases import ALL_RELEASES as BY_VERSION
from ..framework.releases import FRAMEWORK_RELEASES, find_any_release, framework_release
from ..framework.schedulerspec import build_engine
from .conformcases import CALLS, FIELDS, STEP_FIELDS, answer_script, check_answer, check_case

ALL_RELEASES = tuple(BY_VERSION)
"""Every supported release, oldest first."""


def engine_for(version: str, config: JsonObject, release: Release | None = None, **engine: Any) -> Engine:
    """A scheduler of release *version*; *config*: that of a conformance case; *engine*: fields of the Engine.

    *release*: a modified release in its place.

    Raises :class:`~kubeclassic.exceptions.PolicyError` for a *config* that the release refuses.
    """
    if version not in BY_VERSION:
        raise UnknownNameError(f"version: expected one of {', '.join(ALL_RELEASES)}, got {version!r}")
    configured = _configured(release or BY_VERSION[version], config)
    return build_engine(configured, preempts=config.get("preemption", True), **engine)


def _configured(release: Release, config: JsonObject) -> Algorithm | KubeSchedulerConfiguration:
    """The configuration of a case: rules, or profiles of plugins."""
    gates = config.get("featureGates")
    percentage = config.get("percentageOfNodesToScore", 0)
    weight = config.get("hardPodAffinitySymmetricWeight", 1)
    if framework_release(release.version) is None:
        return resolve(
            release,
            gates=gates or {},
            policy=config.get("policy"),
            provider=config.get("provider") or DEFAULT_PROVIDER,
            hard_pod_affinity_weight=weight,
            percentage=percentage,
            preemption=config.get("preemption", True),
            equivalence_cache=config.get("equivalenceCache", False),
        )
    started = {"gates": gates, "percentage": percentage, "hard_pod_affinity_weight": weight}
    if config.get("policy") is not None and release.policies is not None:
        return configuration_of_policy(read_policy(config["policy"]), release, **started)
    if release.policies is not None and (config.get("profile") is None or release.policies.providers):
        # With providers the answers were made without the profile that a case may have.
        return configuration_of_provider(config.get("provider") or DEFAULT_PROVIDER, release, **started)
    default = {"apiVersion": f"{GROUP}/{release.configuration.default_version}", "kind": KIND}
    document = dict(config.get("profile") or default)
    document.setdefault("percentageOfNodesToScore", percentage)
    return read_configuration(document, gates, release)


Items = list[tuple[str, KubeObject]]
_BEGINNINGS = re.compile(
    r"^(fatal: |couldn't create scheduler from policy: |couldn't create scheduler using provider \"[^\"]*\": )"
)
REPLY_FAULTS = re.compile(rf"EOF$|unexpected EOF$|invalid character |json: cannot unmarshal |{FAULT}")
"""Errors about a reply that cannot be read: of the original, and of this package."""
_AMOUNTS = ("capacity", "allocatable", "requests", "limits")


# --- files --------------------------------------------------------------------------------------------------


@frozen
class Family:
    """A file of cases and, if there is one, the file of answers next to it."""

    release: str
    name: str
    cases: Path
    answers: Path | None


def find_families(paths: Iterable[Path]) -> list[Family]:
    """The families in *paths*: files ``*.cases.jsonl[.gz]`` or directories of them, searched at any depth."""
    families = []
    for path in paths:
        if not path.exists():
            raise ManifestError(f"{path}: no such file or directory")
        files = sorted(f for f in path.rglob("*.jsonl*") if ".cases." in f.name) if path.is_dir() else [path]
        if not files:
            raise ManifestError(f"{path}: no *.cases.jsonl or *.cases.jsonl.gz in it")
        for file in files:
            name = file.name.replace(".cases.", ".answers.")
            names = (name, name.removesuffix(".gz") if name.endswith(".gz") else f"{name}.gz")
            answers = next(
                (place for name in names if name != file.name and (place := file.with_name(name)).exists()),
                None,
            )
            families.append(Family(file.parent.name, file.name.split(".")[0], file, answers))
    return families


def read_cases(path: Path) -> Iterator[JsonDict]:
    """The cases of a file. Raises ManifestError with file and line for what is not one."""
    return (check_case(item, where) for where, item in json_lines(path))


def read_answers(path: Path) -> Iterator[JsonDict]:
    """The answers of a file. Raises ManifestError with file and line for what is not one."""
    return (check_answer(item, where) for where, item in json_lines(path))


# --- one case -----------------------------------------------------------------------------------------------


@frozen(kw_only=True)
class CaseSettings:
    """The manner of running cases. ``engine``: fields of the Engine, such as ``memory_bytes``."""

    engine: JsonObject = Factory(dict)
    release: Release | None = None
    """A modified release in place of that of the case."""
    details: bool = True
    """Whether every field is computed and compared; False: only the decision."""


USUAL = CaseSettings()
DECIDED = ("pod", "host", "error", "preemption")
"""The fields of the decision alone."""


def answer_case(case: JsonDict, manner: CaseSettings) -> JsonDict:
    """Our answer to *case*, in the form of FORMAT.md; to a script of the queue, of its README.md."""
    if "script" in case:
        return answer_script(case)
    try:
        post = scripted_post(case, manner.release)
        engine = build(case, manner.engine, post, manner.release)
    except PolicyError as error:
        return {"name": case["name"], "error": str(error)}
    return {"name": case["name"], "cycles": list(play(Run(engine, manner.details), case, post))}


def scripted_post(case: JsonDict, release: Release | None) -> ScriptedPost | None:
    """The answers to requests by the scripts of *case*; None if it has none. *release*: in place of that of
    the case."""
    if "extenders" not in case:
        return None
    configured = _configured(release or find_any_release(case["version"]), case.get("config") or {})
    return ScriptedPost(case["extenders"], configured.extenders)


def build(
    case: JsonDict,
    engine_options: JsonObject,
    post: ScriptedPost | None = None,
    release: Release | None = None,
) -> Engine:
    """A scheduler for *case* that has its objects; *engine_options*: fields of the Engine; *release*: in
    place of that of the case.

    Where the case has scripts of extenders, these answer, by *post* if it is given.
    """
    post = scripted_post(case, release) if post is None else post
    try:
        if post is not None:
            extenders = make_extenders(
                post.configs, release or find_any_release(case["version"]), lambda config: post
            )
            engine_options = {**engine_options, "extenders": extenders}
        engine = engine_for(case["version"], case.get("config") or {}, release=release, **engine_options)
    except UnknownNameError as error:
        raise UnknownNameError(f"{case['name']}: {error}") from None
    feed = EventFeed(engine, case["version"] in FRAMEWORK_RELEASES)
    for number, document in enumerate(case.get("objects", ()), 1):
        item = decode(
            document, f"{case['name']}, object {number}", strict=False, keeps_manifest=bool(engine.extenders)
        )
        if item is not None:
            feed.put(item)
    return engine


def play(run: Run, case: JsonDict, post: ScriptedPost | None = None) -> Iterator[JsonDict]:
    """The cycles of *case*: its pods and events in order, then one retry for each pod that preempted; *post*
    noted the requests."""
    # The answers of the framework were made without the filter that keeps such pods from a real scheduler.
    run.feed.counts_finished = case["version"] in FRAMEWORK_RELEASES
    run.retries_once = True
    for decision in decisions(
        run, read_items(case, keeps_manifests=post is not None), case.get("nominated") or {}
    ):
        yield decision.record(details=run.details) | ({} if post is None else {CALLS: post.taken_calls()})


def read_items(case: JsonDict, *, keeps_manifests: bool = False) -> Items:
    """The steps of *case*, in order: ``schedule`` for a pending pod, and ``add``, ``update`` or ``delete``
    for events."""
    items = []
    for number, document in enumerate(case.get("pending", ()), 1):
        inner, verb = (
            (document.get("object"), document["event"]) if "event" in document else (document, "schedule")
        )
        item = decode(
            inner, f"{case['name']}, pending {number}", strict=False, keeps_manifest=keeps_manifests
        )
        if item is not None:
            items.append((verb, item))
    return items


def decisions(run: Run, items: Items, nominated: Mapping[str, str]) -> Iterator[Decision]:
    """The decisions on *items* in order, then those on the retries; *nominated*: pod -> the node that it is
    nominated to at the start."""
    pods = (
        {item.key: item for verb, item in items if verb == "schedule" and isinstance(item, Pod)}
        if nominated
        else {}
    )
    for key, name in nominated.items():
        if key not in pods:
            raise ManifestError(f"nominated: expected a pod of pending, got {shown(key)}")
        run.nominate(pods[key], name)
    for verb, item in items:
        if verb == "schedule" and isinstance(item, Pod):
            yield run.cycle(item)
        elif verb == "delete":
            run.feed.delete(item)
        elif verb == "add" or run.feed.exists(item):
            run.feed.put(item)
    for pod in run.take_retries():
        yield run.cycle(pod, retry=True)


# --- comparison ---------------------------------------------------------------------------------------------


def differences(
    actual: JsonDict, expected: JsonDict, fields: Sequence[str] = FIELDS, operations: Sequence[str] = ()
) -> list[str]:
    """The differences of two answers, as ``path: expected ..., got ...``; empty where they are identical.

    *fields*: the fields of cycles to compare; *operations*: those of the steps of a script.
    """
    if "error" in expected or "error" in actual:
        error, expected_error = (_BEGINNINGS.sub("", str(side.get("error"))) for side in (actual, expected))
        return [] if error == expected_error else [f"error: expected {expected_error!r}, got {error!r}"]
    form = "steps" if operations else "cycles"
    actual_items = actual.get(form, [])
    expected_items = expected.get(form, [])
    if not expected_items:
        return [f"{form}: none to compare with"]
    count = len(actual_items), len(expected_items)
    lines = [] if count[0] == count[1] else [f"{form}: expected {count[1]}, got {count[0]}"]
    names = operations or [cycle.get("pod") for cycle in expected_items]
    for number, (name, actual_item, expected_item) in enumerate(
        zip(names, actual_items, expected_items, strict=False)
    ):
        for field in STEP_FIELDS if operations else (*fields, CALLS) if CALLS in expected_item else fields:
            actual_value, expected_value = (
                _comparable(field, side.get(field)) for side in (actual_item, expected_item)
            )
            if actual_value != expected_value:
                lines += _nested_differences(
                    f"{form}[{number}] ({name}).{field}", actual_value, expected_value
                )
    return lines


def _comparable(field: str, value: Any) -> Any:
    """*value* of a field as it is compared.

    A preemption is without its error, and with the nominations to clear sorted, as they are a set. Bodies of
    calls are compared as Go would decode them, and faults of replies have the texts of their readers.
    """
    if field == CALLS:
        return [{**call, "body": as_decoded(call["body"])} for call in value or ()]
    if field == "error" and isinstance(value, str) and REPLY_FAULTS.match(value):
        return FAULT
    if not isinstance(value, dict) or "clearNominations" not in value:
        return value
    compared = {field: part for field, part in value.items() if field != "error"}
    return {**compared, "clearNominations": sorted(value["clearNominations"] or ())}


def as_decoded(value: Any, field: str = "") -> Any:
    """JSON without its empty values, as null, empty and absent are one to Go; amounts are equal in any
    notation."""
    if isinstance(value, list):
        return [as_decoded(item) for item in value]
    if not isinstance(value, dict):
        return value
    if field in _AMOUNTS:
        return {name: Quantity.parse(amount).nanos for name, amount in value.items()}
    items = ((name, as_decoded(item, name)) for name, item in value.items())
    return {name: item for name, item in items if item}


def _nested_differences(where: str, actual: Any, expected: Any) -> list[str]:
    if isinstance(actual, dict) and isinstance(expected, dict):
        keys = [*expected, *(key for key in actual if key not in expected)]
        unequal = (key for key in keys if actual.get(key) != expected.get(key))
        return [
            line
            for key in unequal
            for line in _nested_differences(f"{where}[{key}]", actual.get(key), expected.get(key))
        ]
    return [f"{where}: expected {json.dumps(expected)}, got {json.dumps(actual)}"]


# --- whole families -----------------------------------------------------------------------------------------


class FamilyConformance(Record):
    """The results of one family's cases."""

    release: str | None
    family: str
    cases: Count
    decisions: Count
    """Decisions of all cases."""
    steps: Count
    """Steps of all scripts of the queue."""
    identical: Count
    different: Names
    """The names of the cases that differ."""


class ConformanceDocument(DocumentRecord):
    """The number of cases answered as by the original scheduler."""

    KIND = "Conformance"
    cases: Count
    identical: Count
    families: tuple[FamilyConformance, ...]


@frozen
class FamilyReport:
    """The results of one family."""

    counts: FamilyConformance
    different: Mapping[str, list[str]]
    """Case -> its differences."""


def check_family(family: Family, manner: CaseSettings = USUAL) -> FamilyReport:
    """Run every case of *family* and compare."""
    if family.answers is None:
        raise ManifestError(
            f"{family.cases}: no answers beside it: expected {family.cases.name.replace('.cases.', '.answers.')}"
        )
    answers = {answer["name"]: answer for answer in read_answers(family.answers)}
    counts = Counter[str]()
    different = {}
    for case in read_cases(family.cases):
        counts["cases"] += 1
        expected = answers.get(case["name"])
        answer = {}
        try:
            answer = answer_case(case, manner)
            fields = FIELDS if manner.details else DECIDED
            lines = ["no answer to compare with"]
            if expected is not None:
                lines = differences(answer, expected, fields, [item["op"] for item in case.get("script", ())])
        except KubeclassicError as error:
            lines = [f"refused: {error}"]
        except Exception as error:  # a crash is a difference to report, not the end of the run
            lines = [f"{type(error).__name__}: {error}"]
        counts["cycles"] += len(answer.get("cycles", ()))
        counts["steps"] += len(answer.get("steps", ()))
        if lines:
            different[case["name"]] = lines
        else:
            counts["identical"] += 1
    if not counts["cases"]:
        raise ManifestError(f"{family.cases}: expected at least one, got no case")
    counted = FamilyConformance(
        release=family.release,
        family=family.name,
        cases=counts["cases"],
        decisions=counts["cycles"],
        steps=counts["steps"],
        identical=counts["identical"],
        different=tuple(different),
    )
    return FamilyReport(counted, different)
