/// An algorithm for signatures. The raw value is its name in the registry of HTTP signature algorithms (RFC 9421, section 6.2).
public enum SignatureAlgorithm: String, Sendable, Hashable, CaseIterable {
    /// HMAC with SHA-256 and a secret that both sides share.
    case hmacSHA256 = "hmac-sha256"
    /// Ed25519 (RFC 8032).
    case ed25519 = "ed25519"
    /// ECDSA with the curve P-256 and SHA-256. A signature consists of r and s, 32 bytes each.
    case ecdsaP256SHA256 = "ecdsa-p256-sha256"
    /// ECDSA with the curve P-384 and SHA-384. A signature consists of r and s, 48 bytes each.
    case ecdsaP384SHA384 = "ecdsa-p384-sha384"
    /// RSASSA-PSS with SHA-512, MGF1 with SHA-512, and a salt of 64 bytes.
    case rsaPSSSHA512 = "rsa-pss-sha512"
    /// RSASSA-PKCS1-v1_5 with SHA-256. Prefer another algorithm for new systems.
    case rsaPKCS1SHA256 = "rsa-v1_5-sha256"

    /// The number of bytes of r or s in a signature with ECDSA; nil for other algorithms.
    var coordinateSize: Int? {
        switch self {
        case .ecdsaP256SHA256: 32
        case .ecdsaP384SHA384: 48
        default: nil
        }
    }

    var usesRSA: Bool { self == .rsaPSSSHA512 || self == .rsaPKCS1SHA256 }
}
