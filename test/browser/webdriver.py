# SPDX-License-Identifier: Apache-2.0
"""A client of the WebDriver protocol (W3C) with the commands that the tests need. Needs only the library of Python."""
import json
import re
import shutil
import subprocess
import time
import urllib.error
import urllib.request

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
KEYS = {"space": " ", "left": "\ue012", "right": "\ue014", "home": "\ue011", "end": "\ue010", "escape": "\ue00c"}


def missing():
    """Returns the names of the programs that the tests need and this machine lacks."""
    return [name for name in ("chromium", "chromedriver") if not shutil.which(name)]


class Browser:
    """A headless Chromium. Use it in a `with` statement."""

    def __enter__(self):
        self.driver = subprocess.Popen(
            ["chromedriver", "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        said = ""
        while not (started := re.search(r"started successfully on port (\d+)", said)):
            said = self.driver.stdout.readline()
            if not said:
                raise RuntimeError("chromedriver has not started")
        self.url = f"http://127.0.0.1:{started.group(1)}"
        # Containers often have little or no /dev/shm, so Chromium must not use it.
        arguments = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
        options = {"binary": shutil.which("chromium"), "args": arguments}
        wishes = {"goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}
        try:
            answer = self.call("POST", "/session", {"capabilities": {"alwaysMatch": wishes}})
        except RuntimeError:
            self.stop()
            raise
        self.url += f"/session/{answer['sessionId']}"
        return self

    def stop(self):
        self.driver.terminate()
        self.driver.wait()
        self.driver.stdout.close()

    def __exit__(self, *_):
        try:
            self.call("DELETE", "")
        finally:
            self.stop()

    def call(self, method, path, body=None):
        data = None if method != "POST" else json.dumps(body or {}).encode()
        request = urllib.request.Request(self.url + path, data, {"Content-Type": "application/json"}, method=method)
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # no proxy: the driver is local
        try:
            with opener.open(request, timeout=120) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(json.load(error)["value"]["message"]) from None

    def open(self, page):
        self.call("POST", "/url", {"url": page})

    def size(self, width, height):
        self.call("POST", "/window/rect", {"width": width, "height": height})

    def run(self, script, *arguments):
        """Runs the body of a JavaScript function. Returns the function's result."""
        return self.call("POST", "/execute/sync", {"script": script, "args": arguments})

    def find(self, selector):
        return self.call("POST", "/element", {"using": "css selector", "value": selector})[ELEMENT]

    def click(self, selector):
        self.call("POST", f"/element/{self.find(selector)}/click")

    def point(self, *places):
        """Moves the mouse to the first place. If there are more places, drags the mouse to them. Leaves the mouse at
        the last place.

        A place is a selector, optionally with an offset from the middle of the element: pixels to the right, pixels
        down."""
        def move(selector, right=0, below=0):
            origin = {ELEMENT: self.find(selector)}
            return {"type": "pointerMove", "duration": 0, "origin": origin, "x": round(right), "y": round(below)}

        down, up = {"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}
        moves = [move(*place) for place in places]
        actions = moves if len(moves) == 1 else [moves[0], down, *moves[1:], up]
        mouse = {"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": actions}
        self.call("POST", "/actions", {"actions": [mouse]})

    def type(self, selector, *keys):
        text = "".join(KEYS.get(key, key) for key in keys)
        self.call("POST", f"/element/{self.find(selector)}/value", {"text": text})

    def text(self, selector):
        return self.call("GET", f"/element/{self.find(selector)}/text")

    def console(self):
        """Returns the errors and warnings in the console since the last call."""
        return [entry["message"] for entry in self.call("POST", "/se/log", {"type": "browser"})]

    def wait(self, what, script):
        """Waits until the script returns a true value, at most five minutes, because a machine can be very busy."""
        deadline = time.monotonic() + 300
        while not self.run(f"return {script}"):
            if time.monotonic() > deadline:
                raise AssertionError(f"never came true: {what}")
            time.sleep(0.02)
