"""The engine that computes for networkx: one in memory for the process."""

import ctypes
import os
import threading

from bonnetdb._bonnetdb import Session
from bonnetdb.columns import array


class Own:
    """The session of the process, opened when it is first needed."""

    def __init__(self):
        self.lock = threading.Lock()
        self.session = None

    def get(self):
        with self.lock:
            if self.session is None:
                self.session = Session()
            return self.session

    def forget(self):
        """Leaves the engine to the process above: a fork has its locks, but none of its threads to wait for at its end."""
        if self.session is not None:
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(self.session))
        self.__init__()


OWN = Own()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=OWN.forget)


def run(query, tables):
    """The rows of a query over these tables, kept."""
    return OWN.get().run(query, [tables], True)


__all__ = ["array", "run"]
