"""What rigup and uv choose for the same machines, side by side.

    python benchmarks/plans.py --uv PATH [--misses] [--json FILE]

Every pair of tests/stack/pairs whose wish is torch's family on Linux x86_64 and whose right answer is a torch is asked of
rigup (in process) and of `uv pip install --dry-run --torch-backend=auto`. uv is told the driver or the AMD target by its own
variables and runs against a copy of torch's indexes on loopback, made of empty wheels from the table torch_builds: its
connections go through a proxy here that answers in the place of torch's host. openssl makes the certificate.
"""

import argparse
import http.server
import json
import os
import re
import shlex
import ssl
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests" / "stack")]

from judging import faults  # noqa: E402

from rigup.knowledge.cuda import version_key  # noqa: E402
from rigup.knowledge.torch_builds import builds, companions  # noqa: E402
from rigup.plan.answer import answer  # noqa: E402
from rigup.stack.choice import Choice  # noqa: E402
from rigup.stack.choose import choose  # noqa: E402
from rigup.stack.profile import read_profile  # noqa: E402
from rigup.stack.site import Site  # noqa: E402
from rigup.stack.wish import Wish, read_wishes  # noqa: E402

HOST = "download.pytorch.org"
FAMILY = ("torch", "torchvision", "torchaudio")
JUDGED = ("torch_variant", "torch_version", "any_of", "verdict", "served")

Pair = dict[str, Any]


def wheels(variant: str, package: str) -> Iterator[str]:
    """Names of the wheels of one index."""
    for build in builds("linux", "x86_64"):
        release = build.torch if package == "torch" else str(getattr(companions(build.torch), package, "") or "")
        if build.variant == variant and release[:1].isdigit():
            tag = "manylinux_" + build.glibc.replace(".", "_") + "_x86_64" if build.glibc != "2.17" else "linux_x86_64"
            for python in build.python:
                number = python.replace(".", "").rstrip("t")
                abi = f"cp{number}" + ("t" if python.endswith("t") else "m" if number == "37" else "")
                yield f"{package}-{release}+{variant}-cp{number}-{abi}-{tag}.whl"


def needed(package: str, version: str) -> str:
    """A companion asks for its torch."""
    release = version.partition("+")[0]
    torch = next((one.torch for one in builds("linux", "x86_64") if release == getattr(companions(one.torch), package, "")), "")
    return f"Requires-Dist: torch=={torch}\n" if package != "torch" and torch else ""


class Index(http.server.BaseHTTPRequestHandler):
    """torch's host, behind a proxy: simple pages, and the metadata of empty wheels."""

    context: ssl.SSLContext

    def do_CONNECT(self) -> None:
        """Answer in the host's place."""
        self.send_response(200)
        self.end_headers()
        self.wfile.flush()
        self.connection = self.context.wrap_socket(self.connection, server_side=True)
        self.rfile, self.wfile = self.connection.makefile("rb"), self.connection.makefile("wb")
        self.close_connection = False

    def do_GET(self) -> None:
        """A page of links, or one wheel's metadata."""
        variant, _slash, rest = self.path.removeprefix("/whl/").partition("/")
        package = rest.strip("/")
        names = list(wheels(variant, package)) if package in FAMILY else []
        if rest.endswith(".metadata"):
            name, version = rest.split("-")[:2]
            self.give(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{needed(name, version)}", "text/plain")
        elif names:
            links = (f'<a href="/whl/{variant}/{one}" data-dist-info-metadata="true">{one}</a>' for one in names)
            self.give("<!DOCTYPE html><html><body>" + "<br>".join(links) + "</body></html>", "text/html")
        else:
            self.send_error(404)
        self.wfile.flush()

    def give(self, body: str, kind: str) -> None:
        """One whole answer."""
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body.encode())))
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *_told: object) -> None:
        """Quiet."""

    protocol_version = "HTTP/1.1"


def serve(folder: Path) -> int:
    """Start the proxy; gives its port."""
    key, paper = folder / "key.pem", folder / "cert.pem"
    subprocess.run(
        [
            "openssl",
            "req",
            "-x509",
            "-newkey",
            "rsa:2048",
            "-nodes",
            "-keyout",
            key,
            "-out",
            paper,
            "-days",
            "2",
            "-subj",
            f"/CN={HOST}",
            "-addext",
            f"subjectAltName=DNS:{HOST}",
        ],
        check=True,
        capture_output=True,
    )
    Index.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    Index.context.load_cert_chain(paper, key)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Index)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return int(server.server_address[1])


def of_uv(uv: str, pair: Pair, site: Site, port: int, folder: Path) -> str:
    """The torch that uv would take, "" for none."""
    python = next((word for word, before in zip(pair["options"][1:], pair["options"], strict=False) if before == "--python"), "")
    driver = site.nvidia_driver or ""
    told = {"UV_CUDA_DRIVER_VERSION": driver if "." in driver else driver + ".900"} if driver else {}
    amd = [device.isa for device in site.gpus if device.vendor == "amd" and device.isa]
    if amd and not told:
        told = {"UV_AMD_GPU_ARCHITECTURE": min(amd)}
    argv = [
        uv,
        "pip",
        "install",
        "--dry-run",
        "--no-cache",
        "--no-config",
        "--torch-backend=auto",
        "--target",
        str(folder / "t"),
        "--python-version",
        (python or site.python or "3.12").rstrip("t"),
        "--python-platform",
        "x86_64-manylinux_" + platform(site),
        "--allow-insecure-host",
        HOST,
        *shlex.split(pair["wish"]),
    ]
    proxy = f"http://127.0.0.1:{port}"
    env = {"PATH": os.environ["PATH"], "HOME": str(folder), "HTTPS_PROXY": proxy, "ALL_PROXY": proxy, **told}
    done = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False, env=env)
    found = re.search(r"^ \+ torch==(\S+)", done.stderr + done.stdout, re.MULTILINE)
    return found[1] if found else ""


