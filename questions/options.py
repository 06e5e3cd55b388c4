"""Options of all questions: reading a cluster, checks of what goes together, and questions made of them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import attrs

from ..choices import NEWEST_RELEASE, ORDERS
from ..exceptions import KubeclassicError, UnknownNameError, check_type
from ..framework.options import declared_of
from ..framework.options import option as option

if TYPE_CHECKING:
    from ..api.meaning.labels import Matcher
    from ..simulation.input import GivenCluster


class OptionsError(KubeclassicError):
    """Options that do not go together."""


def texts(name: str, expected: str) -> Callable[[Any], tuple[str, ...]]:
    """A converter of the option *name*, which is one text or several."""

    def converted(value: Any) -> tuple[str, ...]:
        values = (value,) if isinstance(value, str) or not isinstance(value, Iterable) else tuple(value)
        for text in values:
            check_type(name, text, str, expected)
        return values

    return converted


def given_scheduler() -> Any:
    """The field of the scheduler: options or a release in Python, separate flags on the command line."""
    return option(
        None,
        takes="scheduler",
        help=f'Its options, such as ``Classic(policy="policy.json")``, or a release such as "{NEWEST_RELEASE}".',
    )


def of_cron_jobs(python: str | None = None) -> Any:
    """The field for the pods of CronJobs."""
    return option(
        False, "Add the pods of one Job for each CronJob that has no Job and is not suspended.", python=python
    )


def with_defaults() -> Any:
    """The field for the API server's defaults."""
    return option(True, "Do not apply the API server's defaults.")


def if_strict() -> Any:
    """The field for warnings that become errors."""
    text = "Make warnings about unknown fields, duplicate keys, wrong values and unsupported objects errors."
    return option(False, text, python=None)


@attrs.frozen(kw_only=True, repr=False, slots=False)
class AskedOptions:
    """The options of a question; *NEEDS* and *EXCLUDES* have pairs of their names, perhaps with a reason."""

    NEEDS: ClassVar[Sequence[tuple[str, ...]]] = ()
    EXCLUDES: ClassVar[Sequence[tuple[str, ...]]] = ()

    forms: Collection[str] = ("data",)
    """The forms in which the answer is shown; data for other forms is not kept."""
    called: Callable[[str], str] = attrs.field(default=str, eq=False)
    """The name of an option in messages."""
    server: str = ""
    """The version of the API server that the cluster was read from, for nodes that state none."""

    def __attrs_post_init__(self) -> None:
        for name, other, *reason in self.NEEDS:
            if self.has(name) and not self.has(other):
                raise OptionsError(": ".join([f"{self.called(name)} needs {self.called(other)}", *reason]))
        for name, other, *reason in self.EXCLUDES:
            if self.has(name) and self.has(other):
                raise OptionsError(
                    ": ".join([f"{self.called(name)} cannot be combined with {self.called(other)}", *reason])
                )

    def read(self) -> list[Path]:
        """The files that a command reads besides the input."""
        names = (name for name, field in self.declared().items() if declared_of(field).takes == "files")
        return [path for name in names for path in getattr(self, name) if not str(path).startswith("like:")]

    @classmethod
    def declared(cls) -> Mapping[str, attrs.Attribute[Any]]:
        """Name -> field, for the fields that are options."""
        return {field.name: field for field in attrs.fields(cls) if "declared" in field.metadata}

    @classmethod
    def flag_of(cls, name: str) -> str:
        """The option as the command line calls it."""
        return declared_of(cls.declared()[name]).flags[0]

    def has(self, name: str) -> bool:
        """Whether the option was given."""
        default = attrs.fields_dict(type(self))[name].default
        return getattr(self, name) not in (None, default, (), [])

    def matcher(self, name: str) -> Matcher:
        """The label selector in the option *name*, as a test of labels. Raises
        :class:`~kubeclassic.exceptions.UnknownNameError`."""
        from ..api.meaning.labels import SelectorError, parse_selector

        try:
            return parse_selector(getattr(self, name) or "")
        except SelectorError as error:
            raise UnknownNameError(f"{self.called(name)}: {error}") from None

    def makes(self, *forms: str) -> bool:
        """Whether the answer is shown in one of *forms*."""
        return not set(forms).isdisjoint(self.forms)


@attrs.frozen(kw_only=True, repr=False, slots=False)
class MorePods:
    """The option for pods besides those of the cluster."""

    pods: GivenCluster = option(
        (),
        "More pending pods, or workloads.",
        common=True,
        takes="files",
        python="More pending pods, or workloads, given like the cluster.",
    )


@attrs.frozen(kw_only=True, repr=False, slots=False)
class ClusterOptions(AskedOptions):
    """Options of reading a cluster."""

    order: str = option(
        "priority",
        "The order of pods: highest priority first, as in the input, or that of the release's queue.",
        choices=ORDERS,
    )
    cron_jobs: bool = of_cron_jobs()
    edits: Sequence[str] = option(
        (),
        "Change objects before anything runs: 'pod web/* requests.cpu=500m', 'node pool=a taints-=x'. Can be repeated.",
        flags=("--set",),
        common=True,
        metavar="EDIT",
        converter=texts("edits", 'a text such as "pod web/* requests.cpu=500m"'),
    )
    defaults: bool = with_defaults()
    strict: bool = if_strict()

    def waiting(self) -> GivenCluster:
        """The pending pods that are given besides those of the cluster."""
        return self.pods if isinstance(self, MorePods) else ()

    def changes(self) -> Mapping[str, Any]:
        """The scheduler's options that the question itself changes."""
        return {}


@attrs.frozen(kw_only=True)
class Question:
    """A question: its options, the function that answers it, and how a command prints the answer."""

    options: type[AskedOptions]
    ask: str
    """The function, as ``question:name``; it is in that question's ``ask.py``."""
    forms: str = "table,wide,json,yaml,csv,html"
    help_of_forms: str = "The format."
    """The help of ``-o``."""
    verbose: str | None = None
    """The help of ``--verbose``; None: there is none."""
    widens: bool = False
    """Whether ``--verbose`` also means ``-o wide``."""
    what: str = "the answer"
    headers: bool = True
    page: bool = True
    cases: bool = False
    """Whether the paths are of cases, not of a cluster."""
    reads: Sequence[str] = ()
    """Kinds that a live cluster must let us list, whatever others it has."""
    besides: str | None = None
    """The option that takes the arguments that are not paths."""
    prints: bool = False
    """Whether the command prints the answer in its own way."""
    own_first: bool = False
    """Whether the help has its own options before those of the cluster."""
    outputs: Collection[str] = ()
    """Its options in the help's section about the answer."""
    argument: str | None = None
    """The argument for the file that the question is about, if that is not a cluster."""
    jobs: tuple[int | None, str] | None = None
    """The default number of processes, and that number in words; None: the current process alone."""
    ignored: str = ""
    """Flags of kubectl that mean nothing here; one that takes a value has ``=`` at its end."""

    def function(self) -> Callable[..., Any]:
        """The function that answers it."""
        module, _, name = self.ask.partition(":")
        function: Callable[..., Any] = getattr(import_module(f"..{module}.ask", __name__), name)
        return function
