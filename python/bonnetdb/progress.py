"""What says how far a long statement is."""

import sys
import time


class Progress:
    """The text of a report; none where nothing has changed."""

    def __init__(self):
        self.label = None
        self.began = 0.0
        self.shown = (0, 0)

    def text(self, label, done, total):
        if total <= 0:
            return None
        if label != self.label or done < self.shown[0]:
            self.label, self.began = label, time.monotonic()
        elif (done, total) == self.shown:
            # A kernel that has ended while its rows still come.
            return None
        self.shown = (done, total)
        passed = time.monotonic() - self.began
        left = f", {passed / done * (total - done):.0f} s left" if done else ""
        return f"{label}: {min(100, 100 * done // total)}% ({done}/{total}{left})"


class Line(Progress):
    """Writes one line anew and anew; the last of them stays until something else is written."""

    def __init__(self, stream):
        super().__init__()
        self.stream = stream

    def __call__(self, label, done, total):
        text = self.text(label, done, total)
        if text is not None:
            self.stream.write(f"\r{text}\033[K" + ("\n" if done >= total else ""))
            self.stream.flush()


class Display(Progress):
    """Shows one output of a notebook's cell, which changes: a notebook that is saved has the last of them alone."""

    def __init__(self):
        super().__init__()
        self.cell = self.handle = None

    def __call__(self, label, done, total):
        text = self.text(label, done, total)
        if text is None:
            return
        from IPython import get_ipython
        from IPython.display import display

        cell = getattr(get_ipython(), "execution_count", None)
        if self.handle is None or cell != self.cell:
            self.cell, self.handle = cell, display({"text/plain": text}, raw=True, display_id=True)
        else:
            self.handle.update({"text/plain": text}, raw=True)


def in_notebook():
    """Whether the program is the kernel of a notebook."""
    if "ipykernel" not in sys.modules:
        return False
    from IPython import get_ipython

    return getattr(get_ipython(), "kernel", None) is not None


def reporter(wanted):
    """What a session calls while a statement runs; `None` where nothing is shown."""
    if callable(wanted):
        return wanted
    if wanted is None:
        wanted = in_notebook() or (sys.stderr is not None and sys.stderr.isatty())
    if not wanted:
        return None
    return Display() if in_notebook() else Line(sys.stderr)