def platform(site: Site) -> str:
    """The platform of uv's own list that fits the C library."""
    have = version_key(site.glibc or "2.35")
    return next(one for one in ("2_40", "2_35", "2_31", "2_28", "2_17") if version_key(one.replace("_", ".")) <= have)


def chosen(pair: Pair, site: Site) -> Choice:
    """What rigup takes."""
    options, words = {}, iter(pair["options"])
    for word in words:
        options[{"--python": "python", "--in": "manager", "--prefer": "prefer"}[word]] = next(words)
    return choose(Wish(packages=read_wishes(shlex.split(pair["wish"])), **options), site)


def as_plan(torch: str, site: Site) -> dict[str, Any]:
    """uv's choice in the shape that is judged: it changes nothing else, and says of no device that it is left out."""
    maker = {"cu": "nvidia", "ro": "amd"}.get(torch.partition("+")[2][:2], "")
    devices = [{"name": d.name, "isa": d.isa, "pci_id": d.pci_id, "served": d.vendor == maker, "because": ""} for d in site.gpus]
    return {
        "verdict": "possible" if torch else "impossible",
        "packages": {"torch": torch} if torch else {},
        "devices": devices,
        "indexes": [],
        "variables": {},
        "steps": [],
        "system": [],
        "turned_down": [],
        "smallest_change": None,
        "environment": {"python": site.python},
    }


def asked() -> Iterator[tuple[Pair, Site]]:
    """Pairs that can be asked of both."""
    for path in sorted((ROOT / "tests" / "stack" / "pairs").glob("*.json")):
        for pair in json.loads(path.read_text()):
            site = read_profile(pair["profile"])
            named = {word.split("=")[0].split("<")[0].split(">")[0] for word in shlex.split(pair["wish"])}
            plain = site.system == "linux" and site.machine == "x86_64" and not site.wsl and not site.jetpack
            plain = plain and not any(word.endswith("t") for word in pair["options"] if word[:1].isdigit())
            if plain and named <= {*FAMILY} and any(device.vendor in ("nvidia", "amd") for device in site.gpus):
                yield pair, site


def works(torch: str, pair: Pair, site: Site) -> bool:
    """Whether a build serves what the right answer serves there, with nothing changed outside the environment."""
    if not torch or torch.endswith("+cpu"):
        return False
    mine = choose(Wish(packages=(f"torch=={torch}",)), site)
    reached, wanted = ({d.name for d, told in one.devices if told.served} for one in (mine, chosen(pair, site)))
    return bool(wanted) and wanted <= reached and not mine.changes


def judged(expect: dict[str, Any]) -> dict[str, Any]:
    """Only what a resolver decides: which torch, and whether it serves the device."""
    kept = {key: value for key, value in expect.items() if key in JUDGED}
    if "any_of" in kept:
        kept["any_of"] = [judged(one) for one in kept["any_of"]]
    return kept


def main() -> int:
    """Ask both, print a table."""
    ask = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ask.add_argument("--uv", required=True)
    ask.add_argument("--misses", action="store_true")
    ask.add_argument("--json", type=Path)
    args = ask.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as scratch:
        port = serve(Path(scratch))
        for pair, site in asked():
            uv = of_uv(args.uv, pair, site, port, Path(scratch))
            plan = answer(chosen(pair, site))
            rows.append(
                {
                    "id": pair["id"],
                    "kind": pair["kind"],
                    "uv": uv,
                    "rigup": plan["packages"].get("torch", ""),
                    "uv_works": works(uv, pair, site),
                    "uv_right": not faults(as_plan(uv, site), judged(pair["expect"])),
                    "rigup_right": not faults(plan, pair["expect"]),
                }
            )
    show(rows, args.misses)
    if args.json:
        args.json.write_text(json.dumps(rows, indent=1))
    return 0


def show(rows: list[dict[str, Any]], misses: bool) -> None:
    """Right answers by kind, and each choice of uv's that is wrong."""
    for kind in (*sorted({row["kind"] for row in rows}), ""):
        mine = [row for row in rows if kind in ("", row["kind"])]
        uv, rigup = (sum(row[key] for row in mine) for key in ("uv_right", "rigup_right"))
        older = sum(row["uv_works"] and not row["uv_right"] for row in mine)
        print(f"{kind or 'all':16} {len(mine):4} machines   uv right {uv:4}, works but not the best {older:4}   rigup right {rigup:4}")
    for row in rows if misses else ():
        if not row["uv_right"]:
            said = "works" if row["uv_works"] else "wrong"
            print(f"  {row['id']:32} uv {row['uv'] or 'nothing':20} ({said})   rigup {row['rigup'] or 'nothing'}")


if __name__ == "__main__":
    raise SystemExit(main())
