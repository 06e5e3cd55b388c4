"""The lab: one cluster on which configurations and small changes are tried, each answer as ``simulate`` would
give it. Without any web."""
