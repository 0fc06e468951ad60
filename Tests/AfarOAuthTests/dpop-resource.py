"""A resource server that verifies DPoP proofs with the code of PyPI's authgent-server. It requires a nonce in each proof.

Usage: dpop-resource.py PORT
"""

import sys

import jwt
import uvicorn
from authgent_server.config import Settings
from authgent_server.errors import InvalidDPoPProof, UseDPoPNonce
from authgent_server.services.dpop_service import DPoPService
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse

app = FastAPI()
service = DPoPService(Settings())
seen = set()


@app.api_route("/resource", methods=["GET", "POST"])
async def resource(request: Request):
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    try:
        if scheme != "DPoP": raise InvalidDPoPProof("the scheme isn't DPoP")
        claims = jwt.decode(token, options={"verify_signature": False})
        proof = service.verify_dpop_proof(
            request.headers.get("dpop", ""), token, request.method, str(request.url).split("?")[0],
            expected_jkt=claims["cnf"]["jkt"], require_nonce=True)
        if proof["jti"] in seen: raise InvalidDPoPProof("the proof was used before")
        seen.add(proof["jti"])
    except UseDPoPNonce as error:
        return JSONResponse(
            {}, 401, {"WWW-Authenticate": 'DPoP error="use_dpop_nonce"', "DPoP-Nonce": error.dpop_nonce})
    except InvalidDPoPProof as error:
        return JSONResponse({"error": str(error)}, 401, {"WWW-Authenticate": 'DPoP error="invalid_dpop_proof"'})
    return {"sub": claims["sub"], "scope": claims["scope"]}


uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]))
