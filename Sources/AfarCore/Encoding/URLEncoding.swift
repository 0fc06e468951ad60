public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// An encoding that writes parameters as a query: `key=value` pairs in the URL or in a form body.
///
/// Keys are sorted at every level, so the same parameters always produce the same text. The URL's existing query is unchanged.
/// Added pairs are percent-encoded exactly once.
///
/// No standard defines how collections are written in a query. Dictionaries are written as `key[subkey]=value`. By default, each
/// element of an array is written as `key[]=value`, and Booleans are written as numbers. To change this, set `arrayEncoding` and
/// `boolEncoding`. Nil and `NSNull` values are omitted.
public struct URLEncoding: ParameterEncoding {
    /// Where the parameters are written.
    public typealias Destination = URLEncodedFormParameterEncoder.Destination
    /// How the key of an array's element is written.
    public typealias ArrayEncoding = URLEncodedFormEncoder.ArrayEncoding
    /// How a Boolean is written.
    public typealias BoolEncoding = URLEncodedFormEncoder.BoolEncoding

    /// The encoding with the destination `methodDependent`.
    public static var `default`: URLEncoding { URLEncoding() }

    /// The encoding with the destination `queryString`.
    public static var queryString: URLEncoding { URLEncoding(destination: .queryString) }

    /// The encoding with the destination `httpBody`.
    public static var httpBody: URLEncoding { URLEncoding(destination: .httpBody) }

    /// Where the parameters are written.
    public let destination: Destination

    /// How arrays are written.
    public let arrayEncoding: ArrayEncoding

    /// How Booleans are written.
    public let boolEncoding: BoolEncoding

    /// Creates an encoding.
    public init(
        destination: Destination = .methodDependent,
        arrayEncoding: ArrayEncoding = .brackets,
        boolEncoding: BoolEncoding = .numeric
    ) {
        self.destination = destination
        self.arrayEncoding = arrayEncoding
        self.boolEncoding = boolEncoding
    }

    /// Returns the request with the parameters in its query or body. If the parameters are in the body, sets a content type
    /// unless the request has one.
    ///
    /// - Throws: `AFError.parameterEncodingFailed` if the request has no URL for the query or a parameter is nested too deeply;
    ///   any error thrown by the convertible.
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
    /// Returns the escaped keys and values of one parameter.
    ///
    /// - Parameters:
    ///   - key: The parameter's unescaped key.
    ///   - value: The parameter's value. A collection has one pair for each value in it.
    /// - Returns: The pairs. There are none if collections are nested deeper than ``AFError/ParameterNestingError/limit``.
    public func queryComponents(fromKey key: String, value: Any) -> [(String, String)] {
        AFError.ParameterNestingError.fits(value) ? components(fromKey: key, value: value) : []
    }

    /// Returns the escaped keys and values of one parameter, without checking the nesting.
    func components(fromKey key: String, value: Any) -> [(String, String)] {
        if let members = members(of: value, key: key) {
            members.flatMap { components(fromKey: $0.key, value: $0.value) }
        } else {
            [(escape(key), escape(text(of: value)))]
        }
    }

    /// Returns the keys and values in a collection or an optional, or nil for any other value.
    private func members(of value: Any, key: String) -> [(key: String, value: Any)]? {
        switch value {
        case is String: nil
        case let dictionary as [String: Any]:
            dictionary.sorted { $0.key < $1.key }.map { ("\(key)[\($0.key)]", $0.value) }
        case let array as [Any]:
            array.enumerated().map { (arrayEncoding.encode(key, atIndex: $0), $1) }
        case is NSNull: []
        case let optional as any OptionalValue: optional.wrapped.map { [(key, $0)] } ?? []
        default: nil
        }
    }

    private func text(of value: Any) -> String {
        switch value {
        case let text as String: text
        case let number as NSNumber where number.isBoolean: boolEncoding.encode(number.boolValue)
        case is NSNumber, is any BinaryFloatingPoint: "\(value)".withoutZeroFraction
        default: "\(value)"
        }
    }

    /// Escapes all characters that have a meaning in a query. See `CharacterSet.afURLQueryAllowed`.
    public func escape(_ string: String) -> String {
        string.addingPercentEncoding(withAllowedCharacters: .afURLQueryAllowed) ?? string
    }
}

extension NSNumber {
    /// Whether this number was created from a `Bool`. Foundation has a shared object for each Boolean, distinct from 1 and 0.
    fileprivate var isBoolean: Bool {
        self === NSNumber(value: true) || self === NSNumber(value: false)
    }
}

extension String {
    /// The text of a number as Foundation writes it on Apple platforms: whole numbers without a fraction.
    fileprivate var withoutZeroFraction: String { hasSuffix(".0") ? String(dropLast(2)) : self }
}

/// An optional of unknown type.
private protocol OptionalValue {
    var wrapped: Any? { get }
}

extension Optional: OptionalValue {
    fileprivate var wrapped: Any? { self }
}

extension CharacterSet {
    /// The characters that are not escaped in a key or value of a query.
    ///
    /// These are the characters that RFC 3986 allows in a query, except for the delimiters `:#[]@!$&'()*+,;=`. `/` and `?` are not
    /// escaped.
    public static let afURLQueryAllowed = CharacterSet.urlQueryAllowed
        .subtracting(CharacterSet(charactersIn: ":#[]@!$&'()*+,;="))
}
