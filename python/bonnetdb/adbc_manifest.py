"""The manifest by which driver managers of ADBC find the driver of this package under its name."""

import os
import pathlib
import platform
import sys

from bonnetdb._bonnetdb import __file__ as library
from bonnetdb._bonnetdb import __version__

MANIFEST = """\
manifest_version = 1
name = "BonnetDB"
version = "{version}"
publisher = "BonnetDB"
license = "Apache-2.0"

[ADBC]
version = "1.1.0"

[Driver]
shared = {library}
"""


def write_adbc_manifest(folder=None):
    """Makes this package's driver known by its name: writes `bonnetdb.toml` and answers its path. From then on
    `adbc_driver_manager.dbapi.connect("bonnetdb:///data/lab.bonnet")` and `connect(driver="bonnetdb")` find it, and programs in
    other languages that read the same folder.

    `folder` is that of the environment by default, `etc/adbc/drivers` below `sys.prefix`, which the driver manager for Python
    reads in a virtual environment; outside of one, the user's own. A manifest names the library by its absolute path: write it
    anew when the package has moved.
    """
    folder = pathlib.Path(folder) if folder is not None else default_folder()
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "bonnetdb.toml"
    path.write_text(MANIFEST.format(version=__version__, library=quoted(os.path.abspath(library))), encoding="utf-8")
    return str(path)


def default_folder():
    """Where the driver manager looks: in the environment, else among the user's settings."""
    if sys.prefix != sys.base_prefix:
        return pathlib.Path(sys.prefix, "etc", "adbc", "drivers")
    if "CONDA_PREFIX" in os.environ:
        return pathlib.Path(os.environ["CONDA_PREFIX"], "etc", "adbc", "drivers")
    if platform.system() == "Darwin":
        return pathlib.Path.home() / "Library" / "Application Support" / "ADBC" / "Drivers"
    return pathlib.Path(os.environ.get("XDG_CONFIG_HOME") or pathlib.Path.home() / ".config", "adbc", "drivers")


def quoted(text):
    """A basic string of TOML."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
