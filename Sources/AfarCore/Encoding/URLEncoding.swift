public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// Parameters as a query: `key=value` pairs in the URL or in a form body.
///
/// Keys are sorted, at every level, so that the same parameters always give the same text. The query that the URL has
/// already is left as it is, and what is added is percent-encoded exactly once.
///
/// There is no standard for collections in a query. Dictionaries become `key[subkey]=value`, arrays `key[]=value` for
/// each element or as `arrayEncoding` says, booleans numbers or as `boolEncoding` says. What is nil or `NSNull` is left
/// out.
public struct URLEncoding: ParameterEncoding {
    /// Where the parameters go.
    public enum Destination: Sendable {
        /// Into the URL for GET, HEAD and DELETE, else into the body.
        case methodDependent
        /// Into the URL.
        case queryString
        /// Into the body.
        case httpBody

        func encodesParametersInURL(for method: HTTPMethod) -> Bool {
            switch self {
            case .methodDependent: method.prefersParametersInURL
            case .queryString: true
            case .httpBody: false
            }
        }
    }

    /// The encoding with the destination `methodDependent`.
    public static var `default`: URLEncoding { URLEncoding() }

    /// The encoding with the destination `queryString`.
    public static var queryString: URLEncoding { URLEncoding(destination: .queryString) }

    /// The encoding with the destination `httpBody`.
    public static var httpBody: URLEncoding { URLEncoding(destination: .httpBody) }

    /// Where the parameters go.
    public let destination: Destination

    /// How arrays are written.
    public let arrayEncoding: ArrayEncoding

    /// How booleans are written.
    public let boolEncoding: BoolEncoding

    /// Makes an encoding.
    public init(
        destination: Destination = .methodDependent,
        arrayEncoding: ArrayEncoding = .brackets,
        boolEncoding: BoolEncoding = .numeric
    ) {
        self.destination = destination
        self.arrayEncoding = arrayEncoding
        self.boolEncoding = boolEncoding
    }

    /// The request with the parameters in its query or body. A content type is set with a body unless there is one.
    ///
    /// - Throws: `AFError.parameterEncodingFailed` if there is no URL for a query or a parameter is nested too deep; what
    ///   the convertible throws.
    public func encode(_ urlRequest: any URLRequestConvertible, with parameters: Parameters?) throws -> URLRequest {
        var request = try urlRequest.asURLRequest()
        guard let parameters else { return request }
        let goesIntoURL = request.method.map(destination.encodesParametersInURL) ?? false
        if goesIntoURL, request.url == nil { throw AFError.parameterEncodingFailed(reason: .missingURL) }
        do {
            try AFError.ParameterNestingError.check(parameters)
            if goesIntoURL {
                request.url = try request.url?.appendingQuery(query(parameters))
            } else {
                request.setBody(
                    Data(query(parameters).utf8), contentType: "application/x-www-form-urlencoded; charset=utf-8")
            }
        } catch {
            throw AFError.parameterEncodingFailed(reason: .customEncodingFailed(error: error))
        }
        return request
    }

    private func query(_ parameters: Parameters) -> String {
        parameters.sorted { $0.key < $1.key }
            .flatMap { components(fromKey: $0.key, value: $0.value) }
            .map { "\($0)=\($1)" }
            .joined(separator: "&")
    }
}

extension URLEncoding {
    /// How the key of an array's element is written.
    public enum ArrayEncoding: Sendable {
        /// `key[]`
        case brackets
        /// `key`
        case noBrackets
        /// `key[0]`, `key[1]` and so on.
        case indexInBrackets
        /// As a closure says.
        @preconcurrency case custom(@Sendable (_ key: String, _ index: Int) -> String)

        func encode(key: String, atIndex index: Int) -> String {
            switch self {
            case .brackets: "\(key)[]"
            case .noBrackets: key
            case .indexInBrackets: "\(key)[\(index)]"
            case .custom(let encode): encode(key, index)
            }
        }
    }

    /// How a boolean is written.
    public enum BoolEncoding: Sendable {
        /// `1` and `0`
        case numeric
        /// `true` and `false`
        case literal

        func encode(value: Bool) -> String {
            switch self {
            case .numeric: value ? "1" : "0"
            case .literal: value ? "true" : "false"
            }
        }
    }

    /// The escaped keys and values that one parameter gives.
    ///
    /// - Parameters:
    ///   - key: The parameter's key, not escaped.
    ///   - value: Its value; a collection gives a pair for each value in it.
    /// - Returns: The pairs; none where collections are nested deeper than ``AFError/ParameterNestingError/limit``.
    public func queryComponents(fromKey key: String, value: Any) -> [(String, String)] {
        AFError.ParameterNestingError.fits(value) ? components(fromKey: key, value: value) : []
    }

    /// The same for a value that is known to fit.
    func components(fromKey key: String, value: Any) -> [(String, String)] {
        if let members = members(of: value, key: key) {
            members.flatMap { components(fromKey: $0.key, value: $0.value) }
        } else {
            [(escape(key), escape(text(of: value)))]
        }
    }

    /// The keys and values in a value that is not one itself; nil for one that is.
    private func members(of value: Any, key: String) -> [(key: String, value: Any)]? {
        switch value {
        case is String: nil
        case let dictionary as [String: Any]:
            dictionary.sorted { $0.key < $1.key }.map { ("\(key)[\($0.key)]", $0.value) }
        case let array as [Any]:
            array.enumerated().map { (arrayEncoding.encode(key: key, atIndex: $0), $1) }
        case is NSNull: []
        case let optional as any OptionalValue: optional.wrapped.map { [(key, $0)] } ?? []
        default: nil
        }
    }

    private func text(of value: Any) -> String {
        switch value {
        case let text as String: text
        case let number as NSNumber where number.isBoolean: boolEncoding.encode(value: number.boolValue)
        case is NSNumber, is any BinaryFloatingPoint: "\(value)".withoutZeroFraction
        default: "\(value)"
        }
    }

    /// The text with everything escaped that has a meaning in a query. See `CharacterSet.afURLQueryAllowed`.
    public func escape(_ string: String) -> String {
        string.addingPercentEncoding(withAllowedCharacters: .afURLQueryAllowed) ?? string
    }
}

extension NSNumber {
    /// Whether this was made of a `Bool`: Foundation keeps one object for each of the two, apart from 1 and 0.
    fileprivate var isBoolean: Bool {
        self === NSNumber(value: true) || self === NSNumber(value: false)
    }
}

extension String {
    /// The text of a number as Foundation writes it on Apple's systems: a whole one without a fraction.
    fileprivate var withoutZeroFraction: String { hasSuffix(".0") ? String(dropLast(2)) : self }
}

/// An optional whose type is not known.
private protocol OptionalValue {
    var wrapped: Any? { get }
}

extension Optional: OptionalValue {
    fileprivate var wrapped: Any? { self }
}

extension CharacterSet {
    /// The characters that may stand in a key or value of a query as they are.
    ///
    /// Of those that RFC 3986 allows in a query all but its delimiters: `/` and `?` may stay, `:#[]@!$&'()*+,;=` are
    /// escaped.
    public static let afURLQueryAllowed = CharacterSet.urlQueryAllowed
        .subtracting(CharacterSet(charactersIn: ":#[]@!$&'()*+,;="))
}
