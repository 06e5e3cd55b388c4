"""Commands that are made of questions: flags, help and checks from the options, then the input, the answer and its page."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import click

from ..framework.options import declared_of
from ..questions.options.base import ClusterOptions, MorePods, Question
from .console.output import STANDARD
from .declaring.commands import Command
from .declaring.options import click_option, process_options, scheduler_options
from .declaring.outputs import Output, output_options
from .declaring.paramtypes import FILE
from .declaring.paths import takes_cluster, takes_paths

if TYPE_CHECKING:
    from ..questions.result import Result
    from .declaring.setup import Setup
    from .report.page.about import About

QUESTIONS = {
    "simulate": "simulate:SIMULATE", "explain": "explain:EXPLAIN", "compare": "compare:COMPARE", "upgrade": "compare:UPGRADE",
    "capacity": "capacity:CAPACITY", "drain": "drain:DRAIN",
}  # fmt: skip
"""Command -> where the question is declared, in the folder of options."""
PAGES = {
    "CapacityResult": "capacitypage:capacity_html", "NewNodesResult": "capacitypage:new_nodes_html",
    "ExplainResult": "explainpage:explanation_html", "WhatIfResult": "explainpage:whatif_html", "DrainResult": "drainpage:drain_html",
    "CompareResult": "comparisonpage:comparison_html", "UpgradeResult": "upgradepage:upgrade_html",
    "SimulationResult": "simulationpage:simulation_html",
}  # fmt: skip
"""What an answer is -> what makes its page."""
OWN = {"simulate": "simulate:answered", "drain": "drain:answered"}
"""Questions whose answer is printed in a way of their own, and what does that."""


@attrs.frozen(repr=False)
class Asking:
    """A question as the command line asks it."""

    question: Question
    paths: Sequence[Path]
    options: Any
    output: Output
    given: Any
    """The input, read."""

    def answer(self) -> Any:
        """The answer, a result."""
        from .opening import Console

        function = self.question.function()
        return getattr(function, "ask", function)(self.given, self.options, Console(self.output.verbose))

    def page(self, found: Result, *more: Any) -> Callable[[], str]:
        """What makes the page of the answer *found*; *more*: what it takes besides."""

        def made() -> str:
            module, _, name = PAGES[type(found).__name__].partition(":")
            html = getattr(import_module(f".report.questions.{module}", __package__), name)
            text: str = html(found, self.about(found), *more)
            return text

        return made

    def about(self, found: Any) -> About:
        """What the page of *found* says of its origin."""
        from .answering import about, about_input
        from .report.page.markup import code, sentence

        read = [*self.paths, *map(Path, self.options.read())]
        if self.question.name == "upgrade":
            return about(self.given, read, releases=[stage.release for stage in found.document.stages])
        if self.question.name == "compare":
            sides = found.document.configurations
            rules = [sentence(f"{one.name}: ", code(one.text)) for one in sides]
            return about(self.given.scenario, read, releases=[one.release for one in sides], rules=rules)
        return about_input(self.given, read)


def question_of(name: str) -> Question:
    """The question that the command *name* asks."""
    module, _, constant = QUESTIONS[name].partition(":")
    found: Question = getattr(import_module(f"..questions.options.{module}", __package__), constant)
    return found


def command_of(name: str, short_help: str) -> click.Command:
    """The command *name*, made of its question."""
    question = question_of(name)
    fields, kind = question.options.declared(), question.options
    shared = [field.name for base in (MorePods, ClusterOptions) if issubclass(kind, base) for field in attrs.fields(base)]
    flags = {name: click_option(field) for name, field in fields.items() if declared_of(field).takes not in ("scheduler", "executor")}
    arguments = [option for name, option in flags.items() if declared_of(fields[name]).takes == "argument"]
    own = [option for name, option in flags.items() if name not in shared and option not in arguments]
    theirs = [option for name, option in flags.items() if name in shared]
    scheduler = [scheduler_options] if "scheduler" in fields else []
    jobs = [process_options(*question.jobs)] if question.jobs else []
    paths = [takes_paths(*question.reads)]
    if question.besides:
        metavar = f"PATHS... [{question.besides.upper()}]..."
        paths = [takes_cluster(*question.reads), click.argument("paths", nargs=-1, type=FILE, metavar=metavar)]
    output = output_options(
        question.forms, question.told_forms, verbose=question.verbose, what=question.what, headers=question.headers
    )
    order = [*own, *jobs, *scheduler, *theirs] if question.own_first else [*scheduler, *theirs, *own, *jobs]

    def run(paths: tuple[Path, ...], output: Output, setup: Setup | None = None, **values: Any) -> None:
        sys.exit(_run(question, paths, setup, output, values))

    for layer in reversed([*paths, *arguments, *order, output]):
        run = layer(run)
    command = click.command(name, cls=Command, short_help=short_help, help=kind.__doc__, outputs=question.outputs, ignored=question.ignored)
    return command(run)


def _run(question: Question, paths: tuple[Path, ...], setup: Setup | None, output: Output, values: dict[str, Any]) -> int:
    from ..simulation.executors import executor_of
    from .answering import answer
    from .opening import contestants, opened, scenario_of_default, version_read

    jobs, dask = values.pop("jobs", 1), values.pop("dask", None)
    if question.besides:
        paths, others = _paths_and_others(paths)
        values[question.besides] = (*others, *values[question.besides])
    output = output.widened() if question.widens else output
    forms = {output.form, *(["page"] if output.makes_page else [])}
    chosen = {name.removeprefix("own_"): value for name, value in values.items() if value is not None}
    if setup is not None and "," in (setup.get("release") or ""):
        start, *_, end = setup.get("release").split(",")
        instead = f"kubeclassic upgrade ... --from {start} --to {end}" + (f" --pod {chosen['pod']}" if question.name == "explain" else "")
        raise click.UsageError(f"--release: got {setup.get('release')}, wanted one release; what differs between two: {instead}")
    options: Any = question.options(**chosen, forms=forms, called=question.options.flag_of, server=version_read())
    if setup is not None:
        given: Any = opened(paths, options, setup)
    else:
        given = (contestants if question.name == "compare" else scenario_of_default)(paths, options)
    with executor_of(jobs, dask) as executor:
        if question.jobs:
            options = attrs.evolve(options, executor=executor)
        asking = Asking(question, paths, options, output, given)
        if question.name in OWN:
            module, _, name = OWN[question.name].partition(":")
            status: int = getattr(import_module(f".{module}", __package__), name)(asking)
            return status
        found = asking.answer()
    return answer(found, output, asking.page(found))


def _paths_and_others(given: tuple[Path, ...]) -> tuple[tuple[Path, ...], tuple[str, ...]]:
    """The arguments that are files or folders, and the others, which must be names."""
    paths = tuple(path for path in given if str(path) == STANDARD or path.exists())
    if not paths:
        missing = f"{given[0]}: got neither a path that is there nor, without any, a cluster with a node of that name. " if given else ""
        raise click.UsageError(f"{missing}Missing argument 'PATHS...', or --kubeconfig FILE, or --context NAME.")
    return paths, tuple(str(path) for path in given if path not in paths)
