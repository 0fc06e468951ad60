"""An echo server on aiohttp: echo-server.py PORT"""
import sys

from aiohttp import WSMsgType, web


async def echo(request):
    socket = web.WebSocketResponse(compress=False, max_msg_size=0)
    await socket.prepare(request)
    async for message in socket:
        if message.type == WSMsgType.TEXT:
            await socket.send_str(message.data)
        elif message.type == WSMsgType.BINARY:
            await socket.send_bytes(message.data)
    return socket


application = web.Application()
application.add_routes([web.get("/echo", echo)])
web.run_app(application, host="127.0.0.1", port=int(sys.argv[1]), print=None, access_log=None)
