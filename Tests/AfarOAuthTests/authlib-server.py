"""An authorization server and a resource server that use Debian's python3-authlib and python3-flask.

Usage: authlib-server.py PORT PUBLIC-KEY-FILE
The public key, in PEM form, is that of the client "keyed".
"""

import os
import sys
import threading
import time

os.environ["AUTHLIB_INSECURE_TRANSPORT"] = "1"

from authlib.integrations.flask_oauth2 import AuthorizationServer
from authlib.oauth2.rfc6749 import ClientMixin, TokenMixin, grants, scope_to_list
from authlib.oauth2.rfc7009 import RevocationEndpoint
from authlib.oauth2.rfc7523 import JWTBearerClientAssertion, JWTBearerGrant
from authlib.oauth2.rfc7636 import CodeChallenge
from authlib.oauth2.rfc8628 import DeviceAuthorizationEndpoint, DeviceCodeGrant, DeviceCredentialDict
from flask import Flask, jsonify, request

port = int(sys.argv[1])
base = f"http://127.0.0.1:{port}"
public_key = open(sys.argv[2]).read()
lock = threading.RLock()
counts = {}


class Client(ClientMixin):
    def __init__(self, client_id, secret, method):
        self.client_id, self.secret, self.method = client_id, secret, method

    def get_client_id(self): return self.client_id
    def get_default_redirect_uri(self): return None
    def get_allowed_scope(self, scope): return scope or ""
    def check_redirect_uri(self, uri): return uri.startswith(("http://127.0.0.1:", "http://[::1]:", "com.example.app:"))
    def check_client_secret(self, secret): return self.secret == secret
    def check_endpoint_auth_method(self, method, endpoint): return method == self.method
    def check_response_type(self, kind): return kind == "code"
    def check_grant_type(self, kind): return True


clients = {client.client_id: client for client in [
    Client("confidential", "the-secret_of.the~client", "client_secret_basic"),
    Client("posting", "another secret", "client_secret_post"),
    Client("public", "", "none"),
    Client("keyed", None, "private_key_jwt"),
    Client("certified", None, "tls_client_auth"),
]}


class Token(TokenMixin):
    def __init__(self, data, client, user):
        self.data, self.client, self.user, self.created, self.revoked = data, client, user, time.time(), False

    def check_client(self, client): return client.client_id == self.client.client_id
    def get_scope(self): return self.data.get("scope", "")
    def get_expires_in(self): return self.data.get("expires_in", 0)
    def is_expired(self): return time.time() > self.created + self.get_expires_in()
    def is_revoked(self): return self.revoked
    def is_active(self): return not self.revoked and not self.is_expired()


tokens = []


def save_token(data, request):
    with lock:
        tokens.append(Token(dict(data), request.client, request.user))


def find_token(member, value):
    with lock:
        return next((token for token in tokens if token.data.get(member) == value), None)


app = Flask(__name__)
app.config["OAUTH2_REFRESH_TOKEN_GENERATOR"] = True
server = AuthorizationServer(app, query_client=clients.get, save_token=save_token)


class Assertion(JWTBearerClientAssertion):
    CLIENT_AUTH_METHOD = "private_key_jwt"
    seen = set()

    def validate_jti(self, claims, jti):
        is_new = jti not in self.seen
        self.seen.add(jti)
        return is_new

    def resolve_client_public_key(self, client, headers): return public_key


server.register_client_auth_method("private_key_jwt", Assertion(f"{base}/token"))


def certificate(query_client, request):
    """The proxy in front of this server adds the name in the client's certificate (RFC 8705, section 2.1)."""
    client = query_client(request.form.get("client_id"))
    return client if client and request.headers.get("X-Client-Name") == "CN=client-a" else None


server.register_client_auth_method("tls_client_auth", certificate)
METHODS = ["client_secret_basic", "client_secret_post", "private_key_jwt", "tls_client_auth", "none"]


class ClientCredentials(grants.ClientCredentialsGrant):
    TOKEN_ENDPOINT_AUTH_METHODS = METHODS[:4]


codes = {}


class Code(dict):
    def get_redirect_uri(self): return self["redirect_uri"]
    def get_scope(self): return self["scope"]


