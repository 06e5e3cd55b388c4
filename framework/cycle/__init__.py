"""The steps of a cycle of the framework: PreFilter, Filter, PostFilter, Score, binding, and what they
found."""
