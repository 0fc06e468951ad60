"""A name server on 127.0.0.1 and web servers on the addresses of lo, for a network namespace. Uses Debian's python3-dnslib.

Each web server responds with its address. The output has a line for each query and for each connection to a web server.
"""

import http.server
import itertools
import socket
import socketserver
import sys
import threading

import dnslib
import dnslib.server

PORT = 8080
PUBLIC = ("93.184.216.34", "2606:2800:220:1::1")
LOOPBACK = ("127.0.0.1", "::1")

# The addresses of each name, one list for each query of a type. After the last list, the first one follows.
ANSWERS = {
    "changing.test": {"A": [[PUBLIC[0]], [LOOPBACK[0]]]},
    "changing6.test": {"AAAA": [[PUBLIC[1]], [LOOPBACK[1]]]},
    "mixed.test": {"A": [[LOOPBACK[0], PUBLIC[0], "10.0.0.1"]], "AAAA": [[LOOPBACK[1]]]},
    "loopback.test": {"A": [[LOOPBACK[0]]], "AAAA": [[LOOPBACK[1]]]},
    "mapped.test": {"AAAA": [["::ffff:127.0.0.1"]]},
    "unspecified.test": {"A": [["0.0.0.0"]], "AAAA": [["::"]]},
    "metadata.test": {"A": [["169.254.169.254"]]},
}
ALIASES = {"alias.test": "loopback.test"}


def log(*words):
    print(*words, flush=True)


class Names(dnslib.server.BaseResolver):
    def __init__(self):
        self.lists = {
            (name, kind): itertools.cycle(lists) for name, kinds in ANSWERS.items() for kind, lists in kinds.items()}
        self.lock = threading.Lock()

    def resolve(self, request, handler):
        reply = request.reply()
        name, kind = str(request.q.qname).rstrip(".").lower(), dnslib.QTYPE[request.q.qtype]
        log("query", name, kind)
        target = ALIASES.get(name, name)
        if target != name:
            reply.add_answer(dnslib.RR(name, dnslib.QTYPE.CNAME, ttl=0, rdata=dnslib.CNAME(target)))
        with self.lock:
            addresses = next(self.lists.get((target, kind), iter([[]])))
        for address in addresses:
            data = dnslib.A(address) if kind == "A" else dnslib.AAAA(address)
            reply.add_answer(dnslib.RR(target, getattr(dnslib.QTYPE, kind), ttl=0, rdata=data))
        if target not in ANSWERS:
            reply.header.rcode = dnslib.RCODE.NXDOMAIN
        return reply


class Pages(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def setup(self):
        log("connection", self.server.place)
        super().setup()

    def do_GET(self):
        body = self.server.place.encode()
        self.send_response(302 if self.path.startswith("/to?") else 200)
        if self.path.startswith("/to?"):
            self.send_header("Location", self.path[4:])
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass


class Server(socketserver.ThreadingTCPServer):
    daemon_threads = True

    def __init__(self, address):
        self.place = address
        self.address_family = socket.AF_INET6 if ":" in address else socket.AF_INET
        super().__init__((address, PORT), Pages)


dnslib.server.DNSServer(Names(), address="127.0.0.1", port=53, logger=dnslib.server.DNSLogger("-")).start_thread()
for address in PUBLIC + LOOPBACK:
    threading.Thread(target=Server(address).serve_forever, daemon=True).start()
log("ready")
sys.stdin.read()
