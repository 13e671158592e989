"""Headless Chromium, driven by the DevTools protocol over a pipe, with Python's standard library.

There is one browser with one page.  Everything that the page or its workers write to the
console, request from the network or save is kept for the tests.
"""
import base64
import fcntl
import json
import os
import pathlib
import select
import subprocess
import tempfile
import time

# Without a sandbox of its own, since CI is root in a container.
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--disable-quic", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-extensions",
         "--remote-debugging-pipe"]
# Which processor key a key of the keyboard is, as the protocol wants it.
KEYS = {"Tab": 9, "Enter": 13, "Escape": 27, " ": 32, "End": 35, "Home": 36, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39,
        "ArrowDown": 40}
CTRL, SHIFT = 2, 8


class Browser:
    def __init__(self, scratch):
        """Saves what is downloaded, and keeps its profile, under scratch."""
        scratch = pathlib.Path(scratch)
        self.saved = scratch / "saved"
        self.saved.mkdir()
        read, self.write = os.pipe()
        self.read, write = os.pipe()
        # Chromium reads from 3 and writes to 4; from higher numbers, so that neither replaces the other.
        given = [fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 20) for fd in (read, write)]
        self.process = subprocess.Popen(["chromium", *FLAGS, f"--user-data-dir={scratch}/profile", "about:blank"], close_fds=False,
                                        preexec_fn=lambda: [os.dup2(fd, i + 3) for i, fd in enumerate(given)],
                                        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for fd in (read, write, *given):
            os.close(fd)
        self.rest, self.count, self.console, self.asked, self.choosers, self.session = b"", 0, [], {}, [], None
        target = next(t for t in self.send("Target.getTargets")["targetInfos"] if t["type"] == "page")
        self.session = self.send("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        self.watch(self.session)
        self.send("Page.enable")
        self.send("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(self.saved), session=None)

    def watch(self, session):
        """The console and the network of a page or a worker, and the workers that it starts."""
        for method in ("Runtime.enable", "Network.enable", "Log.enable"):
            self.post(method, session)
        self.post("Target.setAutoAttach", session, autoAttach=True, waitForDebuggerOnStart=False, flatten=True)

    def post(self, method, session, **parameters):
        self.count += 1
        message = {"id": self.count, "method": method, "params": parameters, **({"sessionId": session} if session else {})}
        os.write(self.write, json.dumps(message).encode() + b"\0")
        return self.count

    def send(self, method, session="page", timeout=120, **parameters):
        """A command's result."""
        number = self.post(method, self.session if session == "page" else session, **parameters)
        ends = time.monotonic() + timeout
        while True:
            message = self.receive(ends - time.monotonic(), method)
            if message.get("id") == number:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']['message']}")
                return message["result"]

    def receive(self, seconds, awaited):
        """The next message; events are kept."""
        while b"\0" not in self.rest:
            if not select.select([self.read], [], [], max(0, seconds))[0]:
                raise TimeoutError(f"Chromium did not answer {awaited}")
            part = os.read(self.read, 1 << 20)
            if not part:
                raise RuntimeError("Chromium ended")
            self.rest += part
        text, self.rest = self.rest.split(b"\0", 1)
        message = json.loads(text)
        self.event(message.get("method"), message.get("params"))
        return message

    def event(self, method, given):
        if method == "Runtime.consoleAPICalled":
            self.console.append(" ".join(str(a.get("value", a.get("description"))) for a in given["args"]))
        elif method == "Runtime.exceptionThrown":
            self.console.append(json.dumps(given["exceptionDetails"])[:500])
        elif method == "Log.entryAdded":
            self.console.append(given["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.asked[given["requestId"]] = given["request"]["url"]
        elif method == "Network.loadingFailed" and given.get("blockedReason") == "csp":
            self.asked.pop(given["requestId"], None)  # told of, never sent
        elif method == "Page.fileChooserOpened":
            self.choosers.append(given)
        elif method == "Target.attachedToTarget" and given["targetInfo"]["type"] == "worker":
            self.watch(given["sessionId"])

    def drain(self, seconds=0.2):
        """Takes the events that are on their way."""
        ends = time.monotonic() + seconds
        while time.monotonic() < ends:
            try:
                self.receive(ends - time.monotonic(), "events")
            except TimeoutError:
                return

    def open(self, address):
        self.send("Page.navigate", url=address)
        self.wait("document.readyState === 'complete'")

    def run(self, expression, timeout=120):
        """A JavaScript expression's value, awaited."""
        done = self.send("Runtime.evaluate", timeout=timeout, expression=expression, awaitPromise=True, returnByValue=True,
                         allowUnsafeEvalBlockedByCSP=False)
        if "exceptionDetails" in done:
            raise RuntimeError(f"{expression}: {json.dumps(done['exceptionDetails'])[:500]}")
        return done["result"].get("value")

    def wait(self, expression, timeout=60):
        """Until an expression is true: how many seconds that took."""
        begun = time.monotonic()
        while time.monotonic() < begun + timeout:
            if self.run(f"!!({expression})"):
                return time.monotonic() - begun
            time.sleep(0.02)
        raise TimeoutError(f"after {timeout} s there is still not {expression}")

    def key(self, key, modifiers=0):
        text = {"Enter": "\r", " ": " "}.get(key, key if len(key) == 1 else "")
        code = KEYS.get(key, ord(key.upper()[0]))
        self.send("Input.dispatchKeyEvent", type="keyDown", key=key, modifiers=modifiers, windowsVirtualKeyCode=code,
                  **({"text": text} if text and not modifiers & CTRL else {}))
        self.send("Input.dispatchKeyEvent", type="keyUp", key=key, modifiers=modifiers, windowsVirtualKeyCode=code)

    def drop(self, paths, x=200, y=200):
        """Files and folders dropped on the page."""
        data = {"items": [], "files": [str(p) for p in paths], "dragOperationsMask": 1}
        for kind in ("dragEnter", "dragOver", "drop"):
            self.send("Input.dispatchDragEvent", type=kind, x=x, y=y, data=data)

    def choose(self, selector, paths):
        """Files for the dialog that a file input has opened, by a click on it."""
        self.send("Page.setInterceptFileChooserDialog", enabled=True)
        self.choosers.clear()
        x, y = self.run(f"(() => {{ const e = document.querySelector({json.dumps(selector)}); e.scrollIntoView({{block: 'center'}});"
                        "const b = e.getBoundingClientRect(); return [b.left + b.width / 2, b.top + b.height / 2]; })()")
        for kind in ("mousePressed", "mouseReleased"):
            self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)
        self.answer_chooser(paths)

    def answer_chooser(self, paths):
        ends = time.monotonic() + 10
        while not self.choosers:
            self.receive(ends - time.monotonic(), "a file dialog")
        self.send("DOM.setFileInputFiles", files=[str(p) for p in paths], backendNodeId=self.choosers.pop()["backendNodeId"])

    def look(self, width, scheme="light", height=900):
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.send("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def screenshot(self, path, **clip):
        png = self.send("Page.captureScreenshot", format="png", captureBeyondViewport=True, **clip)
        path.write_bytes(base64.b64decode(png["data"]))

    def download(self, name, timeout=60):
        """What was saved under a name, once it is whole."""
        path, ends = self.saved / name, time.monotonic() + timeout
        while not path.exists():
            self.drain(0.05)
            if time.monotonic() > ends:
                raise TimeoutError(f"{name} was not saved; there are {[p.name for p in self.saved.iterdir()]}")
        data = path.read_bytes()
        path.unlink()
        return data

    def close(self):
        try:
            self.send("Browser.close", session=None, timeout=10)
        except (RuntimeError, TimeoutError, OSError):
            pass
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.read)
        os.close(self.write)


def profile():
    """A directory for a browser; Chromium may still write there while it ends."""
    return tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
