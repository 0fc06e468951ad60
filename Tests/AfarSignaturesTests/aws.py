"""Signs requests with PyPI's botocore, for comparison with AfarSignatures.

usage: aws.py compare FILE      compares signatures that Afar has computed
       aws.py serve PORT        a server that accepts only requests with valid signatures
"""

import base64
import datetime
import email.utils
import hashlib
import hmac
import http.server
import json
import re
import sys
import time
import urllib.parse
import zlib
from unittest import mock

import botocore.auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

SECRET = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"


def sign(case):
    """Returns the signature that botocore computes for a case."""
    credentials = Credentials(case["accessKey"], case["secret"], case.get("token"))
    date = datetime.datetime.fromtimestamp(case["date"], datetime.timezone.utc)
    is_s3 = case["isS3"]
    # botocore expects paths of S3 in their final form, and encodes those of other services once more.
    path = urllib.parse.quote(urllib.parse.unquote_to_bytes(case["path"]), safe="/~") if is_s3 else case["path"]
    parameters = [tuple(pair) for pair in case["parameters"]]
    url = case["origin"] + path
    if case["signsPayload"]:
        parameters.append(("X-Amz-Content-Sha256", hashlib.sha256(base64.b64decode(case["body"])).hexdigest()))
    query = urllib.parse.urlencode(parameters, quote_via=urllib.parse.quote)
    if case.get("expires") and query:
        url += "?" + query
    request = AWSRequest(method=case["method"], url=url, params=None if case.get("expires") else parameters or None, data=base64.b64decode(case["body"]))
    for name, value in case["headers"]:
        request.headers.add_header(name, value)
    # With http, botocore signs all payloads. The scheme isn't part of the signature.
    request.context["payload_signing_enabled"] = not case["isUnsigned"]
    arguments = [credentials, case["service"], case["region"]]
    options = {"identity_cache": None} if case["isExpress"] else {}
    with mock.patch("botocore.auth.get_current_datetime", return_value=date):
        if case.get("expires"):
            signer = botocore.auth.S3SigV4QueryAuth if is_s3 else botocore.auth.SigV4QueryAuth
            if case["isExpress"]:
                signer = botocore.auth.S3ExpressQueryAuth
            signer = signer(*arguments, expires=case["expires"], **options)
            if case["signsPayload"]:
                # botocore never signs the payload of a URL. S3 reads its hash from the parameter.
                request.data = b""
                signer.payload = lambda _: dict(parameters)["X-Amz-Content-Sha256"]
            signer.add_auth(request)
            return urllib.parse.parse_qs(urllib.parse.urlsplit(request.url).query)["X-Amz-Signature"][0]
        if is_s3:
            request.context["client_config"] = mock.Mock(s3={"payload_signing_enabled": not case["isUnsigned"]})
        signer = botocore.auth.S3SigV4Auth if is_s3 else botocore.auth.SigV4Auth
        if case["isExpress"]:
            signer = botocore.auth.S3ExpressAuth
        signer(*arguments, **options).add_auth(request)
        return request.headers["Authorization"]


def compare(file):
    with open(file) as text:
        cases = json.load(text)
    different = 0
    for case in cases:
        expected = sign(case)
        if expected != case["signature"]:
            different += 1
            print(f"expected {expected}\nreceived {case['signature']}\n{json.dumps(case)}")
    print(f"{len(cases) - different} of {len(cases)} signatures are the same")
    return different == 0


class Refusal(Exception):
    """The reason why a request isn't accepted."""


