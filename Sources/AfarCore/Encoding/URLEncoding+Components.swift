import Foundation

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
        case custom(@Sendable (_ key: String, _ index: Int) -> String)

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
    /// - Returns: The pairs; none where collections are nested deeper than ``AFError/ParametersNestedTooDeep/limit``.
    public func queryComponents(fromKey key: String, value: Any) -> [(String, String)] {
        AFError.ParametersNestedTooDeep.fits(value) ? components(fromKey: key, value: value) : []
    }

    /// The same for a value that is known to fit.
    func components(fromKey key: String, value: Any) -> [(String, String)] {
        switch value {
        case let text as String:
            [(escape(key), escape(text))]
        case let dictionary as [String: Any]:
            dictionary.sorted { $0.key < $1.key }
                .flatMap { components(fromKey: "\(key)[\($0.key)]", value: $0.value) }
        case let array as [Any]:
            array.enumerated().flatMap { index, element in
                components(fromKey: arrayEncoding.encode(key: key, atIndex: index), value: element)
            }
        case let number as NSNumber where number.isBoolean:
            [(escape(key), escape(boolEncoding.encode(value: number.boolValue)))]
        case is NSNull:
            []
        case let optional as any OptionalValue:
            optional.wrapped.map { components(fromKey: key, value: $0) } ?? []
        default:
            [(escape(key), escape("\(value)"))]
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

/// An optional whose type is not known.
private protocol OptionalValue {
    var wrapped: Any? { get }
}

extension Optional: OptionalValue {
    fileprivate var wrapped: Any? { self }
}
