"""The parts of commands: groups that import a command when it is asked for, help in sections, and files that
may not be the same."""

from __future__ import annotations

import inspect
import os
import re
import stat
from collections import UserDict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import click
from click.shell_completion import CompletionItem

from ..console.output import STANDARD, NoReader, OutputError, check_writable, note

WRITTEN = ("output", "series", "report", "flame_graph", "redact_map", "plot")
"""Parameters that are files to write; every other path is read."""
MANIFESTS = tuple(
    suffix + packed for suffix in (".yaml", ".yml", ".json", ".jsonl") for packed in ("", ".gz")
)


OUTPUTS = "kubeclassic.outputs"
"""Key in click's context for the files that the command line writes: their flags and paths."""


def _is_replaced(path: str) -> bool:
    """Whether writing would replace what is there: not so with devices and pipes."""
    try:
        mode = os.stat(path).st_mode
        return stat.S_ISREG(mode) or stat.S_ISDIR(mode)
    except (OSError, ValueError):
        return True


def _is_same_file(path: str, other: str) -> bool:
    try:
        return os.path.samefile(path, other)
    except (OSError, ValueError):
        return "\0" not in path + other and os.path.realpath(path) == os.path.realpath(other)


def _is_found_in(path: str, folder: str) -> bool:
    """Whether *path* is a manifest that is there already, in *folder* or below, and not hidden."""
    if not (path.endswith(MANIFESTS) and os.path.isfile(path) and os.path.isdir(folder)):
        return False
    real = Path(os.path.realpath(path))
    above = Path(os.path.realpath(folder))
    return real.is_relative_to(above) and not any(
        part.startswith(".") for part in real.relative_to(above).parts
    )


def refuse_overwriting(
    outputs: Iterable[tuple[str, str]], inputs: Collection[str], *, reads_folders: bool = True
) -> None:
    """Raise :class:`~..console.output.OutputError` if one of *outputs*, flags and paths, is one of *inputs*;
    with *reads_folders*, or a manifest in one."""
    for flag, path in outputs:
        if any(
            _is_same_file(path, source) or (reads_folders and _is_found_in(path, source)) for source in inputs
        ):
            raise OutputError(f"{flag}: expected another file, got {path}, which is an input too")


INPUT = "Input options"
SCHEDULER = "Scheduler options"
OUTPUT = "Output options"
OTHER = "Other options"
FIRST = (INPUT, SCHEDULER)
LAST = (OUTPUT, OTHER)

_OPTIONS = {
    INPUT: """
        --family --without --check --newer-labels --no-defaults --pods --strict --order --cron-jobs --set
        --pod --ratio --max-limit --exclude-nodes --pending-first --kubeconfig --context
    """,
    "New nodes": "--add-node --cost --most-nodes",
    SCHEDULER: """
        --release --profile --feature-gates --rules --disable-preemption --memory --no-memory
        --percentage-of-nodes-to-score --preemption
    """,
    OUTPUT: """
        -o --output --details --verbose --show --report --series --series-every
        --namespace --selector --sort-by --no-headers
    """,
}
SECTIONS = {option: section for section, options in _OPTIONS.items() for option in options.split()}
"""Option -> the section of the help that has it, for every command; those that are not here are in
:data:`OTHER`."""
MOST_SHOWN = 15
"""The most options that ``--help`` shows in full; of more it shows the common ones alone."""
PROGRAM = "kubeclassic"
_ALL = "everything"
"""Key in the context: whether the whole help is asked for."""


class CommonOption(click.Option):
    """An option that most people use: ``--help`` of a command with many shows it."""


def _print_all(context: click.Context, parameter: click.Parameter, value: bool) -> None:
    if value and not context.resilient_parsing:
        context.meta[_ALL] = True
        click.echo(context.get_help(), color=context.color)
        context.exit()


def _help_all(*, hidden: bool) -> click.Option:
    return click.Option(
        ["--help-all"],
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=_print_all,
        hidden=hidden,
        help="Show all options, and how the answer is found.",
    )


