import Foundation
import HTTPTypes

/// A way of proving who is asking (RFC 9110, section 11). ``AuthenticationStage`` takes the first of those it knows that the
/// server offers and that is one for the credential.
protocol AuthenticationScheme: Sendable {
    /// Whether a challenge is one of this scheme, and demands nothing that is unknown here.
    func accepts(_ challenge: AuthenticationChallenge) -> Bool

    /// Whether a credential is one for this scheme.
    func accepts(user: String, password: String) -> Bool

    /// Whether answering takes long: the request's body has to be read for it.
    func readsBody(for challenge: AuthenticationChallenge) -> Bool

    /// Whether a challenge that comes after an answer only wants the same credential once more.
    func renews(_ answered: AuthenticationChallenge, by challenge: AuthenticationChallenge) -> Bool

    /// Puts what answers a challenge into the exchange that is sent next.
    ///
    /// - Throws: ``TransportError/Code-swift.struct/invalidCredential`` when this scheme cannot carry the credential.
    func answer(
        _ challenge: AuthenticationChallenge, user: String, password: String, in exchange: inout Exchange
    ) throws(TransportError)
}

extension AuthenticationScheme {
    func accepts(user: String, password: String) -> Bool { true }

    func readsBody(for challenge: AuthenticationChallenge) -> Bool { false }

    func renews(_ answered: AuthenticationChallenge, by challenge: AuthenticationChallenge) -> Bool { false }
}

extension TransportError {
    /// The error for a credential that a scheme cannot carry. The message must not have any of it.
    package static func invalidCredential(_ message: String, url: String?) -> TransportError {
        TransportError(.invalidCredential, phase: .queued, url: url, message: message)
    }

    /// Refuses credentials with control characters (RFC 7617, section 2): in a header they would end a line, and in C a text.
    static func checkControlCharacters(user: String, password: String, url: String?) throws(TransportError) {
        guard !user.hasControlCharacters, !password.hasControlCharacters else {
            throw .invalidCredential("the user name or the password has control characters", url: url)
        }
    }
}

extension String {
    /// Whether there is a character of Unicode's category Cc.
    var hasControlCharacters: Bool { unicodeScalars.contains { $0.properties.generalCategory == .control } }
}

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

/// Negotiate and NTLM, which the transport carries out.
struct ConnectionAuthenticationScheme: AuthenticationScheme {
    let scheme: ConnectionAuthentication.Scheme

    init(_ scheme: ConnectionAuthentication.Scheme) { self.scheme = scheme }

    func accepts(_ challenge: AuthenticationChallenge) -> Bool { challenge.scheme == scheme.rawValue }

    /// A Kerberos ticket has a user name of its own, which must not replace one that the caller gave.
    func accepts(user: String, password: String) -> Bool {
        switch scheme {
        case .negotiate: user.isEmpty && password.isEmpty
        case .ntlm: !user.isEmpty
        }
    }

    func answer(
        _ challenge: AuthenticationChallenge, user: String, password: String, in exchange: inout Exchange
    ) throws(TransportError) {
        try TransportError.checkControlCharacters(user: user, password: password, url: exchange.url)
        exchange.options.connectionAuthentication = ConnectionAuthentication(
            scheme, user: user, password: password)
        // The transport writes this field.
        exchange.request.headerFields[.authorization] = nil
        var fields = exchange.options.defaultFields.fields
        guard fields.contains(.authorization) else { return }
        fields[.authorization] = nil
        exchange.options.defaultFields = DefaultFields(fields)
    }
}
