"""An HTTP/2 server that violates RFC 9113 on request. It uses Debian's python3-h2. The path of a request is the name of a behavior: see the
functions below. The query contains the function's arguments.

http2-hostile-server.py PORT CERTIFICATE KEY

The server sends its SETTINGS when the first request of a connection arrives. It then responds to one event at a time, on one thread for
each connection.
"""
import random
import socket
import ssl
import struct
import sys
import threading
import time
from urllib.parse import parse_qsl, urlsplit

from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.events import DataReceived, RequestReceived, StreamEnded
from h2.settings import SettingCodes

DATA, HEADERS, PRIORITY, RESET, SETTINGS, PUSH_PROMISE, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = range(10)
ACK = END_STREAM = 1
END_HEADERS = 4
PADDED = 8
OK = b"\x88"
# More frames than any client accepts.
ENDLESS = 200_000


def frame(kind, flags=0, stream=0, payload=b""):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def number(value):
    return struct.pack(">I", value)


def field(name, value):
    """Returns a literal field without indexing (RFC 7541, section 6.2.2). Both texts are shorter than 127 bytes."""
    return b"\x00" + b"".join(bytes([len(text)]) + text.encode() for text in (name, value))


def head(stream, block=OK, flags=END_HEADERS):
    return frame(HEADERS, flags, stream, block)


def data(stream, text, flags=0):
    return frame(DATA, flags, stream, text)


