"""Headless Chromium, spoken to over two pipes by the DevTools protocol: no driver is needed."""

import base64
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
FLAGS = (
    "--headless=new",
    "--remote-debugging-pipe",
    "--no-sandbox",  # tests may run as root, in a container without name spaces
    "--disable-dev-shm-usage",
    "--disable-gpu",
    "--no-first-run",
    "--hide-scrollbars",
    "--disable-background-networking",
)


# The browser reads from descriptor 3 and writes to 4.
LAUNCHER = """
import os, sys
ours = [os.dup(int(number)) for number in sys.argv[1:3]]
for place, descriptor in enumerate(ours, start=3):
    os.dup2(descriptor, place)
    os.set_inheritable(place, True)  # it may have been in its place before
os.execv(sys.argv[3], sys.argv[3:])
"""


def find_chromium() -> str | None:
    """Path of a Chromium on this machine, if there is one."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


class Page:
    """One open page, and everything that its console said."""

    def __init__(self, call: Callable[..., dict[str, Any]], events: list[dict[str, Any]]) -> None:
        self._call = call
        self._events = events

    @property
    def complaints(self) -> list[str]:
        """Errors and warnings of scripts, of the network, and of the page's own policy."""
        found = []
        for event in self._events:
            method, content = event["method"], event["params"]
            if method == "Runtime.exceptionThrown":
                found.append(content["exceptionDetails"]["text"])
            elif method == "Runtime.consoleAPICalled" and content["type"] in ("error", "warning"):
                found.append(str(content["args"]))
            elif method == "Log.entryAdded" and content["entry"]["level"] in ("error", "warning"):
                found.append(content["entry"]["text"])
        return found

    def evaluate(self, script: str) -> Any:
        """Value of a JavaScript expression in the page."""
        answer = self._call("Runtime.evaluate", expression=script, returnByValue=True)
        if "exceptionDetails" in answer:
            raise AssertionError(answer["exceptionDetails"])
        return answer["result"].get("value")

    def heard(self) -> list[tuple[str, str]]:
        """Role and name of everything that a screen reader can come to."""
        nodes = self._call("Accessibility.getFullAXTree")["nodes"]
        return [
            (node["role"]["value"], str(node.get("name", {}).get("value", "")))
            for node in nodes
            if not node["ignored"]
        ]

    def resize(self, width: int, height: int, *, mobile: bool = False) -> None:
        """Take the size of a window or of a phone."""
        self._call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=mobile,
        )

    def emulate(self, *, media: str = "screen", scheme: str = "light") -> None:
        """Look as on paper (media print), or in dark mode."""
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self._call("Emulation.setEmulatedMedia", media=media, features=features)

    def screenshot(self, path: Path) -> None:
        """Save what the window shows as PNG."""
        path.write_bytes(base64.b64decode(self._call("Page.captureScreenshot")["data"]))

    def pdf(self) -> bytes:
        """Print the page."""
        return base64.b64decode(self._call("Page.printToPDF", printBackground=True)["data"])


@contextmanager
def opened(executable: str, path: Path) -> Iterator[Page]:
    """Open a file in a new browser."""
    to_read, to_write = os.pipe()
    from_read, from_write = os.pipe()
    with tempfile.TemporaryDirectory(prefix="chromium-", ignore_cleanup_errors=True) as profile:
        process = subprocess.Popen(
            [
                *(sys.executable, "-I", "-S", "-c", LAUNCHER, str(to_read), str(from_write)),
                *(executable, *FLAGS, f"--user-data-dir={profile}"),
            ],
            pass_fds=(to_read, from_write),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_read)
        os.close(from_write)
        try:
            with os.fdopen(to_write, "wb") as out, os.fdopen(from_read, "rb") as into:
                yield _open(out, into, path)
        finally:
            process.kill()
            process.wait()


def _open(out: Any, into: Any, path: Path) -> Page:
    events: list[dict[str, Any]] = []
    session: dict[str, str] = {}
    received = bytearray()
    number = 0

    def message() -> dict[str, Any]:
        while (end := received.find(b"\0")) < 0:
            chunk = into.read1(1 << 16)
            if not chunk:
                raise RuntimeError("the browser has ended")
            received.extend(chunk)
        text = bytes(received[:end])
        del received[: end + 1]
        found: dict[str, Any] = json.loads(text)
        return found

    def call(method: str, **parameters: Any) -> dict[str, Any]:
        nonlocal number
        number += 1
        command = {"id": number, "method": method, "params": parameters, **session}
        out.write(json.dumps(command).encode() + b"\0")
        out.flush()
        while (answer := message()).get("id") != number:
            if "method" in answer:
                events.append(answer)
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']}")
        result: dict[str, Any] = answer["result"]
        return result

    target = call("Target.createTarget", url="about:blank")["targetId"]
    session["sessionId"] = call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
    for domain in ("Page", "Runtime", "Log", "Network"):
        call(f"{domain}.enable")
    call("Page.navigate", url=path.resolve().as_uri())
    while not any(event["method"] == "Page.loadEventFired" for event in events):
        events.append(message())
    return Page(call, events)
