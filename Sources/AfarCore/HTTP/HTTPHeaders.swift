package import HTTPTypes

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#else
    public import Foundation
#endif

/// The headers of a request or response, in order, one for each name. Names are equal whatever their case.
public struct HTTPHeaders: Equatable, Hashable, Sendable {
    private var headers: [HTTPHeader] = []

    /// Makes an empty collection.
    public init() {}

    /// Makes a collection of headers. Of those with the same name the last counts.
    public init(_ headers: [HTTPHeader]) {
        self.headers.reserveCapacity(headers.count)
        for header in headers { update(header) }
    }

    /// Makes a collection of names and values, in the order of the names.
    ///
    /// Of names that differ in case only the last in that order counts.
    public init(_ dictionary: [String: String]) {
        self.init(dictionary.sorted { $0.key < $1.key }.map { HTTPHeader(name: $0.key, value: $0.value) })
    }

    /// Sets a header: in the place of one with the same name, else at the end.
    public mutating func add(name: String, value: String) {
        update(HTTPHeader(name: name, value: value))
    }

    /// Sets a header: in the place of one with the same name, else at the end.
    public mutating func add(_ header: HTTPHeader) {
        update(header)
    }

    /// Sets a header: in the place of one with the same name, else at the end.
    public mutating func update(name: String, value: String) {
        update(HTTPHeader(name: name, value: value))
    }

    /// Sets a header: in the place of one with the same name, else at the end.
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

    /// Sorts the headers by name, whatever the case.
    public mutating func sort() {
        headers.sort { $0.name.lowercased() < $1.name.lowercased() }
    }

    /// The headers sorted by name, whatever the case.
    public func sorted() -> HTTPHeaders {
        var copy = self
        copy.sort()
        return copy
    }

    /// The value of the header with this name, if there is one.
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

    /// The values by name, as Foundation's types want them.
    public var dictionary: [String: String] {
        Dictionary(headers.lazy.map { ($0.name, $0.value) }, uniquingKeysWith: { _, last in last })
    }

    private func index(of name: String) -> Int? {
        headers.firstIndex { $0.name.isSameHeaderName(as: name) }
    }
}

extension HTTPHeaders {
    /// The headers of a session's requests by default: `Accept-Encoding`, `Accept-Language` if the user's languages are known,
    /// and `User-Agent`. A request's own headers replace them.
    ///
    /// `Accept-Encoding` is ``HTTPHeader/defaultAcceptEncoding`` here. A session whose configuration has this value sends the
    /// codings that its transport decodes, such as `br, zstd, gzip, deflate`.
    public static let `default`: HTTPHeaders =
        PreferredLanguages.current.isEmpty
        ? [.defaultAcceptEncoding, .defaultUserAgent]
        : [.defaultAcceptEncoding, .defaultAcceptLanguage, .defaultUserAgent]
}

extension HTTPHeaders: ExpressibleByDictionaryLiteral {
    /// Makes a collection of names and values, in the order written.
    public init(dictionaryLiteral elements: (String, String)...) {
        self.init(elements.map { HTTPHeader(name: $0.0, value: $0.1) })
    }
}

extension HTTPHeaders: ExpressibleByArrayLiteral {
    /// Makes a collection of headers, in the order written.
    public init(arrayLiteral elements: HTTPHeader...) {
        self.init(elements)
    }
}

extension HTTPHeaders: Sequence {
    /// Goes through the headers in order.
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

    /// The position after another.
    public func index(after i: Int) -> Int { headers.index(after: i) }
}

extension HTTPHeaders: CustomStringConvertible {
    /// The headers, one a line, secrets and all; control characters and invisible ones are written as `\u001B`.
    public var description: String {
        headers.map(\.description).joined(separator: "\n")
    }
}

extension String {
    /// Whether two header names are the same: ASCII letters in any case, everything else byte by byte.
    fileprivate func isSameHeaderName(as other: String) -> Bool {
        utf8.count == other.utf8.count
            && utf8.elementsEqual(other.utf8) { $0.asciiLowercased == $1.asciiLowercased }
    }
}

extension HTTPHeaders {
    /// Refuses headers that cannot be sent as they are.
    ///
    /// Foundation's `URLRequest` drops such a header without a word, so this must come before they are put into one.
    ///
    /// - Throws: `AFError.urlRequestValidationFailed` with `invalidHeaderName` or `invalidHeaderValue`;
    ///   `sessionTaskFailed` for what ``HTTPHeader/authorization(username:password:)`` could not write.
    package func validate() throws {
        for header in self { try header.validate() }
    }
}

extension HTTPHeader {
    /// Refuses a name that is no token, a value with control characters other than the tab, and Basic credentials that
    /// could not be written.
    package func validate() throws {
        guard name.isHTTPToken else {
            throw AFError.urlRequestValidationFailed(reason: .invalidHeaderName(name))
        }
        guard value.allBytes({ ($0 >= 0x20 && $0 != 0x7F) || $0 == 0x09 }) else {
            throw AFError.urlRequestValidationFailed(reason: .invalidHeaderValue(name: name))
        }
        guard value == BasicAuthentication.withoutCredentials, name.asciiLowercased == "authorization" else { return }
        let refusal = TransportError.invalidCredential(
            "the user name has a colon or control characters, or the password has control characters", url: nil)
        throw AFError.sessionTaskFailed(error: refusal.urlError)
    }
}

extension HTTPMethod {
    /// Refuses a method that is no token.
    package func validate() throws {
        guard rawValue.isHTTPToken else {
            throw AFError.urlRequestValidationFailed(reason: .invalidMethod(rawValue))
        }
    }
}

extension HTTPHeaders {
    /// The same fields as headers.
    init(_ fields: HTTPFields) { self.init(fields.map { HTTPHeader(name: $0.name.rawName, value: $0.value) }) }
}

extension HTTPFields {
    /// The most header fields that a request may have.
    private static let limit = 1_000

    /// Makes fields of headers after checking that each can be sent as it is.
    ///
    /// - Throws: `AFError.urlRequestValidationFailed` with `tooManyHeaders`, `invalidHeaderName` or `invalidHeaderValue`.
    package init(checking headers: HTTPHeaders) throws {
        guard headers.count <= Self.limit else {
            throw AFError.urlRequestValidationFailed(
                reason: .tooManyHeaders(count: headers.count, limit: Self.limit))
        }
        self.init()
        for header in headers {
            try header.validate()
            guard let name = HTTPField.Name(header.name) else {
                throw AFError.urlRequestValidationFailed(reason: .invalidHeaderName(header.name))
            }
            append(HTTPField(name: name, value: header.value))
        }
    }
}

extension HTTPURLResponse {
    /// The headers, in the order of their names.
    public var headers: HTTPHeaders {
        (allHeaderFields as? [String: String]).map(HTTPHeaders.init) ?? HTTPHeaders()
    }
}

extension URLSessionConfiguration {
    /// The headers that every request gets which does not set them itself.
    public var headers: HTTPHeaders {
        get { (httpAdditionalHeaders as? [String: String]).map(HTTPHeaders.init) ?? HTTPHeaders() }
        set { httpAdditionalHeaders = newValue.dictionary }
    }
}
