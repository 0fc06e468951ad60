import Foundation

/// Wraps raw keys in the encodings that OpenSSL and Apple's frameworks read.
enum KeyEncoding {
    private enum Part { case privateKey, publicKey }

    /// Returns PKCS#8 (RFC 5958) for a raw private key.
    static func privateKey(_ raw: Data, for algorithm: SignatureAlgorithm) throws(SignatureKeyError) -> Data {
        try wrap(raw, .privateKey, for: algorithm)
    }

    /// Returns a SubjectPublicKeyInfo (RFC 5280, section 4.1.2.7) for a raw public key.
    static func publicKey(_ raw: Data, for algorithm: SignatureAlgorithm) throws(SignatureKeyError) -> Data {
        try wrap(raw, .publicKey, for: algorithm)
    }

    private static func wrap(
        _ raw: Data, _ part: Part, for algorithm: SignatureAlgorithm
    ) throws(SignatureKeyError) -> Data {
        // Each encoding is a constant prefix followed by the raw key.
        let (prefix, count): ([UInt8], Int)
        switch (algorithm, part) {
        case (.ed25519, .privateKey):
            prefix = [0x30, 0x2E, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20]
            count = 32
        case (.ed25519, .publicKey):
            prefix = [0x30, 0x2A, 0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x70, 0x03, 0x21, 0x00]
            count = 32
        case (.ecdsaP256SHA256, .privateKey):
            prefix =
                [0x30, 0x41, 0x02, 0x01, 0x00] + p256
                + [0x04, 0x27, 0x30, 0x25, 0x02, 0x01, 0x01, 0x04, 0x20]
            count = 32
        case (.ecdsaP256SHA256, .publicKey):
            prefix = [0x30, 0x59] + p256 + [0x03, 0x42, 0x00]
            count = 65
        case (.ecdsaP384SHA384, .privateKey):
            prefix =
                [0x30, 0x4E, 0x02, 0x01, 0x00] + p384
                + [0x04, 0x37, 0x30, 0x35, 0x02, 0x01, 0x01, 0x04, 0x30]
            count = 48
        case (.ecdsaP384SHA384, .publicKey):
            prefix = [0x30, 0x76] + p384 + [0x03, 0x62, 0x00]
            count = 97
        case (.hmacSHA256, _), (.rsaPSSSHA512, _), (.rsaPKCS1SHA256, _):
            throw SignatureKeyError("\(algorithm.rawValue) has no raw keys")
        }
        guard raw.count == count, part == .privateKey || count == 32 || raw.first == 0x04 else {
            throw SignatureKeyError("the raw key has a wrong length or form for \(algorithm.rawValue)")
        }
        return Data(prefix) + raw
    }

    /// The algorithm identifiers of EC keys with named curves (RFC 5480, section 2.1.1).
    private static let p256: [UInt8] = [
        0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D,
        0x03, 0x01, 0x07,
    ]
    private static let p384: [UInt8] = [
        0x30, 0x10, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x05, 0x2B, 0x81, 0x04, 0x00, 0x22,
    ]
}
