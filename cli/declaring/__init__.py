"""Declarations of commands: groups, options, their types and names. Heavy modules are imported only when a
command runs."""
