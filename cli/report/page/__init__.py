"""Pages: any view as one HTML file that needs no other.

``document`` prints a view by the templates in ``assets``: ``page.html``, and ``parts.html`` with a macro for
each kind of part. ``notebook`` prints the same parts without scripts. ``about``: of what a page speaks;
``clustermap``: what the templates need besides, such as the data of scripts and the shapes of
pictures.

A part says with ``data-part`` which script of ``assets`` it needs, and the page takes in just those.
"""
