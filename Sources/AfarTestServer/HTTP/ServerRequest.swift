public import Foundation

/// A request that a ``TestServer`` has received, body included.
public struct ServerRequest: Sendable {
    /// A name and a value of the query or of a form.
    public struct Argument: Sendable, Equatable {
        /// The name, decoded.
        public let name: String
        /// The value, decoded; empty where no `=` follows the name.
        public let value: String
    }

    /// How many bytes of a body are kept in ``body``: 16 MiB. What follows is counted and summed, not held.
    public static let bodyLimit = 16 << 20

    /// The method as sent.
    public let method: String
    /// The request target as sent.
    public let target: String
    /// The path as sent, still percent-encoded.
    public let path: String
    /// The query as sent, without the question mark; empty when there is none.
    public let query: String
    /// The protocol version, as in `HTTP/1.1`.
    public let version: String
    /// The header fields as sent.
    public let headers: ServerHeaders
    /// The body, at most its first ``bodyLimit`` bytes.
    public internal(set) var body = Data()
    /// The length of the whole body in bytes.
    public var bodyLength: Int { bodyChecksum.count }
    /// The checksum over the whole body.
    public internal(set) var bodyChecksum = BodyChecksum()
    /// The decoded path segments that stand for `{names}` in the route's pattern.
    public internal(set) var parameters: [String: String] = [:]

    /// The query's arguments in order, decoded as a form is: `+` is a space.
    public var arguments: [Argument] { Self.decodeForm(query) }

    /// The body as text, or `nil` when it is not UTF-8 or not wholly kept.
    public var text: String? {
        body.count == bodyLength ? String(data: body, encoding: .utf8) : nil
    }

    /// The first argument of that name, if any.
    func argument(_ name: String) -> String? {
        arguments.first { $0.name == name }?.value
    }

    /// The media type without its parameters, lowercased.
    var mediaType: String {
        let value = headers["Content-Type"] ?? ""
        return value.prefix { $0 != ";" }.trimmingSpaces.lowercased()
    }

    static func decodeForm(_ text: String) -> [Argument] {
        text.split(separator: "&").map { pair in
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map { part in
                let spaced = String(part.map { $0 == "+" ? " " : $0 })
                return spaced.removingPercentEncoding ?? spaced
            }
            return Argument(name: parts[0], value: parts.count > 1 ? parts[1] : "")
        }
    }
}
