"""The list of mutants is true: each fault can be put in, and its tests are there."""

import pytest

from tests.support.house import ROOT, text
from tests.support.mutants import MUTANTS


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.says)
def test_it_can_be_put_in(mutant):
    """The text stands once in its file, becomes another one, and the tests that have to find that exist."""
    assert text(mutant.file).count(mutant.text) == 1
    assert mutant.fault != mutant.text
    assert [
        one for one in mutant.tests.split() if not (ROOT / "tests" / one.partition("::")[0]).exists()
    ] == []
