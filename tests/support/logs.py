"""Logs that tests read."""

import re

from kubeclassic.live.process.logs import Log

LINE = re.compile(
    r"(?P<severity>[IWE])\d{4} \d\d:\d\d:\d\d\.\d{6} [ \d]{7} (?P<file>[\w.]+):(?P<line>\d+)\] (?P<text>.*)"
)
"""A line in klog's form."""


def log_to(lines, wrong=None, level=0):
    """A log whose texts go to *lines*, those of warnings and errors to *wrong* if it is given."""

    def take(line):
        found = LINE.fullmatch(line)
        assert found is not None, line
        (lines if wrong is None or found["severity"] == "I" else wrong).append(found["text"])

    return Log(take, level)
