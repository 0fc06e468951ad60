"""Signs and verifies messages with PyPI's http-message-signatures, for comparison with AfarSignatures.

usage: messages.py verify FILE      verifies requests that Afar has signed
       messages.py sign FILE        signs responses, and prints their fields for Afar to verify
       messages.py serve PORT FILE  a server that verifies requests and signs responses, with the keys in the file
"""

import base64
import datetime
import gzip
import http.server
import json
import sys
import time

from cryptography.hazmat.primitives.serialization import load_pem_private_key, load_pem_public_key
from http_message_signatures import HTTPMessageSigner, HTTPMessageVerifier, HTTPSignatureKeyResolver
from http_message_signatures import algorithms

ALGORITHMS = {
    "hmac-sha256": algorithms.HMAC_SHA256, "ed25519": algorithms.ED25519,
    "ecdsa-p256-sha256": algorithms.ECDSA_P256_SHA256, "rsa-pss-sha512": algorithms.RSA_PSS_SHA512,
    "rsa-v1_5-sha256": algorithms.RSA_V1_5_SHA256,
}


class Keys(HTTPSignatureKeyResolver):
    def __init__(self, private=None, public=None):
        self.private, self.public = private, public

    def resolve_private_key(self, key_id):
        return self.read(self.private, lambda pem: load_pem_private_key(pem, None))

    def resolve_public_key(self, key_id):
        return self.read(self.public, load_pem_public_key)

    def read(self, text, load):
        return load(text.encode()) if "-----BEGIN" in text else base64.b64decode(text)


class Headers:
    """Header fields that can be repeated."""

    def __init__(self, fields):
        self.fields = [tuple(field) for field in fields]

    def items(self):
        return self.fields

    def __iter__(self):
        return iter(dict.fromkeys(name for name, _ in self.fields))

    def __contains__(self, name):
        return any(own.lower() == name.lower() for own, _ in self.fields)

    def __getitem__(self, name):
        return ", ".join(value for own, value in self.fields if own.lower() == name.lower())

    def get(self, name, default=None):
        return self[name] if name in self else default

    def __setitem__(self, name, value):
        del self[name]
        self.fields.append((name, value))

    def __delitem__(self, name):
        self.fields = [(own, value) for own, value in self.fields if own.lower() != name.lower()]


class Message:
    """A request or a response."""

    def __init__(self, fields, method=None, url=None, status=None, request=None):
        self.headers = Headers(fields)
        if status is None:
            self.method, self.url = method, url
        else:
            self.status_code, self.request = status, request


def verify_request(case):
    message = Message(case["headers"], case["method"], case["url"])
    verifier = HTTPMessageVerifier(
        signature_algorithm=ALGORITHMS[case["algorithm"]], key_resolver=Keys(public=case["publicKey"]))
    results = verifier.verify(message, max_age=datetime.timedelta(days=1))
    if case.get("hasDigest"):
        verifier.verify_body(message, results, base64.b64decode(case["body"]))


def sign_response(case):
    request = Message(case["headers"], case["method"], case["url"])
    response = Message(case["responseHeaders"], status=case["status"], request=request)
    signer = HTTPMessageSigner(
        signature_algorithm=ALGORITHMS[case["algorithm"]], key_resolver=Keys(private=case["privateKey"]))
    body = base64.b64decode(case["body"])
    created = datetime.datetime.fromtimestamp(case["created"], datetime.timezone.utc)
    expires = case.get("expires") and datetime.datetime.fromtimestamp(case["expires"], datetime.timezone.utc)
    signer.sign(
        response, key_id=case["algorithm"], created=created, expires=expires, nonce=case.get("nonce"), label="sig1",
        covered_component_ids=case["components"], body=body if case["hasDigest"] else None)
    return [list(field) for field in response.headers.items()]


