"""The lab: the ordinary questions about one state after the other, asked of schedulers that know the cluster
already."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from time import process_time
from typing import Any, Literal, TypeVar

import attrs
import msgspec
from msgspec.structs import replace

from ...algorithmprovider.policy import PROVIDERS
from ...api.objects import KubeObject, Node, Pod
from ...api.ownfields import current_manifest
from ...api.record import Names, plain
from ...choices import ORDERS, TIE_BREAKS
from ...core.pods import of_node
from ...exceptions import KubeclassicError, UnknownNameError, one_line
from ...framework.options import declared_of
from ...framework.releases import ALL_RELEASES
from ...framework.schedulerspec import SchedulerSpec
from ...simulation.edits import without_flag
from ...simulation.explain.clusterfacts import taint_text
from ...simulation.input import SILENT, Input, Observer
from ...simulation.simulate import Files, differing
from ..capacity.ask import capacity
from ..capacity.options import CapacityOptions
from ..explain.ask import ExplainResult
from ..explain.options import WhatIfOptions
from ..options import AskedOptions, ClusterOptions, MorePods
from ..simulate.ask import SimulationRun
from ..simulate.options import SimulationOptions
from ..whatif.ask import explained_or_helped
from ..whatif.suggestion import Suggestion
from .scenarios import Json, LabScenarios, LabState, StateRules, WarmEngines, read_rules

MOST_ROWS = 200
KEPT_CLUSTERS = 60
T = TypeVar("T", bound=AskedOptions)
RULES_FILE = "lab-rules.json"
PODS_FILE = "lab-pods.json"


class SearchStopped(Exception):
    """Raised by an observer to end a search, such as one of a page that asks something else."""


class LabQuestion(msgspec.Struct, forbid_unknown_fields=True):
    """A question of the page about a state."""

    question: Literal["start", "simulate", "explain", "capacity", "manifest", "load", "save"]
    state: LabState | None = None
    """The state; None: the one that the lab begins with."""
    options: Json = {}
    """The options of the question, by their Python names."""
    cluster: int | None = None
    """The number of the cluster that the page shows."""


@attrs.frozen
class Given:
    """The input that the lab cannot change: paths, and words of the command line."""

    paths: Names
    pods: Names = ()
    """More files of pending pods."""
    words: Names = ()
    """Other options, such as ``--rules FILE.py:NAME``, as they were given."""


@attrs.frozen(eq=False)
class ClusterRows:
    """Nodes and pods as a page draws them. Nodes are [labels, allocatable, cordoned, taints], pods [requests,
    priority, node]."""

    number: int
    objects: Sequence[KubeObject]
    counted_by: tuple[object, ...]
    """The release by which requests are counted, and its gates."""
    rows: Mapping[tuple[str, str], list[Any]]
    """Kind and key -> row."""
    touched: Sequence[tuple[str, str]]
    """The keys that differ from the cluster of the number before."""


@attrs.define(eq=False)
class Lab:
    """One cluster, and the schedulers that know it; for one thread at a time."""

    files: Files
    spec: SchedulerSpec
    """The scheduler that the lab was started with."""
    start: LabState
    given: Given
    cron_jobs: bool = False
    engines: WarmEngines = attrs.Factory(WarmEngines)
    scenarios: LabScenarios = attrs.field(init=False)
    _clusters: dict[int, ClusterRows] = attrs.Factory(dict)

    def __attrs_post_init__(self) -> None:
        self.scenarios = LabScenarios(self.files, self.cron_jobs)

    def answer(self, body: bytes, observer: Observer = SILENT) -> Json:
        """The answer to the question in *body*. Raises :class:`~kubeclassic.exceptions.KubeclassicError` for
        a question that cannot be answered.

        *observer* learns of each change that helps as soon as it is found, and may end the search by an
        exception.
        """
        try:
            request = msgspec.json.decode(body, type=LabQuestion)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise KubeclassicError(f"question: {one_line(str(error) or 'it is nested too deeply')}") from None
        began = process_time()
        more = (observer,) if request.question == "explain" else ()
        answer = getattr(self, f"_{request.question}")(request.state or self.start, request, *more)
        return {**answer, "seconds": round(process_time() - began, 4)}

    @contextmanager
    def input(self, state: LabState) -> Iterator[Input]:
        """The input of *state* for the block, in which one question may be asked."""
        spec = StateRules(self.spec, state).spec()
        scenario = self.scenarios.scenario(state, spec)
        with self.engines.engine(state, spec, scenario) as engine:
            noted = attrs.evolve(scenario, warnings=self.scenarios.notices(scenario, engine.algorithm))
            yield Input(
                scenario=noted, spec=spec, engine=engine, order=state.order, defaults=self.files.defaults
            )

    # --- questions ------------------------------------------------------------------------------------------

    def _start(self, state: LabState, request: LabQuestion) -> Json:
        """The answer that the page begins with."""
        return {
            "state": plain(self.start),
            "releases": list(ALL_RELEASES),
            "providers": list(PROVIDERS),
            "orders": list(ORDERS),
            "tieBreaks": list(TIE_BREAKS),
        }

    def _simulate(self, state: LabState, request: LabQuestion) -> Json:
        """The nodes of pods, the rules of the state, and the rows of the cluster that the page lacks."""
        with self.input(state) as inputs:
            run = SimulationRun(inputs, SimulationOptions(forms=()))
            for _ in run.decisions():
                pass
            result = run.result()
            cluster = self._cluster(inputs)
        # The rows that the page lacks, as it shows the cluster of another number.
        lacking = None
        page_cluster = request.cluster
        if cluster.number != page_cluster:
            keys = list(cluster.rows)
            if page_cluster in self._clusters:
                later = range(page_cluster + 1, cluster.number + 1)
                keys = list(dict.fromkeys(key for number in later for key in self._clusters[number].touched))
            lacking = {
                "number": cluster.number,
                "since": page_cluster if page_cluster in self._clusters else None,
                "rows": [[*key, cluster.rows[key]] for key in keys if key in cluster.rows],
                "gone": [key for key in keys if key not in cluster.rows],
            }
        rules = StateRules(self.spec, state)
        known_rules = rules.known
        return {
            **result.record(),
            "verdict": str(result.view().verdict),
            "idle": [
                [edited.edit.text, without_flag(str(edited))]
                for edited in inputs.scenario.edited
                if not edited.changed
            ],
            "rules": {
                "profiles": rules.runs_profiles,
                "fixed": known_rules.fixed,
                "weights": rules.weights,
                "switches": rules.switches,
                "reads": list(ALL_RELEASES[inputs.release].configuration.api_versions),
                "filters": [
                    [name, on, name in known_rules.mandatory, name not in known_rules.idle]
                    for name, on in known_rules.filters.items()
                ],
                "scorers": list(known_rules.scorers.items()),
            },
            "cluster": lacking,
        }

    def _explain(self, state: LabState, request: LabQuestion, observer: Observer) -> Json:
        """The reason for a pod's node, or what would help it."""
        options = _options(WhatIfOptions, request, str)
        with self.input(state) as inputs:
            try:
                result = explained_or_helped(inputs, options, observer)
            except SearchStopped:  # the scheduler is as before
                return {}
        document: Any = result.document
        if isinstance(result, ExplainResult):
            others = [node for node in document.nodes if node.name != document.host]
            fitting, failing = ([node for node in others if node.fits is fits] for fits in (True, False))
            best = fitting[: max(MOST_ROWS // 2, MOST_ROWS - len(failing))]
            host = [node for node in document.nodes if node.name == document.host]
            shown = replace(document, nodes=[*host, *best, *failing[: MOST_ROWS - len(best)]])
            return {**plain(shown), "verdict": str(result.view().verdict)}
        return {**plain(document), "told": list(map(helping_words, result.suggestions))}

    def _capacity(self, state: LabState, request: LabQuestion) -> Json:
        """The number of further pods that fit."""
        options = _options(CapacityOptions, request, dict)
        with self.input(state) as inputs:
            pass
        fresh = attrs.evolve(inputs, engine=inputs.spec.engine(inputs.scenario.config_maps))
        return capacity.ask(fresh, options, SILENT).record()

    def _manifest(self, state: LabState, request: LabQuestion) -> Json:
        """The manifest of a pod or a node. An edit of a new pod changes it as it was written, so that its lists
        lack what admission added."""
        scenario = self.scenarios.scenario(state, StateRules(self.spec, state).spec())
        identity = request.options.get("kind"), request.options.get("name")
        for item in (*scenario.objects, *scenario.pending):
            if (item.kind, item.key if isinstance(item, Pod) else item.name) == identity:
                if isinstance(item, Pod) and (known := scenario.originals.get(id(item))) is not None:
                    own = known[1].spec
                    spec = replace(item.spec, node_selector=own.node_selector, tolerations=own.tolerations)
                    item = replace(item, spec=spec)
                return {"manifest": current_manifest(item)}
        raise UnknownNameError(f"{identity[0]}: expected one of the cluster, got {identity[1]!r}")

    def _load(self, state: LabState, request: LabQuestion) -> Json:
        """The Policy or the profile in a file that the page has read."""
        return read_rules(str(request.options.get("text")), str(request.options.get("name")))

    def _save(self, state: LabState, request: LabQuestion) -> Json:
        """The state as files: its rules, and the commands that give exactly its placement."""
        rules = StateRules(self.spec, state)
        text = json.dumps(rules.document(), indent=2) + "\n"
        options = rules.options()
        files = {}
        words = ["kubeclassic", "simulate", *self.given.paths]
        words += [word for path in self.given.pods for word in ("--pods", path)]
        if state.pods:
            files[PODS_FILE] = (
                json.dumps({"apiVersion": "v1", "kind": "List", "items": state.pods}, indent=2) + "\n"
            )
            words += ["--pods", PODS_FILE]
        for field in attrs.fields(type(options)):
            declared = declared_of(field)
            value = getattr(options, field.name)
            if not declared.flags or value in (None, field.default, {}):
                continue
            words.append(declared.flags[0])
            if declared.takes == "file":
                files[RULES_FILE] = text
                words.append(RULES_FILE)
            elif not isinstance(value, bool):
                words.append(
                    ",".join(f"{gate}={str(on).lower()}" for gate, on in value.items())
                    if isinstance(value, dict)
                    else str(value)
                )
        words += ["--order", state.order] if state.order != "priority" else []
        words += [word for edit in state.edits for word in ("--set", edit)]
        written = "".join(
            f"cat > {name} <<'END-OF-FILE'\n{content}END-OF-FILE\n" for name, content in files.items()
        )
        return {RULES_FILE: text, "lab-command.sh": f"{written}{shlex.join([*words, *self.given.words])}\n"}

    # --- the cluster ----------------------------------------------------------------------------------------

    def _cluster(self, inputs: Input) -> ClusterRows:
        """The nodes and pods of *inputs*; unchanged rows are those of the latest cluster."""
        engine = inputs.engine
        scenario = inputs.scenario
        objects = (*scenario.objects, *scenario.pending)
        counted_by = engine.release.version, *sorted(engine.gates.items())
        before = next(reversed(self._clusters.values()), ClusterRows(0, (), (), {}, ()))
        if before.counted_by == counted_by:
            removed, added = differing(before.objects, objects)
            if not (removed or added):
                return before
            deleted = list(removed)
        else:
            deleted = list(before.rows)
            added = {item.identity: item for item in objects}
        new_rows = dict[tuple[str, str], list[Any]]()
        for key, item in added.items():
            if isinstance(item, Node):
                taints = [taint_text(taint) for taint in item.spec.taints]
                allocatable = of_node(item.status.allocatable)
                new_rows[key] = [dict(item.labels), allocatable, item.spec.unschedulable, taints]
            elif isinstance(item, Pod):
                state = engine.pod_state(item) if item.spec.node_name else None
                template = engine.template_of(item) if state is None else state.entry.template
                requests = {name: number for name, number in template.requests.items() if number}
                new_rows[key] = [requests, item.priority, item.spec.node_name]
        deleted = [key for key in deleted if key in before.rows and key not in new_rows]
        touched = [*deleted, *(key for key, row in new_rows.items() if before.rows.get(key) != row)]
        rows = {**before.rows, **new_rows}
        for key in deleted:
            del rows[key]
        cluster = ClusterRows(before.number + 1, objects, counted_by, rows, touched)
        self._clusters[cluster.number] = cluster
        if len(self._clusters) > KEPT_CLUSTERS:
            del self._clusters[next(iter(self._clusters))]
        return cluster


def helping_words(suggestion: Suggestion) -> tuple[str, bool]:
    """The result of a change that helps, in words; and whether that costs others their node."""
    return suggestion.outcome, suggestion.is_costly


def _options(kind: type[T], request: LabQuestion, pod: type) -> T:
    """The options of a question about a pod, which is given by name or as a manifest; files are not read.

    Options of reading a cluster are the state's.
    """
    bases = (base for base in (MorePods, ClusterOptions) if issubclass(kind, base))
    of_state = {"scheduler", *(name for base in bases for name in attrs.fields_dict(base))}
    own = [name for name in kind.declared() if name not in of_state]
    for name in request.options:
        if name not in own:
            raise UnknownNameError(f'options: expected {", ".join(own)}, got "{one_line(name, 100)}"')
    try:
        if isinstance(request.options.get("pod"), pod):
            return kind(**request.options)
    except TypeError as error:
        raise KubeclassicError(f"options: {one_line(str(error))}") from None
    expected = "a name" if pod is str else "a manifest"
    raise KubeclassicError(f"pod: expected {expected}, got {one_line(repr(request.options.get('pod')), 100)}")
