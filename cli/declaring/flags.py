"""The options for the scheduler, the cluster and the answer, declared once for all commands."""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import attrs
import click

from ...choices import LEAVE_OUT, TIE_BREAKS
from ...exceptions import KubeclassicError, QuantityError
from ...framework.options import FIELDS, MAY_BE_EMPTY, declared_of
from ...live.process.logs import FORMS, TEXT_LINES
from ...live.settings.flagtable import BOOL, FLAGS, REFUSED
from ...questions.options import ClusterOptions, MorePods
from ..console.output import STANDARD, note, warn
from ..console.progress import telling
from .commands import INPUT, OUTPUT, SECTIONS, CommonOption
from .commands import SCHEDULER as SCHEDULER_SECTION

if TYPE_CHECKING:
    from ...live.snapshot import ClusterSnapshot
    from .setup import Setup

    NumberType = click.ParamType[int]
    TextType = click.ParamType[str]
else:  # click before 8.2 does not know these types as generic
    NumberType = click.ParamType
    TextType = click.ParamType


class FileName(click.Path):
    """A file's name, which has at least one character, and no NUL; ``-`` is none, unless *allow_dash*."""

    def __init__(self, *, allow_dash: bool = True) -> None:
        super().__init__(path_type=Path, allow_dash=allow_dash)
        self.name = "file"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """*value* as a path; ``-`` stands for a standard stream."""
        text = os.fspath(value)
        if not text or "\0" in text or (text == STANDARD and not self.allow_dash):
            self.fail(f"expected the name of a file, got {text!r}", param, ctx)
        return super().convert(value, param, ctx)


class Name(TextType):
    """A text of at least one character."""

    name = "text"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """*value* as it is."""
        if not value:
            self.fail(f"expected {getattr(param, 'metavar', None)}, got {value!r}", param, ctx)
        return str(value)


class WholeNumber(NumberType):
    """A whole number in plain digits: no other alphabet's digits and no underscores, which Python would read
    too."""

    name = "integer"

    def __init__(self, minimum: int | None = None, maximum: int | None = None) -> None:
        self.minimum = minimum
        self.maximum = maximum

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """*value* as a number."""
        if isinstance(value, int):
            return value
        number = plain_number(value)
        if number is None:
            self.fail(f"expected a whole number, got {value!r}", param, ctx)
        if (self.minimum is not None and number < self.minimum) or (
            self.maximum is not None and number > self.maximum
        ):
            bounds = f"{self.minimum} to {self.maximum}"
            if self.maximum is None:
                bounds = f"{self.minimum} or more"
            self.fail(f"expected {bounds}, got {value}", param, ctx)
        return number


def plain_number(text: str) -> int | None:
    """The whole number that *text* writes in ASCII digits, perhaps with a sign; None if it does not, or has
    more than 30 digits.

    >>> plain_number("50"), plain_number("\\u0665"), plain_number("5_0")
    (50, None, None)
    """
    digits = text[1:] if text[:1] in ("-", "+") else text
    return int(text) if digits.isascii() and digits.isdecimal() and len(digits) <= 30 else None


def ratio(text: str) -> tuple[int, ...]:
    """Whole numbers of 1 or more with colons between them, such as ``3:1``."""
    numbers = [
        number for part in text.split(":") if (number := plain_number(part)) is not None and number > 0
    ]
    if len(numbers) <= text.count(":"):
        raise click.BadParameter(
            f"expected whole numbers of 1 or more with colons between them, such as 3:1, got {text!r}"
        )
    return tuple(numbers)


def seconds(value: Any) -> float:
    """A duration as seconds."""
    from ...questions.replay.times import DURATION, parse_duration

    text = str(value)
    duration = parse_duration(value) if text.isascii() and "_" not in text else None
    if duration is None:
        raise click.BadParameter(f'expected {DURATION}, got "{value}"')
    return duration


FILE = FileName()
WHOLE = WholeNumber()


# --- configurations in words --------------------------------------------------------------------------------