class Connection:
    def __init__(self, stream):
        self.socket = stream
        self.h2 = H2Connection(H2Configuration(client_side=False, header_encoding="utf-8"))
        self.h2.local_settings[SettingCodes.ENABLE_CONNECT_PROTOCOL] = 1
        self.h2.local_settings.acknowledge()
        self.h2.initiate_connection()
        self.paths = {}
        self.received = {}
        self.is_open = True

    def run(self):
        try:
            while self.is_open and (received := self.socket.recv(65536)):
                for event in self.h2.receive_data(received):
                    self.handle(event)
                if self.paths:
                    self.flush()
        except OSError:
            pass
        finally:
            self.socket.close()

    def handle(self, event):
        if isinstance(event, RequestReceived):
            path = dict(event.headers)[":path"]
            self.paths[event.stream_id] = path
            self.received[event.stream_id] = 0
            # The other behaviors begin at the end of the request.
            if path.startswith(("/upload", "/websocket")):
                self.behave(event.stream_id)
        elif isinstance(event, DataReceived):
            self.received[event.stream_id] += len(event.data)
            if self.paths[event.stream_id].startswith("/websocket?kind=echo"):
                echo(self, event.stream_id, event.data)
            if self.paths[event.stream_id] != "/upload-withheld" and event.flow_controlled_length > 0:
                self.h2.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
        elif isinstance(event, StreamEnded):
            if self.paths[event.stream_id].startswith("/upload"):
                self.respond(event.stream_id, str(self.received[event.stream_id]).encode())
            elif not self.paths[event.stream_id].startswith("/websocket"):
                self.behave(event.stream_id)

    def behave(self, stream):
        url = urlsplit(self.paths[stream])
        BEHAVIORS[url.path](self, stream, **dict(parse_qsl(url.query)))

    def respond(self, stream, body=b"ok"):
        self.h2.send_headers(stream, [(":status", "200"), ("content-length", str(len(body)))])
        self.h2.send_data(stream, body, end_stream=True)
        self.flush()

    def flush(self):
        self.socket.sendall(self.h2.data_to_send())

    def send(self, *frames):
        """Sends frames after everything that h2 has to send."""
        self.flush()
        self.socket.sendall(b"".join(frames))

    def flood(self, *frames):
        for _ in range(ENDLESS // 100):
            self.send(b"".join(frames) * 100)

    def close(self, with_notice=False):
        self.is_open = False
        if with_notice:
            self.socket.unwrap()
        else:
            # This sends no TLS alert.
            self.socket.shutdown(socket.SHUT_WR)


BEHAVIORS = {}


def behavior(function):
    BEHAVIORS["/" + function.__name__.replace("_", "-")] = function
    return function


# Responses that are valid


@behavior
def ok(connection, stream):
    connection.respond(stream)


@behavior
def in_small_records(connection, stream):
    block = frame(HEADERS, END_HEADERS, stream, OK) + data(stream, b"o") + data(stream, b"k", END_STREAM)
    connection.flush()
    for byte in block:
        connection.socket.sendall(bytes([byte]))
        time.sleep(0.001)


@behavior
def without_settings_ack(connection, stream):
    connection.h2.data_to_send()
    connection.send(frame(SETTINGS), head(stream), data(stream, b"ok", END_STREAM))


@behavior
def with_unknown_frames(connection, stream):
    unknown = frame(0xBE, 0xFF, stream, b"?") + frame(0xBF, 0xFF, 0, b"?" * 100)
    connection.send(unknown, head(stream), unknown, data(stream, b"ok", END_STREAM), unknown)


@behavior
def without_streams(connection, stream, when):
    """Allows no further streams, before the response or when the connection is idle."""
    settings = frame(SETTINGS, 0, 0, struct.pack(">HI", 3, 0))
    if when == "before":
        connection.send(settings)
    connection.respond(stream)
    if when == "after":
        time.sleep(0.02)
        connection.send(settings)


@behavior
def limit_streams(connection, stream, count):
    """Allows fewer streams from now on."""
    connection.h2.update_settings({SettingCodes.MAX_CONCURRENT_STREAMS: int(count)})
    connection.respond(stream)


@behavior
def upload(connection, stream):
    """Responds with the number of bytes at the end of the request."""


@behavior
def upload_with_smaller_window(connection, stream):
    """Makes the window smaller than the number of bytes that the client may already have sent."""
    connection.h2.update_settings({SettingCodes.INITIAL_WINDOW_SIZE: 1000})


@behavior
def upload_withheld(connection, stream):
    """Grants no window beyond the initial one to this stream. The connection's window continues to grow."""
    connection.h2.increment_flow_control_window(1 << 24)


# Floods


@behavior
def flood(connection, stream, kind):
    """The stream `stream - 2` has ended."""
    if kind == "ping":
        connection.flood(frame(PING, 0, 0, b"12345678"))
    elif kind == "pong":
        connection.flood(frame(PING, ACK, 0, b"12345678"))
    elif kind == "settings":
        connection.flood(frame(SETTINGS, 0, 0, struct.pack(">HI", 3, 100)))
    elif kind == "settings-ack":
        connection.flood(frame(SETTINGS, ACK))
    elif kind == "reset":
        connection.flood(frame(RESET, 0, stream - 2, number(8)))
    elif kind == "window":
        connection.flood(frame(WINDOW_UPDATE, 0, 0, number(1)))
    elif kind == "stream-window":
        connection.flood(frame(WINDOW_UPDATE, 0, stream, number(1)))
    elif kind == "priority":
        connection.flood(frame(PRIORITY, 0, stream, number(0) + b"\x10"))
    elif kind == "unknown":
        connection.flood(frame(0xBE, 0, stream))
    elif kind == "empty-data":
        connection.send(head(stream))
        connection.flood(data(stream, b""))
    elif kind == "padding":
        connection.send(head(stream))
        connection.flood(data(stream, b"\xff" + bytes(255), PADDED))
    elif kind == "informational":
        connection.send(head(stream, field(":status", "103")) * 100)
    elif kind == "continuation":
        connection.send(head(stream, flags=0))
        connection.flood(frame(CONTINUATION, 0, stream, field("a", "b" * 100) * 150))
    elif kind == "small-continuation":
        connection.send(head(stream, flags=0))
        connection.flood(frame(CONTINUATION, 0, stream, field("a", "b")))
    elif kind == "empty-continuation":
        connection.send(head(stream, flags=0))
        connection.flood(frame(CONTINUATION, 0, stream))
    elif kind == "goaway":
        connection.flood(frame(GOAWAY, 0, 0, number(stream) + number(0)))


@behavior
def bomb(connection, stream):
    """Adds a field of 4,000 bytes to the compression table, and refers to it very often."""
    value = b"x" * 4000
    literal = b"\x40\x01a" + b"\x7f" + bytes([(len(value) - 127) & 127 | 128, (len(value) - 127) >> 7]) + value
    connection.send(head(stream, OK + literal + b"\xbe" * 10_000, END_HEADERS | END_STREAM))


# Invalid frames


@behavior
def frames(connection, stream, kind):
    other = stream + 1000
    update = frame(WINDOW_UPDATE, 0, 0, number(0x7FFF_FFFF))
    stream_update = frame(WINDOW_UPDATE, 0, stream, number(0x7FFF_FFFF))
    choices = {
        "push": frame(PUSH_PROMISE, END_HEADERS, stream, number(2) + b"\x82\x84\x87" + field(":authority", "localhost")),
        "push-setting": frame(SETTINGS, 0, 0, struct.pack(">HI", 2, 1)),
        "head-of-idle-stream": head(other),
        "data-of-idle-stream": data(other, b"a"),
        "data-of-even-stream": data(2, b"a"),
        "reset-of-idle-stream": frame(RESET, 0, other, number(8)),
        "window-of-idle-stream": frame(WINDOW_UPDATE, 0, other, number(1)),
        "window-overflow": update + update,
        "stream-window-overflow": stream_update + stream_update,
        "empty-window": frame(WINDOW_UPDATE, 0, 0, number(0)),
        "data-without-stream": data(0, b"a"),
        "headers-between": head(stream, flags=0) + head(stream),
        "bad-compression": head(stream, b"\xff\xff\xff\xff\xff\xff\xff\xff"),
        "large-compression-table": head(stream, b"\x3f\xe1\xff\x03" + OK),
        "frame-too-large": frame(DATA, 0, stream, bytes(20_000)),
        "padding-too-large": head(stream) + data(stream, b"\xff" + b"a", PADDED),
    }
    connection.send(choices[kind])


@behavior
def garbage(connection, stream, seed):
    connection.send(random.Random(int(seed)).randbytes(100_000))


@behavior
def without_settings(connection, stream):
    connection.h2.data_to_send()
    connection.socket.sendall(head(stream) + data(stream, b"ok", END_STREAM))


# Invalid responses


@behavior
def response(connection, stream, kind):
    ends = END_HEADERS | END_STREAM
    trailers = head(stream, field("a", "1"))
    pseudo_trailers = head(stream, field(":status", "200"), ends)
    choices = {
        "longer": head(stream, OK + field("content-length", "1")) + data(stream, b"ok", END_STREAM),
        "longer-without-end": head(stream, OK + field("content-length", "1")) + data(stream, b"ok"),
        "shorter": head(stream, OK + field("content-length", "9")) + data(stream, b"ok", END_STREAM),
        "shorter-without-body": head(stream, OK + field("content-length", "9"), ends),
        "uppercase": head(stream, OK + field("Server", "a"), ends),
        "connection": head(stream, OK + field("connection", "close"), ends),
        "transfer-encoding": head(stream, OK + field("transfer-encoding", "chunked"), ends),
        "without-status": head(stream, field("server", "a"), ends),
        "two-statuses": head(stream, OK + OK, ends),
        "request-field": head(stream, OK + field(":path", "/"), ends),
        "status-101": head(stream, field(":status", "101"), ends),
        "pseudo-trailers": head(stream) + data(stream, b"ok") + pseudo_trailers,
        "trailers-without-end": head(stream) + data(stream, b"ok") + trailers,
        "data-before-head": data(stream, b"ok") + head(stream, flags=ends),
        "informational-end": head(stream, field(":status", "103"), ends),
        "reset": head(stream) + data(stream, b"ok") + frame(RESET, 0, stream, number(2)),
        "reset-without-error": head(stream) + data(stream, b"ok") + frame(RESET, 0, stream, number(0)),
        "reset-before-head": frame(RESET, 0, stream, number(2)),
        "refused-in-body": head(stream) + data(stream, b"ok") + frame(GOAWAY, 0, 0, number(0) + number(0)),
    }
    connection.send(choices[kind])


@behavior
def response_with_surplus(connection, stream, kind):
    whole = head(stream) + data(stream, b"ok", END_STREAM)
    connection.send(whole, data(stream, b"more") if kind == "data" else head(stream, OK, END_HEADERS | END_STREAM))


@behavior
def beyond_window(connection, stream):
    """Sends more bytes than the client's window for a stream, and fewer bytes than its window for the connection."""
    connection.send(head(stream), *[data(stream, bytes(16_384))] * 256)


@behavior
def compressed(connection, stream):
    """Sends the beginning of a gzip member, and ends the stream."""
    connection.send(
        head(stream, OK + field("content-encoding", "gzip")), data(stream, bytes.fromhex("1f8b0800000000000003cb"), END_STREAM))


# Silence and lost connections


@behavior
def silence(connection, stream, kind):
    if kind == "after-goaway":
        connection.send(frame(GOAWAY, 0, 0, number(stream) + number(0)))
    elif kind == "after-head":
        connection.send(head(stream))
    elif kind == "in-body":
        connection.send(head(stream, OK + field("content-length", "9")), data(stream, b"ok"))
    elif kind == "in-frame":
        connection.send(head(stream), data(stream, b"ok")[:-1])
    elif kind == "in-header-block":
        connection.send(head(stream, flags=0))
    elif kind == "except-pings":
        for _ in range(500):
            connection.send(frame(PING, 0, 0, b"12345678"))
            time.sleep(0.01)


@behavior
def closed(connection, stream, kind, notice):
    if kind == "in-body":
        connection.send(head(stream), data(stream, b"ok"))
    elif kind == "in-frame":
        connection.send(head(stream), data(stream, b"ok")[:-1])
    elif kind == "in-header-block":
        connection.send(head(stream, flags=0))
    connection.close(with_notice=notice == "1")


# WebSockets (RFC 8441), without the client's frames except in `echo`


@behavior
def websocket(connection, stream, kind, delay="0"):
    message = bytes.fromhex("827e0400") + bytes(1024)
    choices = {
        "silent": b"",
        "echo": head(stream),
        "echo-goaway": head(stream) + frame(GOAWAY, 0, 0, number(stream) + number(0)),
        "deaf": head(stream),
        "wrong-protocol": head(stream, OK + field("sec-websocket-protocol", "other")),
        "reset": head(stream) + frame(RESET, 0, stream, number(8)),
        "closed": head(stream),
        "end-in-frame": head(stream) + data(stream, message[:9], END_STREAM),
        "flood": head(stream) + data(stream, message * 15) * 66,
    }
    connection.send(choices[kind])
    time.sleep(float(delay))
    if kind == "flood":
        connection.send(frame(RESET, 0, stream, number(8)))
    if kind == "closed":
        connection.close()


def echo(connection, stream, received):
    """Returns a frame that contains a short message, without the mask."""
    mask, payload = received[2:6], received[6:]
    connection.send(data(stream, bytes([received[0], len(payload)]) + bytes(a ^ b for a, b in zip(payload, mask * 32))))


def serve(context, client):
    try:
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        stream = context.wrap_socket(client, server_side=True)
    except OSError:
        # A test looks for a listening server, or the client has closed the connection.
        return client.close()
    Connection(stream).run()


def main():
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[2], sys.argv[3])
    context.set_alpn_protocols(["h2"])
    with socket.create_server(("127.0.0.1", int(sys.argv[1])), backlog=512) as listener:
        while True:
            client, _ = listener.accept()
            threading.Thread(target=serve, args=(context, client), daemon=True).start()


main()
