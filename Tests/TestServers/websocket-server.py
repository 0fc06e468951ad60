"""A WebSocket server that uses Debian's python3-websockets. The path determines the behavior of a connection.

websocket-server.py PORT [CERTIFICATE KEY]
"""
import asyncio
import http
import json
import ssl
import sys
from urllib.parse import parse_qs, urlsplit

import websockets


async def handle(socket):
    url = urlsplit(socket.path)
    query = {name: values[0] for name, values in parse_qs(url.query).items()}
    if url.path == "/echo":
        async for message in socket:
            await socket.send(message)
    elif url.path == "/request":
        facts = {name.lower(): value for name, value in socket.request_headers.raw_items()}
        await socket.send(json.dumps({"path": socket.path, "headers": facts}))
        await socket.wait_closed()
    elif url.path == "/close":
        await socket.close(int(query["code"]), query.get("reason", ""))
    elif url.path == "/push":
        for number in range(int(query["count"])):
            await socket.send(f"{number} " + "x" * int(query.get("size", "0")))
        await socket.close()
    elif url.path == "/ping":
        await asyncio.wait_for(await socket.ping(b"are you there"), 10)
        await socket.send("answered")
        await socket.wait_closed()
    elif url.path == "/raw":
        # Sends raw bytes. Then, depending on the query, does nothing, closes the connection, or stops reading.
        socket.transport.write(bytes.fromhex(query.get("bytes", "")))
        if query.get("then") == "close":
            socket.transport.close()
        elif query.get("then") == "pause":
            socket.transport.pause_reading()
            await asyncio.sleep(60)
        await socket.wait_closed()
        print("closed with", socket.close_code, flush=True)
    elif url.path == "/refuse":
        # Sends a close frame while the client sends, and ends the connection.
        await socket.recv()
        socket.transport.write(bytes.fromhex("880203f1"))
        socket.transport.close()
    elif url.path == "/drop":
        await socket.recv()
        socket.transport.abort()
    elif url.path == "/closed":
        message = await socket.recv()
        await socket.wait_closed()
        print("closed", message, socket.close_code, socket.close_reason, flush=True)


async def answer(path, headers):
    """Responds to requests that don't become WebSockets."""
    url = urlsplit(path)
    if url.path == "/redirect":
        return http.HTTPStatus.FOUND, {"Location": "/request"}, b""
    if url.path == "/cookie":
        return http.HTTPStatus.FOUND, {"Location": "/request", "Set-Cookie": "taste=oats"}, b""
    if url.path == "/missing":
        return http.HTTPStatus.NOT_FOUND, {}, b"nothing here"
    if url.path == "/private/request" and headers.get("Authorization") != "Basic YW5uOnNjcmV0":
        return http.HTTPStatus.UNAUTHORIZED, {"WWW-Authenticate": 'Basic realm="private"'}, b"who are you"
    return None


async def handle_all(socket):
    if socket.path.startswith("/private"):
        socket.path = socket.path[len("/private"):]
    await handle(socket)


async def main():
    context = None
    if len(sys.argv) > 3:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(sys.argv[2], sys.argv[3])
    async with websockets.serve(
        handle_all, "127.0.0.1", int(sys.argv[1]), ssl=context, subprotocols=["chat"], max_size=None,
        process_request=answer, ping_interval=None,
    ):
        await asyncio.Future()


asyncio.run(main())
