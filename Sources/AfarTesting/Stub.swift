import AfarCore
import Foundation
public import HTTPTypes

/// What a ``MockTransport`` answers to requests of one kind.
///
/// ```swift
/// let mock = MockTransport(stubs: [
///     Stub(.get, "https://api.example.com/users/{id}", .status(503), .json(["name": "Ada"])),
///     Stub(.post, "/orders", .status(201)),
/// ])
/// ```
public struct Stub: Sendable {
    /// The method; nil for any.
    public let method: HTTPRequest.Method?
    /// The URL's pattern: a path, or a whole URL. `{name}` stands for one segment of the path, a last `*` for any rest of it.
    /// Without a query it fits any.
    public let pattern: String
    private let url: URLPattern
    private let responses: [MockResponse]

    /// Makes a stub.
    ///
    /// - Parameters:
    ///   - method: The method; nil for any.
    ///   - pattern: A path such as `/users/{id}`, or a whole URL. `{name}` stands for one segment of the path, a last `*` for
    ///     any rest of it. Without a query it fits any.
    ///   - response: The first response.
    ///   - others: The following ones, in order. The last stays.
    public init(
        _ method: HTTPRequest.Method?, _ pattern: String, _ response: MockResponse, _ others: MockResponse...
    ) {
        self.method = method
        self.pattern = pattern
        url = URLPattern(pattern)
        responses = [response] + others
    }

    func matches(_ request: MockRequest) -> Bool {
        (method == nil || method == request.method) && url.matches(request.url)
    }

    /// The response to the request with this number, from 0.
    func response(_ number: Int) -> MockResponse { responses[min(number, responses.count - 1)] }
}

extension Stub: CustomStringConvertible {
    /// The method and the pattern: `GET /users/{id}`.
    public var description: String { "\(method?.rawValue ?? "any method") \(pattern)" }
}

/// A path, or a whole URL, with places for anything.
private struct URLPattern: Sendable {
    /// The scheme and the authority; nil for any.
    private let origin: Substring?
    private let segments: [Substring]
    private let query: Substring?

    init(_ text: String) { (origin, segments, query) = Self.split(text) }

    func matches(_ url: String) -> Bool {
        let (origin, path, query) = Self.split(url)
        if let own = self.origin, own.lowercased() != origin?.lowercased() { return false }
        if let own = self.query, own != query { return false }
        let isOpen = segments.last == "*"
        let fixed = isOpen ? segments.dropLast() : segments[...]
        guard isOpen ? path.count >= fixed.count : path.count == fixed.count else { return false }
        return zip(fixed, path).allSatisfy { own, segment in own.isPlace ? !segment.isEmpty : own == segment }
    }

    private static func split(_ text: String) -> (origin: Substring?, segments: [Substring], query: Substring?) {
        let parts = text.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        var path = parts[0]
        var origin: Substring?
        if let scheme = path.range(of: "://") {
            let end = path[scheme.upperBound...].firstIndex(of: "/") ?? path.endIndex
            (origin, path) = (path[..<end], path[end...])
        }
        let segments = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst(path.isEmpty ? 0 : 1)
        return (origin, segments.isEmpty ? [""] : Array(segments), parts.count > 1 ? parts[1] : nil)
    }
}

extension Substring {
    fileprivate var isPlace: Bool { hasPrefix("{") && hasSuffix("}") }
}
