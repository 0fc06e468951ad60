public import Foundation

extension SignatureKey {
    /// The name of the algorithm in JSON Web Signatures (RFC 7518, section 3.1; RFC 8037, section 3.1), such as `ES256`.
    public var jwsAlgorithm: String {
        switch algorithm {
        case .hmacSHA256: "HS256"
        case .ed25519: "EdDSA"
        case .ecdsaP256SHA256: "ES256"
        case .ecdsaP384SHA384: "ES384"
        case .rsaPSSSHA512: "PS512"
        case .rsaPKCS1SHA256: "RS256"
        }
    }

    /// Returns the required members of the public key's JSON Web Key (RFC 7638, section 3.2), such as `kty`, `crv`, `x` and `y`.
    ///
    /// - Throws: ``SignatureKeyError`` if the algorithm is ``SignatureAlgorithm/hmacSHA256``, whose key is secret.
    public func publicJWK() throws(SignatureKeyError) -> [String: String] {
        guard let pem = PEM(try publicKeyPEM()) else { throw SignatureKeyError("its public key can't be read") }
        // The bit string of an EC key ends with x and y (RFC 5480, section 2.2). The bit string of an Ed25519 key is x (RFC 8410,
        // section 4).
        switch algorithm {
        case .hmacSHA256, .ed25519:
            return ["kty": "OKP", "crv": "Ed25519", "x": pem.der.suffix(32).base64URLEncoded]
        case .ecdsaP256SHA256, .ecdsaP384SHA384:
            let size = algorithm.coordinateSize ?? 0
            let point = pem.der.suffix(size * 2)
            return [
                "kty": "EC", "crv": "P-\(size * 8)", "x": point.prefix(size).base64URLEncoded,
                "y": point.suffix(size).base64URLEncoded,
            ]
        case .rsaPSSSHA512, .rsaPKCS1SHA256:
            let numbers = pem.rsaPublicKey.map { PEM.elements(of: $0, tag: 0x02) } ?? []
            guard numbers.count == 2 else { throw SignatureKeyError("its public key can't be read") }
            let (modulus, exponent) = (numbers[0].drop { $0 == 0 }, numbers[1].drop { $0 == 0 })
            return ["kty": "RSA", "n": modulus.base64URLEncoded, "e": exponent.base64URLEncoded]
        }
    }
}

extension Data {
    /// The bytes in base64url without padding (RFC 7515, section 2).
    public var base64URLEncoded: String {
        base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }
}
