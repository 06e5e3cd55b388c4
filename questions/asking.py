"""Questions as Python functions, which take a cluster, and options by name or as one value; and the base of
their results."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import wraps
from inspect import Parameter, Signature
from typing import Any, ParamSpec, Protocol, TypeVar

import attrs

from ..api.garbage import settled
from ..api.meaning import NEWEST_SERVER, ServerRules
from ..api.objects import DEFAULT_SCHEDULER
from ..api.reading import InputWarning, NoticeGroup
from ..api.record import Record, plain
from ..api.view import NextStep, View
from ..api.words import count_of
from ..exceptions import did_you_mean
from ..framework.options import WrongOptionError, declared_of
from ..simulation.input import (
    SILENT,
    GivenCluster,
    Input,
    Observer,
    at_hand,
    release_asked,
    scenario_of,
    spec_of,
)
from ..simulation.reasons import phrase
from ..simulation.simulate import Scenario
from .options import AskedOptions, ClusterOptions

__all__ = ["SILENT", "GivenCluster", "Input", "Observer", "asked_by", "tell_left_out"]

P = ParamSpec("P")
O_contra = TypeVar("O_contra", contravariant=True, bound=AskedOptions)
O = TypeVar("O", bound=AskedOptions)  # noqa: E741
R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)


class AskedQuestion(Protocol[P, O_contra, R_co]):
    """A question as a Python function; *ask* answers an input that is already read."""

    def __call__(self, cluster: GivenCluster, /, *options: P.args, **named: P.kwargs) -> R_co: ...

    def ask(self, inputs: Any, options: O_contra, observer: Observer) -> R_co:
        """The answer to *options* about *inputs*."""


def scenario_for(
    cluster: GivenCluster,
    options: ClusterOptions,
    names: Collection[str] = (DEFAULT_SCHEDULER,),
    server: ServerRules = NEWEST_SERVER,
) -> Scenario:
    """The scenario of *cluster* by *options*, for the schedulers *names*; see
    :func:`~kubeclassic.simulation.input.scenario_of`."""
    return scenario_of(
        cluster,
        options.waiting(),
        scheduler_names=names,
        defaults=options.defaults,
        edits=options.edits,
        server=server,
    )


def cluster_input(cluster: GivenCluster, options: ClusterOptions) -> Input:
    """The input read from *cluster* by *options*, with a new scheduler. Raises
    :class:`~kubeclassic.exceptions.KubeclassicError`."""
    chosen = getattr(options, "scheduler", None)
    spec = spec_of(chosen, cluster, **options.changes())
    scenario = scenario_for(cluster, options, spec.scheduler_names, spec.server)
    inputs = Input(scenario=scenario, spec=spec, order=options.order, defaults=options.defaults)
    return inputs.noted(release_asked(chosen))


def tell_left_out(inputs: Input, options: ClusterOptions, observer: Observer) -> None:
    """Remark that pending pods are left out, unless *options* place them first."""
    waiting = len(inputs.scenario.pending)
    if waiting and not options.has("pending_first"):
        flag = options.called("pending_first")
        observer.remark(
            f"{count_of(waiting, 'pending pod is', 'pending pods are')} left out: {flag} places them first"
        )


def asked_by(
    options: Callable[P, O],
    first: str = "cluster",
    *positional: str,
    opens: Callable[[Any, Any], Any] = cluster_input,
    **always: Any,
) -> Callable[[Callable[[Any, O, Observer], R]], AskedQuestion[P, O, R]]:
    """Make a Python question from the function that answers it. Its argument *first*, which *opens* reads, is
    the subject; then come the *options*.

    *positional*: options that need no name; *always*: values that the function itself sets.
    """
    kind: Any = options
    declared = {
        name: field
        for name, field in kind.declared().items()
        if declared_of(field).python is not None and name not in always
    }
    names = [*positional, *(name for name in declared if name not in positional)]

    def asked_with(ask: Callable[[Any, O, Observer], R]) -> Any:
        @wraps(ask)
        def asked(*given: Any, **named: Any) -> R:
            values = tuple(map(at_hand, given))
            named = {name: at_hand(value) for name, value in named.items()}
            for name in named:
                if name not in signature.parameters:
                    raise WrongOptionError(
                        f'{ask.__name__}: got an option "{name}", which it does not have{did_you_mean(name, names)}'
                    )
            if len(values) == 2 and isinstance(values[1], kind):
                return answered(values[0], attrs.evolve(values[1], **named))
            try:
                bound = signature.bind(*values, **named).arguments
            except TypeError as error:
                raise WrongOptionError(f"{ask.__name__}: {error}") from None
            return answered(bound.pop(first), kind(**bound, **always))

        def answered(value: Any, chosen: O) -> R:
            opened = opens(value, chosen)
            with settled():
                return ask(opened, chosen, SILENT)

        parameters = [
            Parameter(
                name,
                Parameter.POSITIONAL_OR_KEYWORD if name in positional else Parameter.KEYWORD_ONLY,
                default=Parameter.empty
                if (field := declared[name]).default is attrs.NOTHING
                else field.default,
                annotation=field.type,
            )
            for name in names
        ]
        head = Parameter(
            first,
            Parameter.POSITIONAL_OR_KEYWORD,
            annotation="GivenCluster" if opens is cluster_input else Parameter.empty,
        )
        signature = Signature([head, *parameters], return_annotation=ask.__annotations__["return"])
        # A line for each option before the examples.
        about, shown, examples = (ask.__doc__ or "").partition("    >>> ")
        text = f"{about.rstrip()}\n\n"
        flags = {flag: name for name, field in kind.declared().items() for flag in declared_of(field).flags}
        for name in names:
            option = declared_of(kind.declared()[name])
            help_text = re.sub(r"\s+\[default: [^]]*\]", "", option.python or option.help)
            help_text = re.sub(
                r"--?[a-z][a-z-]*",
                lambda match: f"*{flags[match[0]]}*" if match[0] in flags else match[0],
                help_text,
            )
            help_text = help_text[:1].lower() + help_text[1:] if help_text[1:2].islower() else help_text
            text += f"    :param {name}: {'False: ' * (option.takes == 'no-flag')}{help_text}\n"
        asked.__doc__ = f"{text}\n    Raises :class:`~kubeclassic.exceptions.KubeclassicError` for bad input.\n\n{shown}{examples}"
        vars(asked).update(__signature__=signature, ask=ask)
        return asked

    return asked_with


# --- results ------------------------------------------------------------------------------------------------


Row = dict[str, Any]

NOTHING_TRIED = "No pod is pending, so nothing was tried"


def phrase_among(reason: str, pods: int, reasons: Collection[str]) -> str:
    """The words for *reason*; its own where those of another of *reasons* are the same, as of two resources
    whose names end alike."""
    alike = [other for other in reasons if phrase(other, 1) == phrase(reason, 1)]
    return phrase(reason, pods) if len(alike) < 2 else reason


def for_reasons(counts: Mapping[str, int]) -> str:
    """The reasons why pods find no node, in words, from reason -> pods: the three most frequent ones, and how
    many pods have others."""
    ordered = sorted(counts.items(), key=lambda pair: -pair[1])
    parts = [f"{pods:,} for {phrase_among(reason, pods, counts)}" for reason, pods in ordered[:3]]
    if len(ordered) == 1:
        return f"{'all ' if ordered[0][1] > 1 else ''}because of {phrase(*ordered[0])}"
    rest = sum(pods for _, pods in ordered[3:])
    return ", ".join([*parts, *([f"{rest:,} for other reasons"] if rest else [])])


def help_for(pod: str) -> NextStep:
    """The next step that asks what would help *pod*."""
    return NextStep(f"What would help {pod}:", ("explain", pod, "--what-if"))


@attrs.frozen(eq=False, repr=False, kw_only=True, slots=False)
class Result(ABC):
    """The base of all results. They can be pickled and copied, and depend on no file and no scheduler."""

    warnings: tuple[NoticeGroup, ...] = ()
    """The oddities of the input, and its parts that do not count. As text each is a sentence;
    :attr:`~NoticeGroup.pods` has the pods."""

    @property
    @abstractmethod
    def ok(self) -> bool:
        """Whether the answer is yes: then the command exits with 0, else with 1."""

    @property
    @abstractmethod
    def document(self) -> Record | dict[str, Any]:
        """The whole answer as a typed record; manifests stay as they are."""

    def view(self) -> View:
        """The view of the answer: verdict, facts, tables, and a map and lines if there are any."""
        return attrs.evolve(self._view(), title=type(self).__name__)

    @abstractmethod
    def _view(self) -> View:
        """The view without its title, which is the name of the result's type."""

    def origin(self) -> dict[str, Any]:
        """The origin that a page shows besides the input, or in its place: releases, rules, warnings, and
        unread parts."""
        return {}

    def asides(self, form: str) -> Iterable[str] | None:
        """The lines for standard error after the answer in *form*; None: the answer itself ends with the
        parts that do not count."""
        return None

    def record(self) -> dict[str, Any]:
        """The answer as plain data, as the command prints it with ``-o json``."""
        data: dict[str, Any] = plain(self.document)
        return data

    def to_frame(self, table: str | None = None, library: str | None = None) -> Any:
        """A table as a DataFrame: by default the first of :meth:`view`. *library*: ``pandas`` or ``polars``,
        as is installed.

        Each list of objects in :meth:`record` is a table too, with every field as a column: fields inside
        fields are ``requests.cpu``.

        Raises :class:`~kubeclassic.exceptions.KubeclassicError` if there is no such table, or no library.
        """
        return self.view().frame(table, library, self.record())

    def told_warnings(self) -> tuple[InputWarning, ...]:
        """The warnings as the document has them."""
        return tuple(group.record() for group in self.warnings)

    def __repr__(self) -> str:
        facts = ", ".join(f"{name} {value}" for name, value in self.view().facts.items() if value is not None)
        return f"<{type(self).__name__}: {facts}>"

    def _repr_html_(self) -> str:
        return self.view().html()