class Handler(http.server.BaseHTTPRequestHandler):
    """Recomputes the signature of each request. The first segment of the path selects a behavior.

    /skew/SECONDS/...: the server's clock is ahead. /redirect?to=URL: a redirect. /flaky: fails every other request with 503.
    """

    protocol_version = "HTTP/1.1"
    count = 0

    def log_message(self, *_):
        pass

    def handle_any(self):
        body = self.body = self.read_body()
        parts = urllib.parse.urlsplit(self.path)
        query = dict(urllib.parse.parse_qsl(parts.query))
        words = parts.path.split("/")
        skew = int(words[2]) if words[1] == "skew" else 0
        self.date = time.time() + skew
        Handler.count += 1
        try:
            seed = self.check(skew)
            decoded = self.decode(body, seed)
        except Refusal as refusal:
            return self.answer(403, f"{refusal}")
        if words[1] == "redirect":
            return self.answer(307, "", ("Location", query["to"]))
        if words[1] == "flaky" and Handler.count % 2 == 1:
            return self.answer(503, "")
        self.answer(200, json.dumps({
            "path": self.path, "body": base64.b64encode(decoded).decode(), "fields": [list(f) for f in self.headers.items()]}))

    do_GET = do_PUT = do_POST = do_DELETE = handle_any

    def read_body(self):
        if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
            body = b""
            while size := int(self.rfile.readline(), 16):
                body += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
            return body
        return self.rfile.read(int(self.headers.get("Content-Length", 0)))

    def answer(self, status, text, *fields):
        body = text.encode()
        self.send_response_only(status)
        self.send_header("Date", email.utils.formatdate(self.date, usegmt=True))
        self.send_header("Content-Length", str(len(body)))
        for name, value in fields:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def check(self, skew):
        """Raises a refusal unless the request is signed. Returns the scope, the time and the signature."""
        match = re.fullmatch(
            r"AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/((\d{8})/([^/]+)/([^/]+)/aws4_request), SignedHeaders=(\S+), Signature=(\w{64})",
            self.headers.get("Authorization", ""))
        if not match:
            raise Refusal("the request isn't signed")
        scope, day, region, service, names, signature = match.groups()
        timestamp = self.headers["X-Amz-Date"]
        date = datetime.datetime.strptime(timestamp, "%Y%m%dT%H%M%SZ").replace(tzinfo=datetime.timezone.utc)
        if abs(date.timestamp() - time.time() - skew) > 300:
            raise Refusal("RequestTimeTooSkewed")
        path = self.path.partition("?")[0]
        if service == "s3":
            path = urllib.parse.quote(urllib.parse.unquote_to_bytes(path), safe="/~")
        request = AWSRequest(method=self.command, url=f"http://{self.headers['Host']}{path}")
        # Like a server, start from the decoded parameters.
        request.params = urllib.parse.parse_qsl(self.path.partition("?")[2], keep_blank_values=True) or None
        request.context["timestamp"] = timestamp
        for name in names.split(";"):
            for value in self.headers.get_all(name):
                request.headers.add_header(name, value)
        for name in {name.lower() for name in self.headers}:
            if name.startswith("x-amz-") and name not in names.split(";"):
                raise Refusal(f"{name} isn't signed")
        signer = (botocore.auth.S3SigV4Auth if service == "s3" else botocore.auth.SigV4Auth)(
            Credentials("AKIDEXAMPLE", SECRET), service, region)
        payload = self.headers.get("X-Amz-Content-SHA256")
        if payload is None:
            request.headers["X-Amz-Content-SHA256"] = hashlib.sha256(self.body).hexdigest()
            headers = botocore.auth.HTTPHeaders()
            for name in names.split(";"):
                for value in self.headers.get_all(name):
                    headers[name] = value
            signer.headers_to_sign = lambda _: headers
        expected = signer.signature(signer.string_to_sign(request, signer.canonical_request(request)), request)
        if expected != signature:
            raise Refusal(f"SignatureDoesNotMatch: {signer.canonical_request(request)!r}")
        return scope, timestamp, signature

    def decode(self, body, seed):
        """Checks the payload, and returns it without aws-chunked."""
        payload = self.headers.get("X-Amz-Content-SHA256", "")
        if re.fullmatch(r"[0-9a-f]{64}", payload) and hashlib.sha256(body).hexdigest() != payload:
            raise Refusal("the payload doesn't have the signed hash")
        if not payload.startswith("STREAMING-"):
            return body
        scope, timestamp, previous = seed
        key = f"AWS4{SECRET}".encode()
        for part in scope.split("/"):
            key = hmac.new(key, part.encode(), "sha256").digest()

        def chain(kind, *hashes):
            nonlocal previous
            text = "\n".join([f"AWS4-HMAC-SHA256-{kind}", timestamp, scope, previous, *hashes])
            previous = hmac.new(key, text.encode(), "sha256").hexdigest()
            return previous

        is_signed, has_trailer = "HMAC" in payload, payload.endswith("-TRAILER")
        decoded, empty = b"", hashlib.sha256(b"").hexdigest()
        sizes = []
        while True:
            line, _, body = body.partition(b"\r\n")
            size, _, extension = line.decode().partition(";chunk-signature=")
            chunk, body = body[:int(size, 16)], body[int(size, 16):]
            sizes.append(len(chunk))
            if is_signed and extension != chain("PAYLOAD", empty, hashlib.sha256(chunk).hexdigest()):
                raise Refusal("the signature of a chunk is wrong")
            if not chunk:
                break
            if not body.startswith(b"\r\n"):
                raise Refusal("a chunk has no end")
            body, decoded = body[2:], decoded + chunk
        if any(size < 8192 or size != sizes[0] for size in sizes[:-2]):
            raise Refusal("the chunks have different sizes")
        if has_trailer:
            line, _, body = body.partition(b"\r\n")
            name, _, value = line.decode().partition(":")
            if name != self.headers["X-Amz-Trailer"]:
                raise Refusal("the trailer isn't the announced one")
            if name.endswith("crc32") and base64.b64decode(value) != zlib.crc32(decoded).to_bytes(4, "big"):
                raise Refusal("the checksum is wrong")
            if name.endswith("sha256") and base64.b64decode(value) != hashlib.sha256(decoded).digest():
                raise Refusal("the checksum is wrong")
            if is_signed:
                line, _, body = body.partition(b"\r\n")
                text = f"x-amz-trailer-signature:{chain('TRAILER', hashlib.sha256(f'{name}:{value}{chr(10)}'.encode()).hexdigest())}"
                if line.decode() != text:
                    raise Refusal("the signature of the trailer is wrong")
        if body != b"\r\n" or len(decoded) != int(self.headers["X-Amz-Decoded-Content-Length"]):
            raise Refusal("the body has a wrong length")
        return decoded


if __name__ == "__main__":
    if sys.argv[1] == "compare":
        sys.exit(not compare(sys.argv[2]))
    http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[2])), Handler).serve_forever()
