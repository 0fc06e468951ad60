import Foundation
import HTTPTypes

/// An authentication scheme (RFC 9110, section 11). A session uses the strongest of its schemes that the server offers and that support the
/// credential.
///
/// Implement ``accepts(_:)`` and ``answer(_:user:password:in:)``. The other requirements have default implementations. The methods
/// can be called on any thread, concurrently for several requests, and more than once for a challenge. All methods must return
/// quickly, because the thread that drives the transport's connections calls them. The only exception is
/// ``answer(_:user:password:in:)``, which can be slow if ``takesTime(toAnswer:)`` returns true.
public protocol AuthenticationScheme: Sendable {
    /// Returns a Boolean value that indicates whether a challenge is for this scheme and requires only supported features.
    func accepts(_ challenge: AuthenticationChallenge) -> Bool

    /// Returns a Boolean value that indicates whether the scheme can be used for an exchange. The default is true.
    func isAvailable(for exchange: Exchange) -> Bool

    /// Returns a Boolean value that indicates whether the scheme supports a credential. The default is true.
    ///
    /// If this method returns false, the next weaker scheme is used.
    func accepts(user: String, password: String) -> Bool

    /// Returns a Boolean value that indicates whether answering a challenge can take a long time. The default is true.
    ///
    /// For example, an answer can require hashing the file of the request's body, or reading a key. If this method returns false,
    /// the thread that drives the transport's connections answers the challenge, which saves time.
    func takesTime(toAnswer challenge: AuthenticationChallenge) -> Bool

    /// Returns a Boolean value that indicates whether a challenge only requires the same credential again, for example with a new nonce.
    ///
    /// A request answers at most one such challenge. If the method returns false (the default), the challenge means that the credential was
    /// rejected, and the exchange ends with the 401.
    ///
    /// - Parameters:
    ///   - answered: The challenge that was answered.
    ///   - challenge: The challenge in the response to that answer.
    func renews(_ answered: AuthenticationChallenge, by challenge: AuthenticationChallenge) -> Bool

    /// Adds the answer to a challenge to the next exchange, usually as an `Authorization` field. The user name and the password
    /// don't contain control characters, but can contain quotation marks.
    ///
    /// - Throws: An error, for example if this scheme can't represent the credential. If the error is a ``TransportError``, the
    ///   request fails with it. Any other error becomes the cause of a ``TransportError`` with the code
    ///   ``TransportError/Code-swift.struct/invalidCredential``. The error must not contain any part of the credential.
    func answer(
        _ challenge: AuthenticationChallenge, user: String, password: String, in exchange: inout Exchange) throws
}

// swift-format-ignore: AllPublicDeclarationsHaveDocumentation
extension AuthenticationScheme {
    public func isAvailable(for exchange: Exchange) -> Bool { true }
    public func accepts(user: String, password: String) -> Bool { true }
    public func takesTime(toAnswer challenge: AuthenticationChallenge) -> Bool { true }
    public func renews(_ answered: AuthenticationChallenge, by challenge: AuthenticationChallenge) -> Bool { false }
}

extension TransportError {
    /// Creates the error for a credential that a scheme can't represent. The message must not contain any part of the credential.
    package static func invalidCredential(_ message: String, url: String?) -> TransportError {
        TransportError(.invalidCredential, phase: .queued, url: url, message: message)
    }

    /// Rejects credentials with control characters (RFC 7617, section 2), which could end a header line or a C string.
    static func checkControlCharacters(user: String, password: String, url: String?) throws(TransportError) {
        guard !user.hasControlCharacters, !password.hasControlCharacters else {
            throw .invalidCredential("the user name or the password has control characters", url: url)
        }
    }
}

extension String {
    /// Whether the string contains a character of Unicode's category Cc.
    var hasControlCharacters: Bool { unicodeScalars.contains { $0.properties.generalCategory == .control } }
}

/// The authentication schemes of Afar.
public enum StandardAuthentication: AuthenticationScheme, CaseIterable {
    /// Negotiate (RFC 4559) with the Kerberos ticket of the process. It requires an empty user name and password, and a transport
    /// with ``TransportCapabilities/Features/connectionAuthentication``.
    case negotiate
    /// Digest with SHA-256 (RFC 7616).
    case digestWithSHA256
    /// Digest with MD5 (RFC 7616, RFC 2617, RFC 2069).
    case digestWithMD5
    /// NTLM. It requires a transport with ``TransportCapabilities/Features/connectionAuthentication``.
    case ntlm
    /// Basic (RFC 7617), which sends the password.
    case basic

