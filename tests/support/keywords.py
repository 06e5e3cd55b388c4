"""Keywords of a question and of its scheduler together, as tests have them."""

from kubeclassic.framework.options import FIELDS, options_of


def keywords_of(keywords, *own):
    """*keywords* for a question: those of a scheduler, except *own*, become one value of ``scheduler``."""
    options = {name: value for name, value in keywords.items() if name in FIELDS and name not in own}
    return {
        "scheduler": options_of(options),
        **{name: value for name, value in keywords.items() if name not in options},
    }
