"""Lines of results, as Python's own JSON writes them."""

import json

from hypothesis import given
from hypothesis import strategies as st

from kubeclassic.questions.replay.recording import as_json_line

TEXTS = st.text(max_size=5) | st.text('\x00\x1f\x7f\u2028"\\/<\n', max_size=5)
VALUES = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), TEXTS, st.lists(TEXTS, max_size=2))


@given(record=st.dictionaries(TEXTS, VALUES, max_size=4))
def test_lines_are_what_the_standard_library_writes(record):
    """Whatever is in a record: compact, in UTF-8, and with floats and large numbers as Python writes them."""
    wanted = json.dumps(record, separators=(",", ":"), ensure_ascii=False)
    assert as_json_line(record) == f"{wanted}\n".encode()