class ConfigurationText(TextType):
    """A configuration such as ``release=1.16 policy=p.json``; see :mod:`.setup`."""

    name = "text"
    FILES = ("policy", "profile", "config")

    def files(self, value: str | None) -> Iterable[str]:
        """The files that it names, which are read."""
        words = self._words(value)
        files = [file for key, file in words if key in self.FILES and file]
        files += RulesText().files([place for key, place in words if key == "rules"])
        return files + [
            file for key, how in words if key == "extenders" for file in file_after("replay", how)
        ]

    def recorded(self, value: str | None) -> list[str]:
        """The file that answers of extenders are written to, if any."""
        words = self._words(value)
        return [file for key, how in words if key == "extenders" for file in file_after("record", how)]

    @staticmethod
    def _words(value: str | None) -> list[tuple[str, str]]:
        import shlex

        try:
            words = [word.partition("=") for word in shlex.split(value or "")]
        except ValueError:
            return []  # it is refused where it is read
        return [(key, file) for key, _, file in words]


CONFIGURATION = ConfigurationText()


class RulesText(TextType):
    """A place of rules, ``FILE.py:NAME``."""

    name = "text"

    def files(self, values: Iterable[str]) -> list[str]:
        """The files of places, which are read."""
        return [file for file in (value.rpartition(":")[0] for value in values) if file]


def file_after(word: str, how: str | None) -> list[str]:
    """The file of ``record FILE`` or ``replay FILE``, if ``--extenders`` begins with that *word*."""
    first, _, file = (how or "").partition(" ")
    return [file.strip()] if first == word else []


class ExtendersOption(click.Option):
    """``off``, ``record FILE`` or ``replay FILE``: the file may be a word of its own."""

    recorded = staticmethod(partial(file_after, "record"))
    files = staticmethod(partial(file_after, "replay"))

    def add_to_parser(self, parser: Any, ctx: click.Context) -> None:
        """Let the option take a second word where it needs one."""
        super().add_to_parser(parser, ctx)
        for name in self.opts:
            option = parser._long_opt[name]
            option.process = partial(self._process, option.process)

    def _process(self, process: Callable[[str, Any], None], value: str, state: Any) -> None:
        if value in ("record", "replay"):
            if not state.rargs:
                raise click.BadOptionUsage(
                    self.opts[0], f"{self.opts[0]}: expected {value} FILE, got {value}"
                )
            value = f"{value} {state.rargs.pop(0)}"
        process(value, state)


