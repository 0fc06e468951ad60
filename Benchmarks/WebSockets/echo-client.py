"""aiohttp's client: echo-client.py URL MESSAGES WARM-UP WINDOW

Sends messages and reads their echoes, so many on their way at once. Prints what it took as JSON.
"""
import asyncio
import json
import resource
import sys
import time

import aiohttp

MESSAGE = "x" * 100


async def exchange(socket, count, window):
    for _ in range(min(window, count)):
        await socket.send_str(MESSAGE)
    sent = min(window, count)
    for _ in range(count):
        message = await socket.receive()
        assert message.data == MESSAGE
        if sent < count:
            await socket.send_str(MESSAGE)
            sent += 1


def cpu():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


async def main():
    url, count, warm_up, window = sys.argv[1], *map(int, sys.argv[2:5])
    async with aiohttp.ClientSession() as session, session.ws_connect(url) as socket:
        await exchange(socket, warm_up, window)
        start, start_cpu = time.monotonic(), cpu()
        await exchange(socket, count, window)
        print(json.dumps({"seconds": time.monotonic() - start, "cpuSeconds": cpu() - start_cpu}))


asyncio.run(main())
