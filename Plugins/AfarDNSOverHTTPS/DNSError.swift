public import Foundation

/// The reason why DNS over HTTPS couldn't determine the addresses of a host.
public struct DNSError: Error, Sendable, Hashable {
    /// The kind of the failure.
    public enum Reason: Error, Sendable, Hashable {
        /// The host isn't a valid name for DNS.
        case invalidName
        /// The server reported a failure, such as 2 (SERVFAIL) or 5 (REFUSED). The code is the message's RCODE (RFC 1035, section 4.1.1).
        case failure(responseCode: Int)
        /// The server shortened its message.
        case truncated
        /// The server's message is invalid, for the given reason.
        case malformed(String)
        /// The response isn't a DNS message.
        case unexpectedResponse(status: Int, contentType: String?)
        /// The server's URL can't be used, because it isn't an `https` URL with a host.
        case invalidServer
    }

    /// The kind of the failure.
    public let reason: Reason
    /// The host whose addresses were requested. It is empty for ``Reason/invalidServer``, because the server's URL can be secret.
    public let host: String

    init(_ reason: Reason, _ host: String) { (self.reason, self.host) = (reason, host) }
}

extension DNSError: CustomStringConvertible, LocalizedError {
    private static let codeNames = [1: "FORMERR", 2: "SERVFAIL", 4: "NOTIMP", 5: "REFUSED"]

    /// The failure on one line. It doesn't contain the server's URL, which can be secret.
    public var description: String {
        switch reason {
        case .invalidName: "\"\(host)\" is not a valid name for DNS: a part is empty or too long, or isn't ASCII"
        case .failure(let code):
            "the DNS server reported the failure \(code)\(Self.codeNames[code].map { " (\($0))" } ?? "") for \"\(host)\""
        case .truncated: "the DNS server's message for \"\(host)\" is truncated"
        case .malformed(let reason): "the DNS server's message for \"\(host)\" is malformed: \(reason)"
        case .unexpectedResponse(let status, let contentType):
            "the response for \"\(host)\" is not a DNS message: its status is \(status), and its type is "
                + (contentType.map { "\"\($0)\"" } ?? "missing")
        case .invalidServer:
            "the DNS server's URL must begin with https:// and have a host, such as https://dns.example/dns-query"
        }
    }

    /// The same text as ``description``.
    public var errorDescription: String? { description }
}
