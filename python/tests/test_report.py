"""The page of a script, in a browser without a network, where the command and Chromium are installed."""

import os
import re
import shutil
import struct
import subprocess
import zlib

import pytest

COMMAND = os.environ.get("BONNET_COMMAND") or shutil.which("bonnet")
BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)

SCRIPT = """-- Which graph bends how?

-- \\plot bars graph mean_curvature
SELECT graph, mean_curvature FROM (VALUES ('ring', 0.0), ('tree', -0.25), ('clique', 0.5)) AS t(graph, mean_curvature);

-- \\plot graph src dst
SELECT * FROM cycle(9);
"""


def colours(png):
    """The different colours of the pixels of a picture, of 8 bits a channel."""
    data = png.read_bytes()
    (width, height, depth, kind) = struct.unpack(">IIBB", data[16:26])
    assert depth == 8
    channels = {2: 3, 6: 4}[kind]
    parts, at = b"", 8
    while at < len(data):
        (length,) = struct.unpack(">I", data[at : at + 4])
        if data[at + 4 : at + 8] == b"IDAT":
            parts += data[at + 8 : at + 8 + length]
        at += length + 12
    raw = zlib.decompress(parts)
    assert len(raw) == height * (width * channels + 1)
    return len({raw[place : place + channels] for place in range(1, len(raw) - channels, 997 * channels)})


def test_a_page_needs_no_network_and_has_no_error(tmp_path):
    if not COMMAND or not BROWSER:
        pytest.skip("the command (BONNET_COMMAND) or Chromium is absent")
    (tmp_path / "a.sql").write_text(SCRIPT)
    page, shot = tmp_path / "a.html", tmp_path / "a.png"
    subprocess.run([COMMAND, "report", tmp_path / "a.sql", "-o", page], check=True)
    browser = [
        BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--window-size=1000,1400", "--enable-logging=stderr",
        "--host-resolver-rules=MAP * ~NOTFOUND", "--proxy-server=127.0.0.1:9", f"--user-data-dir={tmp_path / 'profile'}",
    ]  # fmt: skip
    run = subprocess.run([*browser, f"--screenshot={shot}", page.as_uri()], capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stderr
    assert not re.findall(r".*CONSOLE.*", run.stderr)
    assert colours(shot) > 3, "the page is blank"
    # What the browser made of the page: the script that sorts tables ran, and both pictures are in it.
    dom = subprocess.run([*browser, "--dump-dom", page.as_uri()], capture_output=True, text=True, timeout=300).stdout
    assert dom.count("<svg") == 2 and dom.count('class="mark"') >= 3 + 9 and "mean_curvature: -0.25" in dom
    assert dom.count("<button") >= 2, "no button copies a table"