class Handler(http.server.BaseHTTPRequestHandler):
    """Verifies each request, and signs each response. The path selects a defect of the response."""

    protocol_version = "HTTP/1.1"
    keys = None
    previous = []

    def log_message(self, *_):
        pass

    def handle_any(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        fields = list(self.headers.items())
        url = f"http://{self.headers['Host']}{self.path}"
        status, text = 200, body or b"hello, hello, hello"
        try:
            verify_request({
                "headers": fields, "method": self.command, "url": url, "algorithm": "ed25519",
                "publicKey": self.keys["public"], "hasDigest": "Content-Digest" in self.headers, "body": base64.b64encode(body)})
        except Exception as error:
            status, text = 403, f"{error}".encode()
        defect = self.path.rpartition("/")[2].partition("?")[0]
        if defect == "large":
            text = b"0123456789" * 300_000
        fields_to_send = [("Content-Type", "text/plain"), ("ETag", '"1"'), ("Accept-Ranges", "bytes")]
        if defect == "cut" and "Range" in self.headers:
            start = int(self.headers["Range"].removeprefix("bytes=").partition("-")[0])
            fields_to_send.append(("Content-Range", f"bytes {start}-{len(text) - 1}/{len(text)}"))
            status, text, defect = 206, text[start:], ""
        components = ["@status", "content-type", '"@method";req', '"@target-uri";req']
        if "Signature" in self.headers and defect != "unbound":
            components += ['"signature";req;key="sig1"']
        if defect == "range":
            status = 206
            fields_to_send.append(("Content-Range", f"bytes 0-{len(text) - 1}/100"))
        elif any(name == "Content-Range" for name, _ in fields_to_send):
            components += ["content-range"]
        if defect == "compressible" and "gzip" in self.headers.get("Accept-Encoding", ""):
            text = gzip.compress(text)
            fields_to_send.append(("Content-Encoding", "gzip"))
            components += ["content-encoding"]
        if defect in ("redirect", "moved"):
            status = 302
            fields_to_send.append(("Location", "/a"))
            components += ["location"] if defect == "redirect" else []
        now = int(time.time())
        signed, Handler.previous = Handler.previous if defect == "swapped" else fields, fields
        response = sign_response({
            "headers": signed, "method": self.command, "url": url, "status": status, "algorithm": "ed25519",
            "privateKey": self.keys["private"], "hasDigest": True, "body": base64.b64encode(text),
            "nonce": "always the same" if defect == "replay" else base64.b64encode(f"{time.time_ns()}".encode()).decode(),
            "created": now - 3600 if defect == "old" else now + 3600 if defect == "future" else now,
            "expires": now - 600 if defect == "expired" else None,
            "responseHeaders": fields_to_send,
            "components": components})
        if defect in ("tampered", "large") and (defect == "tampered" or "tampered" in self.path):
            text = b"H" + text[1:]
        if defect == "unsigned":
            response = [("Content-Type", "text/plain")]
        if defect == "status":
            status = 201
        self.send_response_only(status)
        for name, value in response:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        try:
            self.wfile.write(text[:len(text) // 2] if defect == "cut" else text)
        except OSError:
            pass
        if defect == "cut":
            self.close_connection = True

    do_GET = do_PUT = do_POST = handle_any


def main():
    mode, arguments = sys.argv[1], sys.argv[2:]
    with open(arguments[-1]) as text:
        values = json.load(text)
    if mode == "serve":
        Handler.keys = values
        http.server.ThreadingHTTPServer(("127.0.0.1", int(arguments[0])), Handler).serve_forever()
    if mode == "sign":
        print(json.dumps([sign_response(case) for case in values]))
        return 0
    failures = 0
    for case in values:
        try:
            verify_request(case)
        except Exception as error:
            failures += 1
            print(f"{error!r}\n{json.dumps(case)}")
    print(f"{len(values) - failures} of {len(values)} signatures are valid")
    return failures != 0


if __name__ == "__main__":
    sys.exit(main())
