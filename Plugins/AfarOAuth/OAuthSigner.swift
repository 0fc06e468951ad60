import AfarKeys
public import Foundation

/// A private key that signs client assertions (RFC 7523) and DPoP proofs (RFC 9449), for example one in a hardware module.
///
/// `SignatureKey` is an implementation in memory. All methods can be called from any thread.
public protocol OAuthSigner: Sendable {
    /// The algorithm of the signatures (RFC 7518, section 3.1), such as `ES256`.
    var jwsAlgorithm: String { get }

    /// Returns the public key's required members (RFC 7517; RFC 7638, section 3.2), such as `kty`, `crv`, `x` and `y`. Other
    /// members are ignored. The type (`kty`) must be `EC`, `OKP` or `RSA`.
    func publicJWK() throws -> [String: String]

    /// Returns the signature of data in the format of RFC 7518. For `ES256`, it is the concatenation of r and s, 32 bytes each.
    func signature(for data: Data) throws -> Data
}

extension SignatureKey: OAuthSigner {}

extension OAuthSigner {
    /// The public key's thumbprint (RFC 7638) in base64url.
    public var thumbprint: String {
        get throws(OAuthError) { try sha256(jwk().jsonText).base64URLEncoded }
    }

    /// Returns a signed JSON Web Token (RFC 7519).
    func token(
        header: [String: String], hasJWK: Bool = false, claims: [String: String], times: [String: Date]
    ) throws(OAuthError) -> String {
        var members = header.merging(["alg": jwsAlgorithm]) { first, _ in first }.sortedMembers
        if hasJWK { members.append("\"jwk\":\(try jwk().jsonText)") }
        let numbers = times.sorted { $0.key < $1.key }.map { name, date in
            "\"\(name)\":\(Int64(date.timeIntervalSince1970.rounded(.down)))"
        }
        let text = [members, claims.sortedMembers + numbers]
            .map { Data("{\($0.joined(separator: ","))}".utf8).base64URLEncoded }
            .joined(separator: ".")
        return "\(text).\(try Self.result(of: { try signature(for: Data(text.utf8)) }).base64URLEncoded)"
    }

    /// The required members of the public key. Other members aren't part of the thumbprint (RFC 7638, section 3.2), and could be
    /// private.
    private func jwk() throws(OAuthError) -> [String: String] {
        let all = try Self.result(of: publicJWK)
        let names: Set<String>
        switch all["kty"] {
        case "EC": names = ["crv", "kty", "x", "y"]
        case "OKP": names = ["crv", "kty", "x"]
        case "RSA": names = ["e", "kty", "n"]
        default: throw .invalidKey("The type (kty) of the public key isn't EC, OKP or RSA.")
        }
        guard names.isSubset(of: all.keys) else {
            throw .invalidKey("The public key requires the members \(names.sorted().joined(separator: ", ")).")
        }
        return all.filter { names.contains($0.key) }
    }

    private static func result<Value>(of function: () throws -> Value) throws(OAuthError) -> Value {
        do {
            return try function()
        } catch let error as OAuthError {
            throw error
        } catch {
            let reason = error.localizedDescription
            throw .invalidKey(error is SignatureKeyError ? reason : "The key can't be used: \(reason)")
        }
    }
}

extension [String: String] {
    /// The members of an object, sorted by their names, without spaces.
    var sortedMembers: [String] {
        sorted { $0.key < $1.key }.map { "\(Self.quoted($0.key)):\(Self.quoted($0.value))" }
    }

    var jsonText: String { "{\(sortedMembers.joined(separator: ","))}" }

    private static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": quoted += "\\\(scalar)"
            case ..." ":
                let digits = String(scalar.value, radix: 16)
                quoted += scalar == " " ? " " : "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }
}