    var requiresConnectionAuthentication: Bool { self == .negotiate || self == .ntlm }

    private var scheme: any AuthenticationScheme {
        switch self {
        case .negotiate: ConnectionAuthenticationScheme(.negotiate)
        case .digestWithSHA256: DigestAuthentication(.sha256)
        case .digestWithMD5: DigestAuthentication(.md5)
        case .ntlm: ConnectionAuthenticationScheme(.ntlm)
        case .basic: BasicAuthentication()
        }
    }

    /// Returns a Boolean value that indicates whether a challenge is for this scheme and requires only supported features.
    public func accepts(_ challenge: AuthenticationChallenge) -> Bool { scheme.accepts(challenge) }

    /// Returns a Boolean value that indicates whether the scheme can be used for an exchange.
    public func isAvailable(for exchange: Exchange) -> Bool { scheme.isAvailable(for: exchange) }

    /// Returns a Boolean value that indicates whether the scheme supports a credential.
    public func accepts(user: String, password: String) -> Bool { scheme.accepts(user: user, password: password) }

    /// Returns a Boolean value that indicates whether answering a challenge can take a long time. This is the case if the
    /// answer includes a hash of the request's body.
    public func takesTime(toAnswer challenge: AuthenticationChallenge) -> Bool {
        scheme.takesTime(toAnswer: challenge)
    }

    /// Returns a Boolean value that indicates whether a challenge only requires the same credential again.
    public func renews(_ answered: AuthenticationChallenge, by challenge: AuthenticationChallenge) -> Bool {
        scheme.renews(answered, by: challenge)
    }

    /// Answers a challenge in the exchange that is sent next.
    public func answer(
        _ challenge: AuthenticationChallenge, user: String, password: String, in exchange: inout Exchange
    ) throws {
        try scheme.answer(challenge, user: user, password: password, in: &exchange)
    }
}

/// Basic authentication: sends the user name and the password in Base64 (RFC 7617).
package struct BasicAuthentication: AuthenticationScheme {
    package func accepts(_ challenge: AuthenticationChallenge) -> Bool { challenge.scheme == "basic" }

    package func takesTime(toAnswer challenge: AuthenticationChallenge) -> Bool { false }

    package func answer(
        _ challenge: AuthenticationChallenge, user: String, password: String, in exchange: inout Exchange
    ) throws(TransportError) {
        // Most servers accept UTF-8. Normalize only if the server specifies it.
        let isUTF8 = challenge.parameters["charset"]?.lowercased() == "utf-8"
        exchange.request.headerFields[.authorization] = try Self.authorization(
            user: user, password: password, isComposed: isUTF8, url: exchange.url)
    }

    /// A placeholder for invalid credentials, used where an error can't be thrown. A request with this field value is never sent.
    package static let withoutCredentials = "Basic"

    /// Returns the value of the header field.
    ///
    /// - Parameters:
    ///   - isComposed: Whether accents are combined with their letters: Unicode's normalization form C (RFC 7617, section 2.1).
    ///   - url: The URL for error messages.
    /// - Throws: ``TransportError/Code-swift.struct/invalidCredential`` if the user name contains a colon, which would end the
    ///   name, or if the user name or the password contains control characters.
    package static func authorization(
        user: String, password: String, isComposed: Bool = false, url: String?
    ) throws(TransportError) -> String {
        guard !user.utf8.contains(UInt8(ascii: ":")) else {
            throw .invalidCredential(
                "the user name has a colon, which Basic authentication does not support", url: url)
        }
        try TransportError.checkControlCharacters(user: user, password: password, url: url)
        let pair = "\(user):\(password)"
        let bytes = Data((isComposed ? pair.precomposedStringWithCanonicalMapping : pair).utf8)
        return "Basic \(bytes.base64EncodedString())"
    }
}

