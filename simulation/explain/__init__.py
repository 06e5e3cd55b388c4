"""Why a pod goes where it goes: explanations as values, of which the command line makes tables and JSON."""

from .explain import explain, explain_in
from .explanation import Explanation, PodQuestion
from .values import NodeReport, NodeScore, NodeShortage

__all__ = ["Explanation", "NodeReport", "NodeScore", "NodeShortage", "PodQuestion", "explain", "explain_in"]