class Command(click.Command):
    """A command whose help has its options in sections, and which refuses to write over what it reads.

    *reads_folders*: whether a folder among the paths stands for all manifests in it. *outputs*: more options
    for the output section. *ignored*: flags of kubectl that mean nothing here, with ``=`` at the end
    if they take a value.
    """

    def __init__(
        self,
        *arguments: Any,
        reads_folders: bool = True,
        outputs: Collection[str] = (),
        ignored: str = "",
        **attributes: Any,
    ) -> None:
        super().__init__(*arguments, **attributes)
        self.reads_folders = reads_folders
        self.outputs = {*outputs}
        self.ignored = ignored.split()
        self._everything = _help_all(hidden=not self._is_long)

    @property
    def _is_long(self) -> bool:
        """Whether there is a short help besides the whole one."""
        return sum(isinstance(param, click.Option) and not param.hidden for param in self.params) > MOST_SHOWN

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Its parameters, those of helps among them."""
        *params, last = super().get_params(ctx)
        return [*params, self._everything, last]

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read *args* without flags of kubectl that mean nothing here; a line names these."""
        kept = []
        words = iter(args)
        for word in words:
            flag, equals, _ = word.partition("=")
            has_value = f"{flag}=" in self.ignored
            if not has_value and flag not in self.ignored:
                kept += [word, *words] if word == "--" else [word]
                continue
            if has_value and not equals:
                next(words, None)
            note(f"{flag} of kubectl is ignored: it means nothing here")
        return super().parse_args(ctx, kept)

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write what it is for: in short, or everything."""
        if not self._is_long or _ALL in ctx.meta:
            super().format_help_text(ctx, formatter)
            return
        # In short: what it is for, exit statuses and examples.
        summary, *rest = re.split(r"\n[ \t]*\n", inspect.cleandoc(self.help or ""))
        rest = [part for part in rest if part.startswith(("Exit status", f"\b\n{PROGRAM}"))]
        formatter.write_paragraph()
        with formatter.indentation():
            formatter.write_text("\n\n".join([summary, *rest]))

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options: those that people use, or all of them: input, scheduler, output, others."""
        is_short = self._is_long and _ALL not in ctx.meta
        sections: dict[str, list[tuple[str, str]]] = {}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if record is None or not isinstance(param, click.Option):
                continue
            name = next((SECTIONS[name] for name in param.opts if name in SECTIONS), OTHER)
            if not is_short:
                sections.setdefault(OUTPUT if not self.outputs.isdisjoint(param.opts) else name, []).append(
                    record
                )
            elif isinstance(param, CommonOption) or param is self._everything:
                sections.setdefault("Options", []).append(record)
        between = (name for name in sections if name not in FIRST + LAST)
        for name in (*FIRST, *between, *LAST):
            if name in sections:
                with formatter.section(name):
                    formatter.write_dl(sections[name])

    def invoke(self, ctx: click.Context) -> Any:
        """Run it, unless it would write to a file that it reads, twice to one, or to one that cannot be
        written."""
        outputs = []
        printed = []
        inputs = list[str]()
        for param in ctx.command.params:
            value = ctx.params.get(param.name or "")
            for owner in (param, param.type):
                if (recorded := getattr(owner, "recorded", None)) is not None:
                    outputs += [(max(param.opts, key=len), path) for path in recorded(value)]
                if (files := getattr(owner, "files", None)) is not None:
                    inputs += map(str, files(value))
            if hasattr(param.type, "files"):
                continue
            if isinstance(param.type, click.Path) or param.name in WRITTEN:
                values = value if isinstance(value, tuple) else (value,)
                paths = [str(path) for path in values if path is not None]
                if param.name in WRITTEN:
                    printed += [max(param.opts, key=len)] * (
                        paths == [STANDARD] or (param.name == "output" and not paths)
                    )
                    replaced = [path for path in paths if path != STANDARD and _is_replaced(path)]
                    outputs += [(max(param.opts, key=len), path) for path in replaced]
                else:
                    inputs += paths
        if inputs.count(STANDARD) > 1:
            raise click.UsageError("expected - (standard input) once, as it is read once, got it twice")
        refuse_overwriting(outputs, inputs, reads_folders=self.reads_folders)
        for place, (flag, path) in enumerate(outputs):
            for other_flag, earlier in outputs[:place]:
                if _is_same_file(path, earlier):
                    raise OutputError(
                        f"{flag}: expected another file, got {path}, which is the file of {other_flag} too"
                    )
        if len(printed) > 1:
            flag = next(flag for flag in reversed(printed) if flag != "--output")
            raise OutputError(f"{flag}: expected a file, got - (standard output), which has the answer")
        for _, path in outputs:
            check_writable(path)
        ctx.meta[OUTPUTS] = outputs
        return super().invoke(ctx)


