import Foundation

/// A request that cannot be read; it is answered with this status, and the connection ends.
struct MalformedRequest: Error {
    let status: Int
    let reason: String
}

extension ServerRequest {
    /// Parses a request head, from the request line to the blank line.
    init(head: [UInt8]) throws {
        let lines = head.split(separator: 10, omittingEmptySubsequences: true).map { line in
            line.last == 13 ? line.dropLast() : line
        }
        guard let first = lines.first else { throw MalformedRequest(status: 400, reason: "no request line") }
        let parts = first.split(separator: 32).map(Self.text)
        guard parts.count == 3, parts[2].hasPrefix("HTTP/1.") else {
            throw MalformedRequest(status: 400, reason: "not a request line: \(Self.text(first))")
        }
        method = parts[0]
        target = parts[1]
        version = parts[2]
        (path, query) = Self.split(target: parts[1])
        var headers = ServerHeaders()
        for line in lines.dropFirst() where !line.isEmpty {
            guard let colon = line.firstIndex(of: 58), colon > line.startIndex else {
                throw MalformedRequest(status: 400, reason: "not a header line: \(Self.text(line))")
            }
            headers.append(Self.text(line[..<colon]), String(Self.text(line[(colon + 1)...]).trimmingSpaces))
        }
        self.headers = headers
    }

    /// Whether the client means to send more requests on this connection.
    var wantsKeepAlive: Bool {
        let tokens = headers.tokens("Connection")
        return version == "HTTP/1.0" ? tokens.contains("keep-alive") : !tokens.contains("close")
    }

    /// How the body is framed; throws for a framing that is ambiguous.
    var bodyFraming: BodyFraming {
        get throws {
            let lengths = Set(headers.values(of: "Content-Length"))
            let codings = headers.tokens("Transfer-Encoding")
            switch (codings.isEmpty, lengths.first) {
            case (true, nil): return .length(0)
            case (true, let text?):
                guard lengths.count == 1, let length = Int(text), length >= 0 else {
                    throw MalformedRequest(status: 400, reason: "Content-Length is \(lengths.sorted())")
                }
                return .length(length)
            case (false, nil):
                guard codings == ["chunked"] else {
                    throw MalformedRequest(status: 501, reason: "Transfer-Encoding is \(codings)")
                }
                return .chunked
            case (false, _?):
                throw MalformedRequest(status: 400, reason: "both Content-Length and Transfer-Encoding")
            }
        }
    }

    enum BodyFraming: Equatable {
        case length(Int)
        case chunked
    }

    /// The path and the query of a target; a proxy request's absolute URL loses its scheme and host.
    private static func split(target: String) -> (path: String, query: String) {
        var rest = target[...]
        if let scheme = rest.range(of: "://"), !rest.hasPrefix("/") {
            rest = rest[scheme.upperBound...].drop { $0 != "/" && $0 != "?" }
        }
        let parts = rest.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let path = parts.first.map(String.init) ?? ""
        return (path.isEmpty ? "/" : path, parts.count > 1 ? String(parts[1]) : "")
    }

    /// Header bytes are UTF-8 or, failing that, ISO 8859-1, in which every byte is a character.
    private static func text(_ bytes: ArraySlice<UInt8>) -> String {
        String(validating: bytes, as: UTF8.self) ?? String(bytes.map { Character(Unicode.Scalar($0)) })
    }
}