class AuthorizationCode(grants.AuthorizationCodeGrant):
    TOKEN_ENDPOINT_AUTH_METHODS = METHODS

    def save_authorization_code(self, code, request):
        codes[code] = Code(
            code=code, client_id=request.client.client_id, redirect_uri=request.redirect_uri, scope=request.scope,
            code_challenge=request.data.get("code_challenge"),
            code_challenge_method=request.data.get("code_challenge_method"))
        codes[code].code_challenge = codes[code]["code_challenge"]
        codes[code].code_challenge_method = codes[code]["code_challenge_method"]

    def query_authorization_code(self, code, client):
        item = codes.get(code)
        return item if item and item["client_id"] == client.client_id else None

    def delete_authorization_code(self, code): codes.pop(code["code"], None)
    def authenticate_user(self, code): return "ada"


class Refresh(grants.RefreshTokenGrant):
    TOKEN_ENDPOINT_AUTH_METHODS = METHODS
    INCLUDE_NEW_REFRESH_TOKEN = True

    def authenticate_refresh_token(self, text):
        counts["refresh"] = counts.get("refresh", 0) + 1
        token = find_token("refresh_token", text)
        return token if token and not token.revoked else None

    def authenticate_user(self, credential): return "ada"
    def revoke_old_credential(self, credential): credential.revoked = True


class SignedGrant(JWTBearerGrant):
    def resolve_issuer_client(self, issuer): return clients[issuer]
    def resolve_client_key(self, client, headers, payload): return public_key
    def authenticate_user(self, subject): return subject
    def has_granted_permission(self, client, user): return True


devices = {}


class Device(DeviceCodeGrant):
    def query_device_credential(self, code): return devices.get(code)

    def query_user_grant(self, user_code):
        allowed = next((device.get("allowed") for device in devices.values() if device["user_code"] == user_code), None)
        return None if allowed is None else ("ada", allowed)

    def should_slow_down(self, credential):
        """Demands a slower pace after the first request, because the tests' delays take no time."""
        was_polled, credential["polled"] = "polled" in credential, True
        return was_polled


class DeviceEndpoint(DeviceAuthorizationEndpoint):
    def get_verification_uri(self): return f"{base}/device"

    def save_device_credential(self, client_id, scope, data):
        devices[data["device_code"]] = DeviceCredentialDict(
            dict(data, client_id=client_id, scope=scope, expires_at=time.time() + 1800))


class Revocation(RevocationEndpoint):
    CLIENT_AUTH_METHODS = METHODS

    def query_token(self, text, hint):
        return find_token("refresh_token", text) or find_token("access_token", text)

    def revoke_token(self, token, request): token.revoked = True


server.register_grant(ClientCredentials)
server.register_grant(AuthorizationCode, [CodeChallenge(required=True)])
server.register_grant(Refresh)
server.register_grant(SignedGrant)
server.register_grant(Device)
server.register_endpoint(DeviceEndpoint)
server.register_endpoint(Revocation)


@app.route("/.well-known/oauth-authorization-server")
def metadata():
    return jsonify(
        issuer=base, token_endpoint=f"{base}/token", authorization_endpoint=f"{base}/authorize",
        device_authorization_endpoint=f"{base}/device_authorization", revocation_endpoint=f"{base}/revoke",
        response_types_supported=["code"], code_challenge_methods_supported=["S256"])


@app.route("/token", methods=["POST"])
def token(): return server.create_token_response()


@app.route("/authorize")
def authorize():
    return server.create_authorization_response(grant_user=None if "deny" in request.args else "ada")


@app.route("/device_authorization", methods=["POST"])
def device_authorization(): return server.create_endpoint_response("device_authorization")


@app.route("/revoke", methods=["POST"])
def revoke(): return server.create_endpoint_response("revocation")


@app.route("/device")
def confirm():
    """The page on which the user confirms a code."""
    for device in devices.values():
        if device["user_code"] == request.args["user_code"]: device["allowed"] = "deny" not in request.args
    return "confirmed"


@app.route("/resource")
def resource():
    scheme, _, text = request.headers.get("Authorization", "").partition(" ")
    found = find_token("access_token", text) if scheme == "Bearer" else None
    if not found or not found.is_active():
        return "", 401, {"WWW-Authenticate": 'Bearer error="invalid_token"'}
    return jsonify(client=found.client.client_id, user=found.user, scope=found.get_scope())


@app.route("/expire")
def expire():
    """Makes all access tokens invalid. Their refresh tokens stay valid."""
    with lock:
        for token in tokens: token.created = 0
    return "expired"


@app.route("/counts")
def count(): return jsonify(counts)


app.run("127.0.0.1", port, threaded=True)
