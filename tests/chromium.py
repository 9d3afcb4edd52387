"""A headless Chromium that a test drives through the pipe of its own protocol: no library and no port is needed."""

import json
import os
import shutil
import subprocess
import time

PROGRAM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
WAIT = 60


class Page:
    """One page; `errors` holds what the browser complained of: exceptions, and what the policy of the page forbade."""

    def __init__(self, folder, *, width=1000, dark=False, language="en"):
        read, to_browser = os.pipe()
        from_browser, write = os.pipe()
        root = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
        script = f'exec 3<&{read} 4>&{write}; exec "$@"'
        self._process = subprocess.Popen(
            [
                "bash",
                "-c",
                script,
                "browser",
                PROGRAM,
                "--headless",
                *root,
                "--disable-gpu",
                "--remote-debugging-pipe",
                f"--user-data-dir={folder / 'profile'}",
                "about:blank",
            ],
            # Its socket lies in the folder for temporary files, and may have no longer path than 108 letters.
            env={name: value for name, value in os.environ.items() if name not in ("TMPDIR", "XDG_RUNTIME_DIR")},
            pass_fds=(read, write),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(read)
        os.close(write)
        self._to, self._from = to_browser, from_browser
        self._left, self._count, self._session, self.errors = b"", 0, None, []
        target = self.do("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.do("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.do(domain + ".enable")
        self.do("Emulation.setDeviceMetricsOverride", width=width, height=800, deviceScaleFactor=1, mobile=width < 600)
        self.do("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        agent = self.evaluate("navigator.userAgent")
        self.do("Emulation.setUserAgentOverride", userAgent=agent, acceptLanguage=language)

    def do(self, method, **params):
        self._count += 1
        asked = {"id": self._count, "method": method, "params": params}
        if self._session:
            asked["sessionId"] = self._session
        os.write(self._to, json.dumps(asked).encode() + b"\0")
        while True:
            told = self._read()
            if told.get("id") == self._count:
                assert "error" not in told, told
                return told["result"]
            if told.get("method") == "Runtime.exceptionThrown":
                self.errors.append(str(told["params"]["exceptionDetails"]))
            elif told.get("method") == "Log.entryAdded" and told["params"]["entry"]["level"] == "error":
                self.errors.append(str(told["params"]["entry"]["text"]))

    def _read(self):
        while b"\0" not in self._left:
            piece = os.read(self._from, 1 << 16)
            assert piece, "the browser is gone"
            self._left += piece
        told, _, self._left = self._left.partition(b"\0")
        return json.loads(told)

    def evaluate(self, script):
        told = self.do("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in told, told
        return told["result"].get("value")

    def wait(self, script):
        until = time.monotonic() + WAIT
        while not (found := self.evaluate(script)):
            assert time.monotonic() < until, (script, self.evaluate("document.body.innerText"), self.errors)
            time.sleep(0.02)
        return found

    def open(self, address):
        self.do("Page.navigate", url=address)
        self.wait("document.readyState === 'complete' && location.href !== 'about:blank'")

    def type(self, place, text):
        self.evaluate(f"document.querySelector({place!r}).focus()")
        self.do("Input.insertText", text=text)

    def press_enter(self):
        for kind in ("keyDown", "keyUp"):
            self.do(
                "Input.dispatchKeyEvent",
                type=kind,
                key="Enter",
                code="Enter",
                windowsVirtualKeyCode=13,
                text="\r" if kind == "keyDown" else "",
            )

    def click(self, place):
        self.evaluate(f"document.querySelector({place!r}).click()")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._process.terminate()
        self._process.wait(WAIT)
        os.close(self._to)
        os.close(self._from)
