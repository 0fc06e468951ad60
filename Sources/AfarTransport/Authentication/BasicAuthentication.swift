import Foundation
import HTTPTypes

/// User name and password as they are, in Base64 (RFC 7617).
package struct BasicAuthentication: AuthenticationScheme {
    func accepts(_ challenge: AuthenticationChallenge) -> Bool { challenge.scheme == "basic" }

    func answer(
        _ challenge: AuthenticationChallenge, user: String, password: String, in exchange: inout Exchange
    ) throws(TransportError) {
        // Without a word on the charset, UTF-8 is what most servers take too; composing it is only for those that say so.
        let isUTF8 = challenge.parameters["charset"]?.lowercased() == "utf-8"
        exchange.request.headerFields[.authorization] = try Self.authorization(
            user: user, password: password, isComposed: isUTF8, url: exchange.url)
    }

    /// The value of the header field where credentials cannot be carried and nothing can be thrown. No request that has it
    /// is sent.
    package static let withoutCredentials = "Basic"

    /// The value of the header field.
    ///
    /// - Parameters:
    ///   - isComposed: Whether accents are made one with their letters (RFC 7617, section 2.1).
    ///   - url: The URL to name in errors.
    /// - Throws: ``TransportError/Code-swift.struct/invalidCredential`` for a colon in the user name, which would end it,
    ///   and for control characters.
    package static func authorization(
        user: String, password: String, isComposed: Bool = false, url: String?
    ) throws(TransportError) -> String {
        guard !user.utf8.contains(UInt8(ascii: ":")) else {
            throw .invalidCredential(
                "the user name has a colon, which ends a user name in Basic authentication", url: url)
        }
        try TransportError.checkControlCharacters(user: user, password: password, url: url)
        let pair = "\(user):\(password)"
        let bytes = Data((isComposed ? pair.precomposedStringWithCanonicalMapping : pair).utf8)
        return "Basic \(bytes.base64EncodedString())"
    }
}
