"""Text has the words and the order of pages."""

import pytest

from kubeclassic import explain
from kubeclassic.cli.report.tables import view_lines
from tests.conftest import CLUSTER

WIDTH = 80
MOST = 4


def titles(table):
    """The titles of the columns of *table*, bars left out."""
    return [column.title for column in table.columns if column.kind != "bar"]


@pytest.mark.parametrize("release", ["1.16", "1.27"])
def test_reasons(release):
    """The reasons of explain have the same columns in the same order; the page adds whether evictions
    help."""
    view = explain(CLUSTER, "analytics/yearly-report", release).view()
    shown, (page, *_) = (
        [one for one in view.tables_of(form) if one.name == "reasons"] for form in ("table", "page")
    )
    assert titles(shown[0]) == [title for title in titles(page) if title != "can evictions help"]


@pytest.mark.parametrize("release", ["1.16", "1.27"])
def test_no_message_is_long_at_80_columns(release):
    """In 80 columns the message takes four lines at most, and no line is longer; what it says of evictions is
    in wide text."""
    view = explain(CLUSTER, "analytics/yearly-report", release).view()
    lines = list(view_lines(view, "table", WIDTH))
    assert max(map(len, lines)) <= WIDTH
    message = (
        explain(CLUSTER, "analytics/yearly-report", release).record()["error"].partition(" preemption: ")[0]
    )
    (first,) = (at for at, line in enumerate(lines) if line and message.startswith(line))
    told = lines[first : lines.index("", first)]
    assert len(told) <= MOST
    assert " ".join(told) == message
    wide = " ".join(view_lines(view, "wide", None))
    assert explain(CLUSTER, "analytics/yearly-report", release).record()["error"] in wide