/// Negotiate and NTLM, which the transport implements.
struct ConnectionAuthenticationScheme: AuthenticationScheme {
    let scheme: ConnectionAuthentication.Scheme

    init(_ scheme: ConnectionAuthentication.Scheme) { self.scheme = scheme }

    func accepts(_ challenge: AuthenticationChallenge) -> Bool { challenge.scheme == scheme.rawValue }

    func takesTime(toAnswer challenge: AuthenticationChallenge) -> Bool { false }

    /// Returns false for HTTP/2 and HTTP/3, because requests of other users would share the authenticated connection. Also returns
    /// false for a connection that switches to another protocol, because such connections aren't authenticated.
    func isAvailable(for exchange: Exchange) -> Bool {
        if case .connection = exchange.delivery { return false }
        return switch exchange.options.httpVersion {
        case .automatic, .http1, .http2: true
        case .http2PriorKnowledge, .http3: false
        }
    }

    /// Negotiate accepts only an empty user name and password. Otherwise, the user of the Kerberos ticket would silently replace the
    /// caller's user.
    func accepts(user: String, password: String) -> Bool {
        switch scheme {
        case .negotiate: user.isEmpty && password.isEmpty
        case .ntlm: !user.isEmpty
        }
    }

    func answer(
        _ challenge: AuthenticationChallenge, user: String, password: String, in exchange: inout Exchange
    ) throws(TransportError) {
        exchange.options.connectionAuthentication = ConnectionAuthentication(
            scheme, user: user, password: password, origin: Origin(exchange.request))
        // The transport sets this field.
        exchange.request.headerFields[.authorization] = nil
        var fields = exchange.options.defaultFields.fields
        guard fields.contains(.authorization) else { return }
        fields[.authorization] = nil
        exchange.options.defaultFields = DefaultFields(fields)
    }
}

/// An authentication challenge that a server offers (RFC 9110, section 11.3).
public struct AuthenticationChallenge: Sendable, Equatable {
    /// The scheme's name in lowercase.
    public let scheme: String
    /// The parameters, with their names in lowercase. If a name occurs twice, the first value counts.
    public private(set) var parameters: [String: String] = [:]
    /// The `token68` text (RFC 9110, section 11.2) that some schemes use instead of parameters.
    public private(set) var token: String?

    private init(scheme: String) {
        self.scheme = scheme
    }

    /// Returns the challenges in the values of `WWW-Authenticate`, in order. A value can contain several challenges, and commas
    /// separate both challenges and parameters (RFC 9110, section 11.6.1). Parsing a value stops at the first syntax error.
    public static func challenges(in values: [String]) -> [AuthenticationChallenge] {
        values.flatMap { value in
            var scanner = FieldScanner(value)
            var challenges: [AuthenticationChallenge] = []
            while scanner.skipToElement(), let word = scanner.token() {
                if scanner.skipEqualsSign() {
                    // A parameter of the previous challenge.
                    guard !challenges.isEmpty, let text = scanner.quotedString() ?? scanner.token() else { break }
                    challenges[challenges.count - 1].add(text, as: word)
                } else {
                    var challenge = AuthenticationChallenge(scheme: word.lowercased())
                    guard scanner.next.map({ $0.isFieldSpace || $0 == UInt8(ascii: ",") }) ?? true else { break }
                    challenge.token = scanner.onlyToken68()
                    challenges.append(challenge)
                }
            }
            return challenges
        }
    }

    private mutating func add(_ value: String, as name: String) {
        let name = name.lowercased()
        if parameters[name] == nil { parameters[name] = value }
    }
}

extension FieldScanner {
    /// Skips the equals sign between a parameter's name and its value. Spaces can surround it.
    fileprivate mutating func skipEqualsSign() -> Bool {
        var ahead = self
        ahead.skipSpaces()
        guard ahead.skip("=") else { return false }
        ahead.skipSpaces()
        self = ahead
        return true
    }

    /// Scans a token68, if it is the only text before the next comma.
    fileprivate mutating func onlyToken68() -> String? {
        var ahead = self
        ahead.skipSpaces()
        guard let token = ahead.token68() else { return nil }
        ahead.skipSpaces()
        guard ahead.next == nil || ahead.next == UInt8(ascii: ",") else { return nil }
        self = ahead
        return token
    }
}
