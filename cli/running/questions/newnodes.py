"""What ``kubeclassic capacity --add-node`` does."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO

import attrs

from ....api.load import Loaded, load
from ....api.reading.notices import Notice, input_warnings
from ....api.record import plain
from ....exceptions import ManifestError
from ....simulation.capacity.question import CapacityQuestion
from ....simulation.newnodes.answer import NewNodesAnswer
from ....simulation.newnodes.fewest import fewest_nodes
from ....simulation.newnodes.kinds import LIKE, read_costs
from ...console.output import writing
from ...console.progress import counting
from ...declaring.options import ClusterChoice
from ...declaring.reportoption import HTML
from ...engines.setup import Setup
from ...report.listing import write_csv
from ...report.questions.newnodes import write_text
from ...report.questions.newnodespage import new_nodes_html
from ...report.tables import width_of
from ..cluster import Opened
from ..documents import DOCUMENT_FORMS, write_answer
from ..notices import tell_notices, write_unread
from ..reporting import about, write_page, write_report


@attrs.frozen(kw_only=True)
class NewNodes:
    """Which kinds of nodes may be added, and how the answer is wanted."""

    given: tuple[str, ...]
    costs: tuple[str, ...] = ()
    most_nodes: int | None = None
    most_trials: int | None = None
    form: str = "table"
    output: str | None = None
    report: str | None = None
    headers: bool = True
    wide: bool = False


def add_nodes(paths: Sequence[Path], opened: Opened, question: CapacityQuestion, wanted: NewNodes, cluster: ClusterChoice) -> int:
    """Search, and write the answer; the exit status. *paths*: all that was read, but for new nodes."""
    scenario, given = opened.scenario, list(_given(wanted.given, cluster, opened.setup))
    with counting(None, "looking for the fewest nodes", "simulations") as progress:
        answer = fewest_nodes(
            question, scenario, opened.setup.spec, given, read_costs(wanted.costs), most_nodes=wanted.most_nodes,
            most_trials=wanted.most_trials, on_progress=lambda done: progress(done, ""),
        )  # fmt: skip

    def page() -> str:
        files = (Path(text) for text in wanted.given if not text.startswith(LIKE))
        return new_nodes_html(answer, about(scenario, [*paths, *files], releases=[answer.release], rules=opened.setup.in_words()))

    with writing(wanted.output) as stream:
        _write(answer, wanted, stream, page, scenario.warnings)
    write_report(wanted.report, page)
    return 0 if answer.is_yes else 1


def _given(given: tuple[str, ...], cluster: ClusterChoice, setup: Setup) -> Iterator[str | tuple[str, Loaded]]:
    for text in given:
        if text.startswith(LIKE):
            yield text
            continue
        if not text or "\0" in text or not (text == "-" or Path(text).exists()):
            raise ManifestError(f'add-node: got "{text}", which is no file, wanted a file with one Node, or like:NODE')
        keeps = setup.may_call_extenders
        loaded = load(text, defaults=not cluster.no_defaults, strict_fields=cluster.strict, keeps_manifests=keeps)
        tell_notices(loaded.warnings)
        yield text, loaded


def _write(answer: NewNodesAnswer, wanted: NewNodes, stream: IO[str], page: Callable[[], str], warnings: Sequence[Notice]) -> None:
    if wanted.form == HTML:
        write_page(page(), stream)
    elif wanted.form in DOCUMENT_FORMS:
        write_answer(wanted.form, answer.document(input_warnings(warnings)), stream)
    elif wanted.form == "csv":
        write_csv(plain(answer.added()), stream, headers=wanted.headers)
    else:
        write_text(answer, stream, wide=wanted.wide or wanted.form == "wide", headers=wanted.headers)
        write_unread(warnings, stream, width_of(stream))