def command(name: str | None = None, **attributes: Any) -> Callable[[Callable[..., Any]], Command]:
    """As :func:`click.command`, for a :class:`Command`."""
    return click.command(name, cls=Command, **attributes)


class CommandGroup(click.Group):
    """A group of commands; alone it prints its help."""

    command_class: type[click.Command] | None = Command

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Its parameters; ``--help-all`` is ``--help``."""
        return [*super().get_params(ctx), _help_all(hidden=True)]

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read *args*; without any, print the help and end well."""
        if not args and not ctx.resilient_parsing:
            click.echo(ctx.get_help())
            ctx.exit()
        return super().parse_args(ctx, args)


@contextmanager
def _raising_no_reader() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError as error:
        raise NoReader from error


# --- commands that are imported when they are asked for -----------------------------------------------------


class CommandPlace(NamedTuple):
    """A command's module, its heading in the list of commands, and its purpose."""

    question: str
    """The question that the command asks, if no module declares it."""
    module: str
    group: str
    short_help: str
    help: str
    """The help of a group of commands."""
    commands: dict[str, CommandPlace]


def command_places(table: str) -> dict[str, CommandPlace]:
    """The commands of *table*, a line each: name, module, heading, short help; of a group its help, too. A
    name of two words is that of a command of a group."""
    places: dict[str, CommandPlace] = {}
    for line in table.strip().splitlines():
        name, module, group, short_help, *more = map(str.strip, line.split("|"))
        outer, _, inner = name.rpartition(" ")
        place = CommandPlace(name.replace(" ", ""), module, group, short_help, "".join(more), {})
        (places[outer].commands if outer else places)[inner] = place
    return places


class DeclaredCommands(UserDict[str, click.Command]):
    """Commands by name, each imported when it is asked for."""

    data: dict[str, Any]

    def __init__(self, places: Mapping[str, CommandPlace], package: str) -> None:
        super().__init__()
        self.places, self.data, self._package = places, dict(places), package

    def __getitem__(self, name: str) -> click.Command:
        place = self.data[name]
        if isinstance(place, CommandPlace) and place.commands:
            within = DeclaredCommands(place.commands, self._package)
            self.data[name] = LazyGroup(name, commands=within, help=place.help, short_help=place.short_help)
        elif isinstance(place, CommandPlace) and place.module:
            self.data[name] = getattr(import_module(f".{place.module}", self._package), place.module)
        elif isinstance(place, CommandPlace):
            make_command = import_module(".commands", self._package).command_of
            self.data[name] = make_command(name, place.short_help, place.question)
        loaded: click.Command = self.data[name]
        return loaded


class LazyGroup(CommandGroup):
    """A group of :class:`DeclaredCommands` commands: its help, and the completion of their names, import none
    of them."""

    commands: DeclaredCommands

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read *args*; ``help`` and ``version`` stand for the options of these names."""
        if args[:1] == ["help"]:
            args = [*args[1:], "--help"]
        elif args == ["version"]:
            args = ["--version"]
        return super().parse_args(ctx, args)

    def make_context(self, *arguments: Any, **attributes: Any) -> click.Context:
        """Read the command line; helps are printed here."""
        with _raising_no_reader():
            return super().make_context(*arguments, **attributes)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        with _raising_no_reader():
            return super().invoke(ctx)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names in the order of the table."""
        return list(self.commands)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the names, each with its short help, by groups."""
        longest = max(map(len, self.commands))
        for group in dict.fromkeys(place.group for place in self.commands.places.values()):
            with formatter.section(group):
                rows = [
                    (name, place.short_help)
                    for name, place in self.commands.places.items()
                    if place.group == group
                ]
                formatter.write_dl([(name.ljust(longest), text) for name, text in rows])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """The commands and options that begin so."""
        places = self.commands.places.items()
        items = [
            CompletionItem(name, help=place.short_help)
            for name, place in places
            if name.startswith(incomplete)
        ]
        return items + click.Command.shell_complete(self, ctx, incomplete)
