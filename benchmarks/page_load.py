"""How long the web page takes: until it shows something, until it can be used, and to a translation with its ribbons.

python benchmarks/page_load.py                     this tree and the one before the page was bundled, in turns
python benchmarks/page_load.py --before REVISION   another one
python benchmarks/page_load.py --runs 3 --write    the section of docs/benchmarks.md

Chromium opens the page with an empty cache, over loopback and over *slow 3G*: 400 ms for each request and 400 kbit/s in
both directions, by Chromium's own emulation (`Network.emulateNetworkConditions`). The "Slow 3G" of its developer tools
has the same rate and waits 2,000 ms for each request. A page is usable when text can be typed and the languages are in
their menu. Then a sentence is put into it: the translation has come when it is shown, the ribbons when they are drawn.
Models are loaded before. Requests and bytes (bodies and headers as they are transferred) are counted until the page is
usable and nothing is on its way. "Again" is the same page opened a second time.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from playwright.sync_api import Browser, Page, sync_playwright
from start_up import write

ROOT = Path(__file__).parents[1]
UNBUNDLED = "f5b3e2fb"
CHROMIUM = os.environ.get("REGARD_CHROMIUM", "/usr/bin/chromium")
ADDRESS = re.compile(r"http://127\.0\.0\.1:\d+")
SLOW_3G = {"offline": False, "latency": 400, "downloadThroughput": 50_000, "uploadThroughput": 50_000}  # ms, bytes/s
NETWORKS = {"loopback": None, "slow 3G": SLOW_3G}
ANIMALS = ("cat", "dog", "horse", "bird", "cow", "fish", "mouse", "goat")  # no sentence is asked for twice
TITLE = "The web page"
HEADER = (
    "| | network | requests | kB | first paint | usable | usable again | translation | ribbons |\n"
    "|---|---|---|---|---|---|---|---|---|\n"
)
# Keeps the time at which a condition holds first; it is looked at whenever the document changes.
WATCH = """() => {
  const seen = (window.seen = {});
  const conditions = {
    usable: () => document.querySelector("#source-text") && document.querySelector("main select option"),
    translation: () => seen.asked && document.querySelector("#output:not(:empty, :has(> .quiet), [aria-busy=true])"),
    ribbons: () => seen.translation && document.querySelector(".ribbons path"),
  };
  const look = () => {
    for (const [name, holds] of Object.entries(conditions)) if (!seen[name] && holds()) seen[name] = performance.now();
  };
  new MutationObserver(look).observe(document, { subtree: true, childList: true, characterData: true });
}"""
ASK = """(text) => {
  const box = document.querySelector("#source-text");
  box.value = text;
  seen.asked = performance.now();
  box.dispatchEvent(new Event("input", { bubbles: true }));
}"""
PAINT = """() => performance.getEntriesByName("first-contentful-paint")[0].startTime"""


class Visit(NamedTuple):
    requests: int
    kilobytes: float
    paint: float  # ms, as all that follows
    usable: float
    again: float
    translation: float  # from the text
    ribbons: float


@contextlib.contextmanager
def server(tree: Path) -> Iterator[str]:
    """The address of a server of this tree, with all bundled models."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(tree / "src"), os.environ.get("PYTHONPATH", "")))}
    command = [sys.executable, "-m", "regard", "serve", "--port", "0"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment, cwd=tree)
    try:
        assert process.stderr is not None
        lines = []
        for line in process.stderr:
            lines.append(line)
            if found := ADDRESS.search(line):
                break
        else:
            raise SystemExit(f"the server did not start: {''.join(lines)}")
        # its log, which nobody reads, must not fill the pipe
        subprocess.Popen(["cat"], stdin=process.stderr, stdout=subprocess.DEVNULL)
        yield found[0]
    finally:
        process.terminate()
        process.wait(60)


