"""An HTTPS server that supports HTTP/2 and HTTP/1.1 (ALPN). The body of its responses is the protocol that it has selected.

usage: server.py CERTIFICATE KEY

Prints the port. It doesn't implement HTTP/2 beyond its selection.
"""

import http.server
import ssl
import sys


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        body = str(self.connection.selected_alpn_protocol()).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(*sys.argv[1:])
context.set_alpn_protocols(["h2", "http/1.1"])
server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
server.socket = context.wrap_socket(server.socket, server_side=True)
print(server.server_port, flush=True)
server.serve_forever()
