"""Run by an interpreter that has jupyter_server: a kernel is started through a server's own interface, and cells are executed.

Arguments: the server's address, its token, the kernel's name. Cells come as a JSON list on standard input; what each gave
is printed as JSON: its status, what it printed, and its last rich output by type.
"""

import asyncio
import json
import sys
import urllib.request
import uuid

from tornado.httpclient import HTTPRequest
from tornado.websocket import websocket_connect

BASE, TOKEN, KERNEL = sys.argv[1:4]
HEADERS = {"Authorization": "token " + TOKEN, "Content-Type": "application/json"}
WAIT = 120


def ask(method, path, body=None):
    data = None if body is None else json.dumps(body).encode()
    asked = urllib.request.Request(BASE + path, data, HEADERS, method=method)
    with urllib.request.urlopen(asked, timeout=WAIT) as answer:
        return json.load(answer) if answer.status != 204 else None


def message(code):
    header = {"msg_id": uuid.uuid4().hex, "msg_type": "execute_request", "username": "", "session": "s", "version": "5.3"}
    content = {"code": code, "silent": False, "store_history": True, "allow_stdin": False, "stop_on_error": False}
    return {"header": header, "parent_header": {}, "metadata": {}, "content": content, "channel": "shell"}


async def executed(socket, code):
    sent = message(code)
    await socket.write_message(json.dumps(sent))
    result = {"status": None, "printed": "", "data": {}}
    idle = False
    while result["status"] is None or not idle:
        reply = json.loads(await asyncio.wait_for(socket.read_message(), WAIT))
        if reply["parent_header"].get("msg_id") != sent["header"]["msg_id"]:
            continue
        kind, content = reply["msg_type"], reply["content"]
        if kind == "stream":
            result["printed"] += content["text"]
        elif kind in ("execute_result", "display_data", "update_display_data"):
            result["data"] = content["data"]
        elif kind == "error":
            result["printed"] += "\n".join(content["traceback"])
        elif kind == "execute_reply":
            result["status"] = content["status"]
        elif kind == "status" and content["execution_state"] == "idle":
            idle = True
    return result


async def main():
    kernel = ask("POST", "/api/kernels", {"name": KERNEL})["id"]
    address = BASE.replace("http", "ws", 1) + f"/api/kernels/{kernel}/channels"
    socket = await websocket_connect(HTTPRequest(address, headers=HEADERS, request_timeout=WAIT))
    print(json.dumps([await executed(socket, code) for code in json.load(sys.stdin)]))
    if len(sys.argv) < 5:
        ask("DELETE", f"/api/kernels/{kernel}")


asyncio.run(main())