def visit(browser: Browser, address: str, network: dict[str, Any] | None, text: str) -> Visit:
    context = browser.new_context()
    page = context.new_page()
    page.add_init_script(f"({WATCH})()")
    counted = counts(page, network)
    page.goto(address)
    wait(page, "usable")
    page.wait_for_load_state("networkidle")
    requests, kilobytes, paint = len(counted), sum(counted) / 1000, page.evaluate(PAINT)
    page.evaluate(ASK, text)
    wait(page, "ribbons")
    seen = page.evaluate("seen")
    page.goto("about:blank")
    page.goto(address)
    wait(page, "usable")
    again = page.evaluate("seen.usable")
    context.close()
    took = [seen[name] - seen["asked"] for name in ("translation", "ribbons")]
    return Visit(requests, kilobytes, paint, seen["usable"], again, *took)


def counts(page: Page, network: dict[str, Any] | None) -> list[float]:
    """The bytes of each answer, as they come."""
    found: list[float] = []
    devtools = page.context.new_cdp_session(page)
    devtools.on("Network.loadingFinished", lambda event: found.append(event["encodedDataLength"]))
    devtools.send("Network.enable")
    if network:
        devtools.send("Network.emulateNetworkConditions", network)
    return found


def wait(page: Page, name: str) -> None:
    page.wait_for_function("(name) => window.seen?.[name]", arg=name, timeout=120_000)


def measure(trees: dict[str, Path], runs: int) -> str:
    """The rows of the table."""
    rows = []
    with contextlib.ExitStack() as stack:
        addresses = {name: stack.enter_context(server(tree)) for name, tree in trees.items()}
        browser = stack.enter_context(sync_playwright()).chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"]
        )
        stack.callback(browser.close)
        for address in addresses.values():
            visit(browser, address, None, "The animal sleeps.")  # loads the model, and what explains it
        for network, conditions in NETWORKS.items():
            visits: dict[str, list[Visit]] = {name: [] for name in trees}
            for run in range(runs):
                for name, address in addresses.items():
                    text = f"The black {ANIMALS[run]} sleeps {'near' if conditions else 'on'} the old sofa."
                    visits[name].append(visit(browser, address, conditions, text))
            for name, made in visits.items():
                of = Visit(*(statistics.median(column) for column in zip(*made, strict=True)))
                times = " | ".join(f"{milliseconds / 1000:.2f} s" for milliseconds in of[2:])
                rows.append(f"| {name} | {network} | {of.requests:.0f} | {of.kilobytes:.1f} | {times} |")
                print(rows[-1], flush=True)
    return "\n".join(rows)


def section(before: str, runs: int) -> str:
    print(HEADER, end="", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder, "before")
        git = ["git", "-C", str(ROOT), "worktree"]
        subprocess.run([*git, "add", "--quiet", "--detach", str(tree), before], check=True)
        try:
            rows = measure({f"before ({before})": tree, "now": ROOT}, runs)
        finally:
            subprocess.run([*git, "remove", "--force", str(tree)], check=True)
    about = (
        f"Printed by `python benchmarks/page_load.py`: the median of {runs} visits with an empty cache, the two\n"
        f"versions in turns, with all bundled models. *Slow 3G* is {SLOW_3G['latency']} ms for each request and\n"
        "400 kbit/s. Translation and ribbons are counted from a sentence of eight words put into the page. Server\n"
        f"and browser share {os.cpu_count()} cores, which had a load of {os.getloadavg()[0]:.0f} from other work.\n"
    )
    return f"## {TITLE}\n\n{about}\n{HEADER}{rows}\n"


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--before", default=UNBUNDLED, metavar="REVISION")
    options.add_argument("--runs", type=int, default=5, choices=range(1, len(ANIMALS) + 1))
    options.add_argument("--write", action="store_true", help="put the table into docs/benchmarks.md")
    given = options.parse_args()
    text = section(given.before, given.runs)
    if given.write:
        write(ROOT / "docs" / "benchmarks.md", text)


if __name__ == "__main__":
    main()
