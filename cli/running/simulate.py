"""What ``kubeclassic simulate`` does."""

from __future__ import annotations

import sys
from pathlib import Path

import attrs

from ...exceptions import KubeclassicError
from ...simulation.gcpause import settled
from ...simulation.replacements import Replacements
from ...simulation.simulate import Simulation
from ...simulation.summary import summarise
from ..answering import about, write_page, write_report
from ..console.output import note, writing
from ..declaring.options import ClusterChoice
from ..declaring.outputs import HTML
from ..engines.setup import Setup
from ..notices import tell_unread
from ..opening import opened, tell
from ..report.simulation import eviction_line, summary_text
from ..report.tables import width_of
from .simulationforms import FORMS, SimulationRun, View


class OptionError(KubeclassicError):
    """Options that do not go together."""


@attrs.frozen(kw_only=True)
class Shown:
    """What the command line wants to see, and how."""

    form: str = "table"
    nodes: bool = False
    namespace: str | None = None
    selector: str | None = None
    sort_by: str | None = None
    no_headers: bool = False
    details: bool = False
    output: str | None = None
    report: str | None = None
    verbose: bool = False
    reschedule_evicted: bool = False

    @property
    def chosen(self) -> str:
        """What lists show where they do not show all, in words."""
        noun = "nodes" if self.nodes else "pods"
        labelled = f" with {self.selector}" if self.selector else ""
        return f"{noun}{labelled}{f' of {self.namespace}' if self.namespace else ''}" if labelled or self.namespace else ""

    @property
    def makes_page(self) -> bool:
        """Whether a page is wanted, alone or besides."""
        return self.form == HTML or self.report is not None

    def check(self) -> None:
        """Refuse what does not go together. Raises :class:`OptionError`."""
        if self.nodes and self.namespace is not None:
            raise OptionError("-n cannot be combined with --nodes: nodes have no namespace")
        if self.form == "jsonl" and self.nodes:
            raise OptionError("--nodes cannot be combined with -o jsonl: its lines are cycles")
        if self.form == "jsonl" and self.sort_by is not None:
            raise OptionError("--sort-by cannot be combined with -o jsonl: its cycles come as they are")


def run(paths: tuple[Path, ...], setup: Setup, cluster: ClusterChoice, shown: Shown) -> int:
    """Simulate, and write what was asked for; the exit status."""
    shown.check()
    given = opened(paths, cluster, setup)
    scenario, engine = given.scenario, given.engine
    view = View.of(shown.form, scenario, nodes=shown.nodes, namespace=shown.namespace, selector=shown.selector, sort_by=shown.sort_by)
    tell(scenario, engine, shown.verbose)
    simulation = Simulation(scenario, engine, cluster.order, shown.details or shown.form == "wide")
    if shown.reschedule_evicted:
        simulation.replacements = Replacements.of_scenario(scenario, given.spec.scheduler_names)
    with writing(shown.output) as stream, settled():
        answer = SimulationRun(simulation, view, stream, details=shown.details, headers=not shown.no_headers, keeps=shown.makes_page)

        def page() -> str:
            from ..report.placement.placementpage import simulation_html

            origin = about(scenario, [*paths, *cluster.pods], releases=[engine.release.version], rules=given.rules)
            return simulation_html(answer.page_record(), answer.standing(), origin, shown.chosen)

        if view.form == HTML:
            answer.run()
            write_page(page(), stream)
        else:
            FORMS[view.form](answer)
    write_report(shown.report, page)
    _tell_results(simulation, shown, view)
    tell_unread(scenario.warnings)
    return 0 if simulation.all_placed else 1


def _tell_results(simulation: Simulation, shown: Shown, view: View) -> None:
    if simulation.outcomes and not any(view.shows(outcome.pod) for outcome in simulation.outcomes.values()):
        note("no pod to show: -n and -l choose none of those that were tried")
    for eviction in simulation.evictions if shown.verbose else ():
        note(eviction_line(eviction))
    note(summary_text(summarise(simulation), width_of(sys.stderr)))
