"""Pages: any view as one HTML file that needs no other.

``document`` prints a view by the templates in ``assets``: ``page.html``, and ``parts.html`` with a macro for
each kind of part. It also has the origin of a page, and prints the parts without scripts for notebooks.
``clustermap`` has what the templates need besides, such as the data of scripts and the shapes of pictures.

A part says with ``data-part`` which script of ``assets`` it needs, and the page takes in just those.
"""
