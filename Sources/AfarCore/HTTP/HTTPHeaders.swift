package import HTTPTypes

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#else
    public import Foundation
#endif

/// An ordered collection of headers of a request or response, with unique names. Names are compared case-insensitively.
public struct HTTPHeaders: Equatable, Hashable, Sendable {
    private var headers: [HTTPHeader] = []

    /// Creates an empty collection.
    public init() {}

    /// Creates a collection of headers. If several headers have the same name, the last one is used.
    public init(_ headers: [HTTPHeader]) {
        self.headers.reserveCapacity(headers.count)
        for header in headers { update(header) }
    }

    /// Creates a collection from names and values, sorted by name.
    ///
    /// If several names differ only in case, the last one in that order is used.
    public init(_ dictionary: [String: String]) {
        self.init(dictionary.sorted { $0.key < $1.key }.map { HTTPHeader(name: $0.key, value: $0.value) })
    }

    /// Replaces the header with the same name, or appends the header if there is no such header.
    public mutating func add(name: String, value: String) {
        update(HTTPHeader(name: name, value: value))
    }

    /// Replaces the header with the same name, or appends the header if there is no such header.
    public mutating func add(_ header: HTTPHeader) {
        update(header)
    }

    /// Replaces the header with the same name, or appends the header if there is no such header.
    public mutating func update(name: String, value: String) {
        update(HTTPHeader(name: name, value: value))
    }

    /// Replaces the header with the same name, or appends the header if there is no such header.
    public mutating func update(_ header: HTTPHeader) {
        if let index = index(of: header.name) {
            headers[index] = header
        } else {
            headers.append(header)
        }
    }

    /// Removes the header with this name, if there is one.
    public mutating func remove(name: String) {
        guard let index = index(of: name) else { return }
        headers.remove(at: index)
    }

    /// Sorts the headers by name, case-insensitively.
    public mutating func sort() {
        headers.sort { $0.name.lowercased() < $1.name.lowercased() }
    }

    /// Returns the headers sorted by name, case-insensitively.
    public func sorted() -> HTTPHeaders {
        var copy = self
        copy.sort()
        return copy
    }

    /// Returns the value of the header with this name, if there is one.
    public func value(for name: String) -> String? {
        index(of: name).map { headers[$0].value }
    }

    /// The value of the header with this name. Setting nil removes the header.
    public subscript(_ name: String) -> String? {
        get { value(for: name) }
        set {
            if let newValue {
                update(name: name, value: newValue)
            } else {
                remove(name: name)
            }
        }
    }

    /// The values by name, as Foundation's types require them.
    public var dictionary: [String: String] {
        Dictionary(headers.lazy.map { ($0.name, $0.value) }, uniquingKeysWith: { _, last in last })
    }

    private func index(of name: String) -> Int? {
        headers.firstIndex { $0.name.isSameHeaderName(as: name) }
    }
}

extension HTTPHeaders {
    /// The default headers of a session's requests: `Accept-Encoding`, `Accept-Language` if the user's languages are known, and
    /// `User-Agent`. A request's own headers replace them.
    ///
    /// `Accept-Encoding` is ``HTTPHeader/defaultAcceptEncoding``. If a session's configuration has this value, the session
    /// replaces it with the codings that its transport decodes, such as `br, zstd, gzip, deflate`.
    public static let `default`: HTTPHeaders =
        PreferredLanguages.current.isEmpty
        ? [.defaultAcceptEncoding, .defaultUserAgent]
        : [.defaultAcceptEncoding, .defaultAcceptLanguage, .defaultUserAgent]
}

extension HTTPHeaders: ExpressibleByDictionaryLiteral {
    /// Creates a collection from names and values, in the order of the literal.
    public init(dictionaryLiteral elements: (String, String)...) {
        self.init(elements.map { HTTPHeader(name: $0.0, value: $0.1) })
    }
}

extension HTTPHeaders: ExpressibleByArrayLiteral {
    /// Creates a collection of headers, in the order of the literal.
    public init(arrayLiteral elements: HTTPHeader...) {
        self.init(elements)
    }
}

extension HTTPHeaders: Sequence {
    /// Returns an iterator over the headers, in order.
    public func makeIterator() -> IndexingIterator<[HTTPHeader]> {
        headers.makeIterator()
    }
}

