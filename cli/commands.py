"""Commands that are made of questions: flags, help and checks from the options, then the input, the answer
and its page."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import click
from click.core import ParameterSource

from ..framework.options import declared_of
from ..questions.options import ClusterOptions, MorePods, Question
from .console.output import STANDARD
from .declaring.commands import Command
from .declaring.flags import (
    FILE,
    FileName,
    Output,
    click_option,
    options_from,
    output_options,
    scheduler_options,
    takes_cluster,
    takes_paths,
    with_options,
)

if TYPE_CHECKING:
    from ..questions.asking import Result
    from .report.page.document import About

NO_FLAG = ("scheduler", "executor", "python")
"""Options without a flag on the command line, or with flags of their own there."""


@attrs.frozen(repr=False)
class Asking:
    """A question as the command line asks it."""

    question: Question
    paths: Sequence[Path]
    options: Any
    output: Output
    setup: Any
    inputs: Any
    """The input, read."""

    def answer(self) -> Any:
        """The answer, a result."""
        from .answering import Console

        function = self.question.function()
        return getattr(function, "ask", function)(self.inputs, self.options, Console(self.output.verbose))

    def about(self, result: Result) -> About:
        """The origin on the page of *result*."""
        from ..simulation.input import Input
        from ..simulation.simulate import Scenario
        from .answering import about

        inputs = self.inputs
        scenario = inputs if isinstance(inputs, Scenario) else getattr(inputs, "scenario", None)
        releases = {"releases": [inputs.engine.release.version]} if isinstance(inputs, Input) else {}
        return about(scenario, self.paths, files=self.options.read(), **{**releases, **result.origin()})


def command_of(command: str, short_help: str, name: str) -> click.Command:
    """The *command* that is made of the question *name*."""
    question: Question = import_module(f"..questions.{name}.options", __package__).QUESTION
    kind = question.options
    shared = dict[str, Any]()
    declared = question.options.declared()
    for base in (MorePods, ClusterOptions):
        shared |= attrs.fields_dict(base) if issubclass(kind, base) else {}
    arguments = list[Any]()
    flags = list[Any]()
    cluster = [scheduler_options] if "scheduler" in declared else list[Any]()
    for field_name, field in declared.items():
        takes = declared_of(field).takes
        if takes not in NO_FLAG:
            (arguments if takes == "argument" else cluster if field_name in shared else flags).append(
                click_option(field)
            )
    if question.jobs:
        jobs, default = question.jobs
        flags += options_from(f"""
--jobs -j | 1.. {jobs or ""} | | The number of processes.  [default: {default}]
--dask | ADDRESS | | Run on this Dask cluster, such as tcp://10.0.0.1:8786.
""")
    if question.argument:
        paths = [click.argument(question.argument, type=FILE)]
    elif question.cases:
        paths = [click.argument("paths", nargs=-1, required=True, type=FileName(allow_dash=False))]
    elif question.besides:
        metavar = f"PATHS... [{question.besides.upper()}]..."
        paths = [
            takes_cluster(*question.reads),
            click.argument("paths", nargs=-1, type=FILE, metavar=metavar),
        ]
    else:
        paths = [takes_paths(*question.reads)]
    output = output_options(
        question.forms,
        question.help_of_forms,
        verbose=question.verbose,
        what=question.what,
        headers=question.headers,
        page=question.page,
    )

    def run(output: Output, paths: tuple[Path, ...] = (), setup: Any = None, **values: Any) -> None:
        sys.exit(_run(name, question, paths, setup, output, values))

    layers = [*paths, *arguments, *(flags + cluster if question.own_first else cluster + flags), output]
    return click.command(
        command,
        cls=Command,
        short_help=short_help,
        help=kind.__doc__,
        outputs=question.outputs,
        ignored=question.ignored,
        reads_folders=not (question.argument or question.cases),
    )(with_options(layers)(run))


def _run(
    name: str, question: Question, paths: tuple[Path, ...], setup: Any, output: Output, values: dict[str, Any]
) -> int:
    from ..api.garbage import settled
    from ..simulation.executors import cores, executor_of
    from .answering import OPENERS, answer, opened, tell_line, version_read

    running: AbstractContextManager[Any] = nullcontext()
    if question.jobs:
        source = click.get_current_context().get_parameter_source("jobs")
        if values["dask"] is not None and source is ParameterSource.COMMANDLINE:
            raise click.UsageError("--jobs cannot be combined with --dask, whose workers are the processes")
        running = executor_of(values.pop("jobs") or cores(), values.pop("dask"))
    if question.argument:
        paths = (values.pop(question.argument),)
    if question.besides:
        # The arguments that are files or folders, and the others, which must be names.
        existing = tuple(path for path in paths if str(path) == STANDARD or path.exists())
        if not existing:
            got = "got neither a path that is there nor, without any, a cluster with a node of that name"
            missing = f"{paths[0]}: {got}. " if paths else ""
            raise click.UsageError(
                f"{missing}Missing argument 'PATHS...', or --kubeconfig FILE, or --context NAME."
            )
        values[question.besides] = (
            *(str(path) for path in paths if path not in existing),
            *values[question.besides],
        )
        paths = existing
    if question.widens and output.verbose and output.form == "table":
        output = attrs.evolve(output, form="wide")
    chosen = {name.removeprefix("own_"): value for name, value in values.items() if value is not None}
    versions = "" if setup is None else setup.get("release") or ""
    if "," in versions:
        start, *_, end = versions.split(",")
        instead = f"kubeclassic upgrade ... --from {start} --to {end}" + (
            f" --pod {chosen['pod']}" if name == "explain" else ""
        )
        raise click.UsageError(
            f"--release: expected one release, got {versions}; what differs between two: {instead}"
        )
    with running as executor:
        chosen |= {"executor": executor} if question.jobs else {}
        options: Any = question.options(
            **chosen, forms=output.forms, called=question.options.flag_of, server=version_read()
        )
        inputs = OPENERS[name](paths, options) if name in OPENERS else opened(paths, options, setup)
        asking = Asking(question, paths, options, output, setup, inputs)
        with settled():
            if question.prints:
                status: int = import_module(f".{name}", __package__).answered(asking)
                return status
            result = asking.answer()
    asides = result.asides(output.form)
    status = answer(result, output, partial(asking.about, result), unread=asides is None)
    for line in asides or ():
        tell_line(" ".join(line.splitlines()))
    return status
