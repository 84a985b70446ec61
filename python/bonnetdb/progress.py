"""A line that says how far a long statement is."""

import sys
import time


class Line:
    """Writes one line anew and anew; the last of them stays until something else is written."""

    def __init__(self, stream):
        self.stream = stream
        self.label = None
        self.began = 0.0
        self.shown = (0, 0)

    def __call__(self, label, done, total):
        if total <= 0:
            return
        if label != self.label or done < self.shown[0]:
            self.label, self.began = label, time.monotonic()
        elif (done, total) == self.shown:
            # A kernel that has ended while its rows still come.
            return
        self.shown = (done, total)
        passed = time.monotonic() - self.began
        left = f", {passed / done * (total - done):.0f} s left" if done else ""
        end = "\n" if done >= total else ""
        self.stream.write(f"\r{label}: {min(100, 100 * done // total)}% ({done}/{total}{left})\033[K{end}")
        self.stream.flush()


def reporter(wanted):
    """What a session calls while a statement runs; `None` where nothing is shown."""
    if wanted is None:
        wanted = sys.stderr is not None and (sys.stderr.isatty() or "ipykernel" in sys.modules)
    if callable(wanted):
        return wanted
    return Line(sys.stderr) if wanted else None