extension HTTPHeaders: Collection {
    /// The position of the first header.
    public var startIndex: Int { headers.startIndex }
    /// The position after the last header.
    public var endIndex: Int { headers.endIndex }

    /// The header at a position.
    public subscript(position: Int) -> HTTPHeader { headers[position] }

    /// Returns the position after another position.
    public func index(after i: Int) -> Int { headers.index(after: i) }
}

extension HTTPHeaders: CustomStringConvertible {
    /// The headers, one per line, including secrets. Control characters and invisible characters are escaped, as in `\u001B`.
    public var description: String {
        headers.map(\.description).joined(separator: "\n")
    }
}

extension String {
    /// Returns whether two header names are equal: ASCII letters in any case, all other bytes exactly.
    fileprivate func isSameHeaderName(as other: String) -> Bool {
        utf8.count == other.utf8.count
            && utf8.elementsEqual(other.utf8) { $0.asciiLowercased == $1.asciiLowercased }
    }
}

extension HTTPHeaders {
    /// Throws an error if a header can't be sent unchanged.
    ///
    /// Foundation's `URLRequest` silently drops such headers, so call this method before you add headers to a `URLRequest`.
    ///
    /// - Throws: An ``AFError``: `invalidRequest` with `invalidHeaderName` or `invalidHeaderValue`, or `sessionTaskFailed` if
    ///   ``HTTPHeader/authorization(username:password:)`` couldn't encode the credentials.
    package func validate() throws {
        for header in self { try header.validate() }
    }
}

extension HTTPHeader {
    /// Throws an error if the name isn't a token, the value contains control characters other than tabs, or Basic credentials
    /// couldn't be encoded.
    package func validate() throws {
        guard name.isHTTPToken else {
            throw AFError.invalidRequest(.invalidHeaderName(name))
        }
        guard value.allBytes({ ($0 >= 0x20 && $0 != 0x7F) || $0 == 0x09 }) else {
            throw AFError.invalidRequest(.invalidHeaderValue(name: name))
        }
        guard value == BasicAuthentication.withoutCredentials, name.asciiLowercased == "authorization" else { return }
        let refusal = TransportError.invalidCredential(
            "the user name has a colon or control characters, or the password has control characters", url: nil)
        throw AFError.sessionTaskFailed(error: refusal.urlError)
    }
}

extension HTTPMethod {
    /// Throws an error if the method isn't a token.
    package func validate() throws {
        guard rawValue.isHTTPToken else {
            throw AFError.invalidRequest(.invalidMethod(rawValue))
        }
    }
}

extension HTTPHeaders {
    init(_ fields: HTTPFields) { self.init(fields.map { HTTPHeader(name: $0.name.rawName, value: $0.value) }) }
}

extension HTTPFields {
    /// The maximum number of header fields of a request.
    private static let limit = 1_000

    /// Creates fields from headers after checking that each can be sent unchanged.
    ///
    /// - Throws: ``AFError/InvalidRequest`` in an ``AFError``: `tooManyHeaders`, `invalidHeaderName` or `invalidHeaderValue`.
    package init(checking headers: HTTPHeaders) throws {
        guard headers.count <= Self.limit else {
            throw AFError.invalidRequest(.tooManyHeaders(count: headers.count, limit: Self.limit))
        }
        self.init()
        for header in headers {
            try header.validate()
            guard let name = HTTPField.Name(header.name) else {
                throw AFError.invalidRequest(.invalidHeaderName(header.name))
            }
            append(HTTPField(name: name, value: header.value))
        }
    }
}

extension HTTPURLResponse {
    /// The headers, sorted by name.
    public var headers: HTTPHeaders {
        (allHeaderFields as? [String: String]).map(HTTPHeaders.init) ?? HTTPHeaders()
    }
}

extension URLSessionConfiguration {
    /// The headers that are added to each request, unless the request sets them itself.
    public var headers: HTTPHeaders {
        get { (httpAdditionalHeaders as? [String: String]).map(HTTPHeaders.init) ?? HTTPHeaders() }
        set { httpAdditionalHeaders = newValue.dictionary }
    }
}
