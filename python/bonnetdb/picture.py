"""Pictures of the rows of a query."""

import json
import os
import pathlib
import tempfile

from bonnetdb._bonnetdb import DatabaseError, InterfaceError
from bonnetdb.literals import literal

VEGA_LITE = "application/vnd.vegalite.v6+json"
"""The media type by which notebooks know a specification of Vega-Lite."""


class Picture:
    """A picture of the rows of a relation: an SVG document, as `COPY ... TO 'picture.svg'` writes it. A notebook shows it as it is;
    one that draws Vega-Lite gets a specification as well, where there is one for the kind."""

    def __init__(self, connection, rows, options):
        self._source = connection, rows, options
        self.svg = drawn(connection, rows, "svg", options)

    @property
    def vega_lite(self):
        """The specification of Vega-Lite, a dict with the rows in it. Refused for graphs, surfaces and critical differences, and for
        more than 20,000 rows."""
        return json.loads(drawn(*self._source[:2], "vega-lite", self._source[2]))

    def save(self, path):
        """Writes the picture to a file: SVG, a page of HTML (`.html`) or a specification of Vega-Lite (`.json`). Answers the picture."""
        path = pathlib.Path(path)
        kinds = {".svg": "svg", ".html": "html", ".json": "vega-lite"}
        if path.suffix.lower() not in kinds:
            raise InterfaceError(f"{path.name}: a picture is written as .svg, .html or .json (Vega-Lite)")
        kind = kinds[path.suffix.lower()]
        text = self.svg if kind == "svg" else drawn(*self._source[:2], kind, self._source[2])
        path.write_text(text, encoding="utf-8")
        return self

    def _repr_svg_(self):
        return self.svg

    def _repr_mimebundle_(self, include=None, exclude=None):
        bundle = {"image/svg+xml": self.svg, "text/plain": repr(self)}
        wanted = (include is None or VEGA_LITE in include) and VEGA_LITE not in (exclude or ())
        try:
            if wanted:
                bundle[VEGA_LITE] = self.vega_lite
        except DatabaseError:
            # There is none for this kind, or for so many rows.
            pass
        return bundle

    def __repr__(self):
        return f"bonnetdb.Picture({len(self.svg)} bytes of SVG)"


def drawn(connection, rows, kind, options):
    """The text of a picture of these rows."""
    given = "".join(f", {name.upper()} {text_of(name, value)}" for name, value in options.items() if value is not None)
    with tempfile.TemporaryDirectory(prefix="bonnetdb-") as folder:
        path = os.path.join(folder, "picture")
        copy = f"COPY (SELECT * FROM bonnetdb_rows) TO {literal(path)} (FORMAT {literal(kind)}{given})"
        connection._open().run(copy, [{"bonnetdb_rows": rows}])
        return pathlib.Path(path).read_text(encoding="utf-8")


def text_of(name, value):
    """The value of an option as COPY takes it."""
    if not name.isidentifier():
        raise InterfaceError(f"{name!r} is no option of a picture")
    if name == "unpivot" and isinstance(value, (list, tuple)):
        value = ",".join(value)
    if not isinstance(value, (str, int)) or isinstance(value, bool):
        raise InterfaceError(f"the option {name} of a picture is a text or a whole number, not {value!r}")
    return literal(str(value))
