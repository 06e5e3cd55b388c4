"""What commands are made of: groups that import a command when it is asked for, help in sections, and files that may not be the same."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from importlib import import_module
from typing import Any, NamedTuple

import click
from click.shell_completion import CompletionItem

from ..console.samefiles import refuse_same_files
from ..console.streams import NoReader

INPUT, SCHEDULER, OUTPUT, OTHER = "Input options", "Scheduler options", "Output options", "Other options"
FIRST, LAST = (INPUT, SCHEDULER), (OUTPUT, OTHER)

SECTIONS: dict[str, str] = {
    **dict.fromkeys(("--family", "--without", "--check", "--newer-labels", "--no-defaults", "--pods", "--strict"), INPUT),
    **dict.fromkeys(("--pod", "--ratio", "--max-limit", "--exclude-nodes", "--pending-first", "--curve"), INPUT),
    **dict.fromkeys(("--add-node", "--cost", "--most-nodes", "--most-trials"), "New nodes"),
    **dict.fromkeys(("--kind", "--nodes", "--existing", "--templates"), INPUT),
    **dict.fromkeys(("--release", "--profile", "--feature-gates", "--rules", "--disable-preemption", "--memory", "--no-memory"), SCHEDULER),
    **dict.fromkeys(("--percentage-of-nodes-to-score", "--preemption"), SCHEDULER),
    **dict.fromkeys(("-o", "--output", "--details", "--verbose", "--show", "--report", "--series", "--series-every"), OUTPUT),
    **dict.fromkeys(("--namespace", "--selector", "--sort-by", "--no-headers"), OUTPUT),
    **dict.fromkeys(("--flame-graph",), OUTPUT),
}
"""Option -> the section of the help that has it, for every command; those that are not here are in :data:`OTHER`."""


class Command(click.Command):
    """A command whose help has its options in sections, and which refuses to write over what it reads.

    *reads_folders*: whether a folder among the paths stands for all manifests in it. *outputs*: more options for the output section.
    """

    def __init__(self, *arguments: Any, reads_folders: bool = True, outputs: Collection[str] = (), **attributes: Any) -> None:
        super().__init__(*arguments, **attributes)
        self.reads_folders: bool = reads_folders
        self.outputs: Collection[str] = outputs

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options: input, scheduler, output, others."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if record is not None and isinstance(param, click.Option):
                sections.setdefault(OUTPUT if self._is_output(param) else section_of(param), []).append(record)
        between = (name for name in sections if name not in FIRST + LAST)
        for name in (*FIRST, *between, *LAST):
            if name in sections:
                with formatter.section(name):
                    formatter.write_dl(sections[name])

    def _is_output(self, option: click.Option) -> bool:
        return any(name in self.outputs for name in option.opts)

    def invoke(self, ctx: click.Context) -> Any:
        """Run it, unless it would write to a file that it reads."""
        refuse_same_files(ctx, self.reads_folders)
        return super().invoke(ctx)


class ParentCommand(Command):
    """A command that also has commands of its own: where the first word is the name of one, that one is meant."""

    def __init__(self, *arguments: Any, **attributes: Any) -> None:
        super().__init__(*arguments, **attributes)
        self.commands: dict[str, click.Command] = {}

    def add(self, inner: click.Command) -> None:
        """Have *inner* as a command."""
        self.commands[inner.name or ""] = inner

    def make_context(self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any) -> click.Context:
        """Read the command line, of this command or of one that it has."""
        inner = self.commands.get(args[0]) if args else None
        if inner is None:
            return super().make_context(info_name, args, parent, **extra)
        return inner.make_context(f"{info_name} {args[0]}", args[1:], parent, **extra)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, then the commands."""
        super().format_options(ctx, formatter)
        with formatter.section("Commands"):
            formatter.write_dl([(name, inner.get_short_help_str(80)) for name, inner in self.commands.items()])

    def complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """What its first argument can be: a command of its own, or what *param* takes."""
        begun = ((name, inner) for name, inner in self.commands.items() if name.startswith(incomplete))
        found = [CompletionItem(name, help=inner.get_short_help_str()) for name, inner in begun]
        return found + param.type.shell_complete(ctx, param, incomplete)


def section_of(option: click.Option) -> str:
    """The section of the help that has *option*."""
    return next((SECTIONS[name] for name in option.opts if name in SECTIONS), OTHER)


def command(name: str | None = None, **attributes: Any) -> Callable[[Callable[..., Any]], Command]:
    """As :func:`click.command`, for a :class:`Command`."""
    return click.command(name, cls=Command, **attributes)


class CommandGroup(click.Group):
    """A group of commands; alone it prints its help."""

    command_class: type[click.Command] | None = Command

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read *args*; without any, print the help and end well."""
        if not args and not ctx.resilient_parsing:
            click.echo(ctx.get_help())
            ctx.exit()
        return super().parse_args(ctx, args)


@contextmanager
def _told_apart() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError as error:
        raise NoReader from error


# --- commands that are imported when they are asked for -------------------------------------------------------------


class CommandPlace(NamedTuple):
    """Where a command is declared, and what it is for."""

    module: str
    name: str
    short_help: str


class DeclaredCommands(MutableMapping[str, click.Command]):
    """Commands by name, each imported when it is asked for."""

    def __init__(self, places: Mapping[str, CommandPlace], package: str) -> None:
        self.places = places
        self._package = package
        self._found: dict[str, click.Command] = {}

    def __getitem__(self, name: str) -> click.Command:
        if name not in self._found:
            place = self.places[name]
            self._found[name] = getattr(import_module(f".{place.module}", self._package), place.name)
        return self._found[name]

    def __setitem__(self, name: str, found: click.Command) -> None:
        self._found[name] = found

    def __delitem__(self, name: str) -> None:
        del self._found[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.places)

    def __len__(self) -> int:
        return len(self.places)


class LazyGroup(CommandGroup):
    """A group of :class:`DeclaredCommands` commands: its help, and the completion of their names, import none of them."""

    def __init__(self, name: str | None = None, *, declared: DeclaredCommands, **attributes: Any) -> None:
        super().__init__(name, commands=declared, **attributes)
        self.declared = declared

    def make_context(self, *arguments: Any, **attributes: Any) -> click.Context:
        """Read the command line; helps are printed here."""
        with _told_apart():
            return super().make_context(*arguments, **attributes)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        with _told_apart():
            return super().invoke(ctx)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names in the order of the table."""
        return list(self.declared)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the names, each with its short help."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, place.short_help) for name, place in self.declared.places.items()])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """The commands and options that begin so."""
        begun = ((name, place) for name, place in self.declared.places.items() if name.startswith(incomplete))
        found = [CompletionItem(name, help=place.short_help) for name, place in begun]
        return found + click.Command.shell_complete(self, ctx, incomplete)
