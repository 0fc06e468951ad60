/// One header of a request or response: a name and a value.
public struct HTTPHeader: Equatable, Hashable, Sendable {
    /// The name, written as it was given.
    public let name: String
    /// The value.
    public let value: String

    /// Makes a header.
    public init(name: String, value: String) {
        self.name = name
        self.value = value
    }
}

extension HTTPHeader: CustomStringConvertible {
    /// The header in one line, secrets and all; control characters and invisible ones are written as `\u001B`.
    public var description: String {
        TerminalText.line("\(name): \(value)")
    }
}

extension HTTPHeader {
    /// An `Accept` header.
    public static func accept(_ value: String) -> HTTPHeader {
        HTTPHeader(name: "Accept", value: value)
    }

    /// An `Accept-Charset` header.
    public static func acceptCharset(_ value: String) -> HTTPHeader {
        HTTPHeader(name: "Accept-Charset", value: value)
    }

    /// An `Accept-Language` header. `defaultAcceptLanguage` has the user's own languages.
    public static func acceptLanguage(_ value: String) -> HTTPHeader {
        HTTPHeader(name: "Accept-Language", value: value)
    }

    /// An `Accept-Encoding` header. `defaultAcceptEncoding` names what is decoded for you.
    public static func acceptEncoding(_ value: String) -> HTTPHeader {
        HTTPHeader(name: "Accept-Encoding", value: value)
    }

    /// An `Authorization` header with the `Basic` scheme (RFC 7617), in UTF-8.
    ///
    /// A user name with a colon would be another user's to the server, and control characters are not allowed. For these the
    /// header has no credentials: its value is `Basic`. A request that has it fails before anything is sent, with the error
    /// that ``Request/authenticate(username:password:persistence:)`` brings for such a pair: an `AFError.sessionTaskFailed`
    /// with the `URLError` `userAuthenticationRequired`.
    public static func authorization(username: String, password: String) -> HTTPHeader {
        let value = try? BasicAuthentication.authorization(user: username, password: password, url: nil)
        return authorization(value ?? BasicAuthentication.withoutCredentials)
    }

    /// An `Authorization` header with the `Bearer` scheme.
    public static func authorization(bearerToken: String) -> HTTPHeader {
        authorization("Bearer \(bearerToken)")
    }

    /// An `Authorization` header with this whole value, the scheme included.
    public static func authorization(_ value: String) -> HTTPHeader {
        HTTPHeader(name: "Authorization", value: value)
    }

    /// A `Content-Disposition` header.
    public static func contentDisposition(_ value: String) -> HTTPHeader {
        HTTPHeader(name: "Content-Disposition", value: value)
    }

    /// A `Content-Encoding` header.
    public static func contentEncoding(_ value: String) -> HTTPHeader {
        HTTPHeader(name: "Content-Encoding", value: value)
    }

    /// A `Content-Type` header.
    public static func contentType(_ value: String) -> HTTPHeader {
        HTTPHeader(name: "Content-Type", value: value)
    }

    /// A `User-Agent` header.
    public static func userAgent(_ value: String) -> HTTPHeader {
        HTTPHeader(name: "User-Agent", value: value)
    }

    /// A `Sec-WebSocket-Protocol` header.
    public static func websocketProtocol(_ value: String) -> HTTPHeader {
        HTTPHeader(name: "Sec-WebSocket-Protocol", value: value)
    }
}
