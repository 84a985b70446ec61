"""The engine that computes for networkx: one in memory for the process."""

import os
import threading

from bonnetdb._bonnetdb import Session
from bonnetdb.columns import array

LOCK = threading.Lock()
SESSIONS = []


def session():
    """The session of the process, opened when it is first needed."""
    with LOCK:
        if not SESSIONS:
            SESSIONS.append(Session())
        return SESSIONS[0]


def run(query, tables):
    """The rows of a query over these tables, kept."""
    return session().run(query, [tables], True)


# A process that is forked has none of the engine's threads: it opens an engine of its own.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=SESSIONS.clear)

__all__ = ["array", "run", "session"]
