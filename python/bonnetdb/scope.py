"""The variables around a call: what a statement may read as tables."""

import sys

PACKAGE = __name__.rsplit(".", 1)[0]


def variables(connection):
    """The caller's variables and those of its module: of the first frame that is not of this package. None where the
    connection does not read variables."""
    if not connection.replacement_scans:
        return []
    frame = sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__", "").split(".")[0] == PACKAGE:
        frame = frame.f_back
    if frame is None:
        return []
    own, module = frame.f_locals, frame.f_globals
    # From Python 3.13 on, f_locals of a function is no dict.
    return [module] if own is module else [dict(own), module]
