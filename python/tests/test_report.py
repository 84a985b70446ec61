"""The page of a script, in a browser without a network, where the command and Chromium are installed."""

import json
import os
import pathlib
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


MEASURE = """<script>document.body.dataset.sizes = JSON.stringify([...document.querySelectorAll("svg")].map(picture => {
    const place = picture.getBoundingClientRect();
    return [place.width, place.height, picture.querySelectorAll(".mark").length];
}));</script>"""
"""Writes into the page how large its pictures are, and how many marks each has."""


def opened(script, folder):
    """The page of a script, what the browser makes of it, and how wide, high and full it draws each picture. There is no
    network, and nothing may be said on the console."""
    page, shot = folder / "page.html", folder / "page.png"
    subprocess.run([COMMAND, "report", script, "-o", page], check=True)
    browser = [
        BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--window-size=1000,1400", "--enable-logging=stderr",
        "--host-resolver-rules=MAP * ~NOTFOUND", "--proxy-server=127.0.0.1:9", f"--user-data-dir={folder / 'profile'}",
    ]  # fmt: skip

    def browse(*arguments):
        run = subprocess.run([*browser, *arguments], capture_output=True, text=True, timeout=300)
        assert run.returncode == 0, run.stderr
        assert not re.findall(r".*CONSOLE.*", run.stderr)
        return run.stdout

    browse(f"--screenshot={shot}", page.as_uri())
    assert colours(shot) > 3, "the page is blank"
    measured = folder / "measured.html"
    measured.write_text(page.read_text() + MEASURE)
    dom = browse("--dump-dom", measured.as_uri())
    (sizes,) = re.findall(r'data-sizes="([^"]*)"', dom)
    return page.read_text(), dom, json.loads(sizes)


@pytest.mark.skipif(not COMMAND or not BROWSER, reason="the command (BONNET_COMMAND) or Chromium is absent")
def test_a_page_needs_no_network_and_has_no_error(tmp_path):
    (tmp_path / "a.sql").write_text(SCRIPT)
    _, dom, pictures = opened(tmp_path / "a.sql", tmp_path)
    # The script that sorts tables ran, and both pictures are in it.
    assert len(pictures) == 2 and dom.count('class="mark"') >= 3 + 9 and "mean_curvature: -0.25" in dom
    assert dom.count("<button") >= 2, "no button copies a table"


@pytest.mark.skipif(not COMMAND or not BROWSER, reason="the command (BONNET_COMMAND) or Chromium is absent")
def test_the_page_of_the_main_job_shows_all_of_its_pictures(tmp_path):
    script = pathlib.Path(__file__).parents[2] / "examples" / "stratified_leaderboard.sql"
    if not script.exists():
        pytest.skip("the examples are not beside the tests")
    page, dom, pictures = opened(script, tmp_path)
    assert len(pictures) == page.count("<svg") >= 7
    for width, height, marks in pictures:
        assert width > 200 and height > 100 and marks > 3, pictures
    # Each of them has the title that the script gives it, and the tables their buttons.
    for title in re.findall(r"^-- \\plot .*title='([^']*)'", script.read_text(), re.M):
        assert title in dom, title
    assert dom.count("<button") >= dom.count("<table") > 7