def in_bytes(context: click.Context, parameter: click.Parameter, value: str | None) -> int | None:
    """A number of bytes that is given as a quantity, such as 64Mi."""
    if value is None:
        return None
    from ...api.objects.quantity import Quantity

    try:
        nanos = Quantity.parse(value).nanos
    except QuantityError as error:
        raise click.BadParameter(str(error)) from None
    size = -(-nanos // 1_000_000_000)  # exact: the value of a quantity may overflow
    if not 0 <= size < 1 << 63:
        raise click.BadParameter(f"expected 0 to {(1 << 63) - 1} bytes, got {value}")
    return size


F = TypeVar("F", bound=Callable[..., Any])
Decorator = Callable[[Any], Any]
"""A decorator that gives a command one option, or several."""


@attrs.frozen(kw_only=True, repr=False)
class ClusterChoice(ClusterOptions, MorePods):
    """The files of a cluster, and options of reading them."""


def environments_max_pd_vols() -> int | None:
    """The number in KUBE_MAX_PD_VOLS, with a warning if it does not count."""
    from ...algorithmprovider.config import ignored_limit, max_pd_vols

    if (ignored := ignored_limit(os.environ)) is not None:
        warn(ignored)
    return max_pd_vols(os.environ)


TYPES: Mapping[str, dict[str, Any]] = {
    "text": {},
    "list": {},
    "switch": {},
    "file": {"type": FILE},
    "files": {"type": FILE, "multiple": True},
    "written": {"type": FileName(allow_dash=False), "metavar": "FILE"},
    "whole": {"type": WHOLE},
    "positive": {"type": WholeNumber(1, 2**63 - 1)},
    "bytes": {"callback": in_bytes},
    "choice": {"type": click.Choice(list(TIE_BREAKS))},
    "plugins": {"type": click.Choice([LEAVE_OUT])},
    "flag": {"is_flag": True},
    "no-flag": {"is_flag": True, "callback": lambda context, parameter, value: not value},
    "places": {"multiple": True, "type": RulesText()},
    "texts": {"multiple": True},
    "seconds": {"type": seconds},
    "ratio": {"type": ratio},
    "configuration": {"type": CONFIGURATION},
    "extenders": {"cls": ExtendersOption},
}
"""Kind of a flag's value -> how click reads it."""


def click_option(field: attrs.Attribute[Any], **more: Any) -> Decorator:
    """The option that *field* declares, for a command line; one of a scheduler has its name for itself."""
    declared = declared_of(field)
    name = f"own_{field.name}" if field.name in FIELDS and FIELDS[field.name] is not field else field.name
    if declared.takes == "argument":
        return click.argument(name)
    metavar = declared.metavar or ("N" if declared.takes == "whole" else None)
    attributes = {"help": declared.help, "metavar": metavar, **TYPES[declared.takes]}
    if declared.takes == "text" and metavar not in MAY_BE_EMPTY:
        attributes["type"] = Name()
    if declared.takes == "switch":
        attributes |= {"default": field.default, "show_default": True}
    if declared.choices:
        attributes["type"] = click.Choice(list(declared.choices))
    elif declared.least is not None:
        attributes["type"] = WholeNumber(declared.least, declared.most)
    if type(field.default) in (str, int, float) and declared.takes != "bytes":
        attributes |= {"default": field.default, "show_default": declared.shows}
    if declared.common:
        attributes["cls"] = CommonOption
    flags = {"required": declared.required, "hidden": declared.hidden}
    return click.option(*declared.flags, name, **{**attributes, **flags, **more})


SCHEDULER = [
    click_option(
        field,
        **(
            {
                "callback": lambda context, parameter, value: (
                    environments_max_pd_vols() if value is None and not context.resilient_parsing else value
                )
            }
            if name == "max_pd_vols"
            else {}
        ),
    )
    for name, field in FIELDS.items()
    if declared_of(field).flags
]


def options_from(table: str) -> list[Decorator]:
    """The options of *table*, a line each: names; what it takes and its default; ``common``; help.

    It takes nothing (``switch``), a ``file``, a whole number such as ``1..9`` or ``1..``, one of words
    (``text,json``), or a text, of which there is the metavar; ``NAME...`` may be given several times. An
    ``ignored`` one is a switch that means nothing.
    """
    decorators = []
    for line in filter(str.strip, table.splitlines()):
        names, takes, common, text = map(str.strip, line.split("|", 3))
        kind, _, default = takes.partition(" ")
        more = {"default": default, "show_default": "[default" not in text} if default else {}
        least, _, most = kind.partition("..")
        if kind == "switch":
            more["is_flag"] = True
        elif kind == "ignored":
            more |= {"is_flag": True, "hidden": True, "expose_value": False}
        elif kind == "file":
            more["type"] = FILE
        elif "," in kind:
            more["type"] = click.Choice(kind.split(","))
        elif least.isdecimal():
            more |= {"type": WholeNumber(int(least), int(most) if most else None), "metavar": "N"}
        else:
            more |= {"metavar": kind.removesuffix("..."), "multiple": kind.endswith("...")}
            more["type"] = seconds if kind == "SECONDS" else Name()
        cls = CommonOption if common else click.Option
        decorators.append(click.option(*names.split(), cls=cls, help=text, **more))
    return decorators


def options_of(table: str) -> Callable[[F], F]:
    """Give a command the options of *table*."""
    return with_options(options_from(table))


def with_options(options: Sequence[Decorator]) -> Callable[[F], F]:
    """Give a command *options*."""

    def given(function: F) -> F:
        for option in reversed(options):
            function = option(function)
        return function

    return given


def scheduler_options(command: F) -> F:
    """Give *command* the options that choose a scheduler; it gets them as one :class:`~.setup.Setup`, named
    *setup*."""
    return packed(command, SCHEDULER, SCHEDULER_SECTION, _setup, "setup")


def cluster_options(command: F) -> F:
    """Give *command* the options about the manifests; it gets them as one :class:`ClusterChoice`, named
    *cluster*."""
    return packed(
        command, list(map(click_option, ClusterChoice.declared().values())), INPUT, ClusterChoice, "cluster"
    )


def _setup(**values: Any) -> Setup:
    from .setup import Setup

    return Setup(values)


def packed(command: F, options: Sequence[Decorator], section: str, make: Callable[..., Any], name: str) -> F:
    """*command* with *options*; it gets the result of *make* from their values as *name*."""
    fields: list[str] = []

    @functools.wraps(command)
    def packing(**values: Any) -> Any:
        packed = make(**{field: values.pop(field) for field in fields})
        return command(**values, **{name: packed})

    for option in reversed(options):
        packing = option(packing)
        added = vars(packing)["__click_params__"][-1]  # where click keeps what a command will have
        fields += [added.name] if added.expose_value else []
        SECTIONS.update(dict.fromkeys(added.opts, section))
    return packing  # type: ignore[return-value]  # click looks at the wrapper only


# --- where a command's cluster comes from: PATHS, a live cluster that --kubeconfig names, or both -----------

CONTEXT_HELP = (
    "The context to use instead of the current one; without --kubeconfig, from the files in KUBECONFIG."
)
LIVE_OPTIONS = options_from(f"""
--kubeconfig | file | common | Read a live cluster through this kubeconfig, in addition to any PATHS.
--context | NAME | | {CONTEXT_HELP}
--allow-missing | KIND... | | With --kubeconfig or --context: if KIND cannot be listed, assume there is none. Can be repeated.
--all-namespaces -A | ignored | | Always on: all namespaces are read.
""")
SERVER_VERSION = "kubeclassic.server_version"
"""Key in click's context for the version of the API server, if the nodes of a live cluster say none."""
LIVE_PATH = "kubeclassic.live_path"
"""Key in click's context for the file that a live cluster is while the command runs."""
DEFAULT_ACCESS = "the files in KUBECONFIG, or the pod's service account"
"""The default access of commands that always read a live cluster."""


class LiveCluster(NamedTuple):
    """The API server that a command line names, and the kinds that an answer may do without."""

    kubeconfig: Path | None = None
    context: str | None = None
    allow_missing: tuple[str, ...] = ()
    """Kinds that may be missing, where they may not be listed."""
    in_environment: bool = False
    """Without file and context the files that KUBECONFIG names count."""

    @property
    def is_named(self) -> bool:
        """Whether there is a live cluster to read."""
        return self.kubeconfig is not None or self.context is not None or self.in_environment


def takes_cluster(*needs: str, is_needed: bool = False) -> Decorator:
    """A decorator that gives a command the options of :func:`with_kubeconfig`. A live cluster is the first of
    its *paths*, as a file that is there while the command runs. *needs*: kinds that it has to read, whatever
    else the cluster has. *is_needed*: without paths the cluster counts that KUBECONFIG names, and one of them
    is needed.
    """

    def taking(command: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(command)
        def reading(live: LiveCluster, **values: Any) -> Any:
            if is_needed and not live.is_named and not values["paths"]:
                last = values.get("pod")
                named = os.environ.get("KUBECONFIG", "")
                if isinstance(last, str) and Path(last).exists():
                    raise click.UsageError(f"Missing argument 'POD': got {last} alone, which is a path.")
                if not named and not live.allow_missing:
                    instead = "--kubeconfig FILE, or --context NAME, or the variable KUBECONFIG"
                    raise click.UsageError(f"Missing argument 'PATHS...', or {instead}.")
                if named:
                    note(f"KUBECONFIG: the cluster that {named} names")
                    live = live._replace(in_environment=True)
            with live_paths(live, needs) as cluster_paths:
                return command(paths=(*cluster_paths, *values.pop("paths")), **values)

        return with_kubeconfig(reading)

    return taking


def takes_paths(*needs: str) -> Decorator:
    """As :func:`takes_cluster`, with the argument PATHS; a live cluster is another way to say what they hold,
    and one of them is needed."""
    return lambda command: click.argument("paths", nargs=-1, type=FILE)(
        takes_cluster(*needs, is_needed=True)(command)
    )


def with_kubeconfig(command: F) -> F:
    """*command* with the options that name a live cluster; it gets them as one :class:`LiveCluster`, named
    *live*."""
    return packed(command, LIVE_OPTIONS, INPUT, LiveCluster, "live")


@contextmanager
def live_paths(live: LiveCluster, needs: Collection[str]) -> Iterator[tuple[Path, ...]]:
    """The paths that a live cluster is for the block: a file for this user alone, or none where none is
    named."""
    if not live.is_named:
        if live.allow_missing:
            raise click.UsageError("--allow-missing needs --kubeconfig or --context")
        yield ()
        return
    from tempfile import TemporaryDirectory

    snapshot = fetched(live, needs)
    meta = click.get_current_context().meta
    meta[SERVER_VERSION] = snapshot.server_version
    with TemporaryDirectory(prefix="kubeclassic-") as folder:
        path = meta[LIVE_PATH] = Path(folder, "cluster.json")
        with path.open("w", encoding="utf-8") as stream:  # the text of a large cluster is not held as a whole
            json.dump(snapshot.document(), stream)
        yield (path,)


def fetched(live: LiveCluster, needs: Collection[str]) -> ClusterSnapshot:
    """The snapshot of the cluster that :func:`~kubeclassic.live.client.kubeconfig.access_to` finds; a warning
    for each missing kind.

    Raises :class:`~kubeclassic.exceptions.KubeclassicError`.
    """
    import asyncio

    from ...live.client.kubeconfig import access_to
    from ...live.snapshot import check_kinds, snapshot_of

    check_kinds(live.allow_missing)
    access = access_to(live.kubeconfig, live.context)
    with telling("reading", access.server):
        snapshot = asyncio.run(snapshot_of(access, needs, live.allow_missing))
    for text in snapshot.notes:
        warn(text)
    return snapshot


# --- the answer: its form, where it goes, and a page of it besides ------------------------------------------

HTML = "html"
"""The form of ``-o`` that is the page itself."""


@attrs.frozen(kw_only=True, repr=False)
class Output:
    """The form and the place of an answer."""

    form: str = "table"
    file: str | None = attrs.field(default=None, alias="output")
    report: str | None = None
    no_headers: bool = False
    verbose: bool = False

    @property
    def forms(self) -> set[str]:
        """The forms in which the answer is shown."""
        return {self.form, *(["page"] if self.form == HTML or self.report is not None else [])}


def output_options(
    forms: str,
    help_of_forms: str,
    *,
    verbose: str | None,
    what: str,
    headers: bool = False,
    page: bool = False,
    default: str = "table",
) -> Callable[[F], F]:
    """Give a command the options about the answer; it gets them as one :class:`Output`, named *output*. The
    texts are for the help."""
    table = []
    options = []
    if forms:
        table.append(f"-o form | {forms} {default} | common | {help_of_forms}")
        if headers:
            table.append("--no-headers | switch | | Omit the headers of tables and CSV.")
        table.append(f"--output | FILE | | Write {what} to this file, whole or not at all; .gz: compressed.")
    else:
        options = [click.option("--output", cls=CommonOption, type=FILE, metavar="FILE", help=help_of_forms)]
    if page:
        table.append("--report | FILE | common | Also write a self-contained HTML page there.")
    if verbose is not None:
        table.append(f"--verbose -v | switch | | {verbose}")
    options += options_from("\n".join(table))
    return lambda command: packed(command, options, OUTPUT, Output, "output")


# --- Live commands: the API server, log lines, and flags that kube-scheduler has, too -----------------------


SECTIONS.update({f"--{name}": "Leader election options" for name in FLAGS if name.startswith("leader-elect")})


def access_options(
    text: str, of_context: str = "The context of the kubeconfig.  [default: its current context]"
) -> Callable[[F], F]:
    """The options that say which API server is meant; *text*: the help of ``--kubeconfig``."""
    return options_of(f"""
--kubeconfig | file | common | {text}
--context | NAME | | {of_context}
""")


LOG = (
    f"--logging-format log_form | {','.join(FORMS)} {TEXT_LINES} | | The form of log lines on standard error: \
text as kube-scheduler's, or JSON."
)
"""The form of log lines, for commands that have not kube-scheduler's flags."""


def kube_scheduler_flags(function: F) -> F:
    """Give *function* the flags of the table as options that keep the text that was typed; it gets them by
    their names."""

    def refused(context: click.Context, option: click.Parameter, value: str | None) -> None:
        if value is not None:
            name = str(option.name).replace("_", "-")
            raise KubeclassicError(
                f"--{name}: got a flag of kube-scheduler that kubeclassic does not have; {REFUSED[name]}"
            )

    def plain(context: click.Context, option: click.Parameter, value: str | None) -> str | None:
        return None if value is None else value.removeprefix("=")  # ``-v=4``, as Go's flags are written

    for name in REFUSED:
        function = click.option(
            f"--{name}", is_flag=False, flag_value="", hidden=True, expose_value=False, callback=refused
        )(function)
    for flag in reversed(tuple(FLAGS.values())):
        more = ("-v",) if flag.name == "v" else (f"--{flag.other_name}",) if flag.other_name else ()
        switch: dict[str, Any] = {"is_flag": False, "flag_value": "true"} if flag.kind == BOOL else {}
        function = click.option(
            f"--{flag.name}",
            *more,
            f"flag_{flag.name}".replace("-", "_"),
            metavar=flag.kind,
            help=flag.help,
            callback=plain,
            **switch,
        )(function)
    return function
