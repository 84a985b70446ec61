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

    def close(self):
        """Ends the engine before a fork: the places of its waiting threads would be followed in the process below, where these
        threads are not (Amanieu/parking_lot#515), and crash it. It is opened again when it is next needed."""
        with self.lock:
            self.session = None

    def forget(self):
        """Leaves an engine that was at work during the fork to the process above: there are none of its threads to wait for."""
        if self.session is not None:
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(self.session))
        self.__init__()


OWN = Own()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=OWN.close, after_in_child=OWN.forget)


def run(query, tables):
    """The rows of a query over these tables, kept."""
    return OWN.get().run(query, [tables], True)


__all__ = ["array", "run"]
