"""Why a pod goes where it goes: explanations as values, of which the command line makes tables and JSON."""

from .explain import explain, explain_in
from .values import Explanation, NodeReport, NodeScore, NodeShortage, PodQuestion

__all__ = ["Explanation", "NodeReport", "NodeScore", "NodeShortage", "PodQuestion", "explain", "explain_in"]
