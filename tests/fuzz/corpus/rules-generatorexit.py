"""Rules that end with what is no Exception."""

raise GeneratorExit
