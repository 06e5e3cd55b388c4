"""The steps of a cycle of the framework, with their results: PreFilter, Filter, PostFilter, Score and
binding."""
