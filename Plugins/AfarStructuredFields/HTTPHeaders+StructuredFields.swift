public import AfarCore
public import Foundation
public import StructuredFieldValues

#if !StructuredFields
    #error(
        "AfarStructuredFields requires the package trait StructuredFields: .package(url: …, traits: [.defaults, \"StructuredFields\"])"
    )
#endif

extension HTTPHeaders {
    /// Decodes a structured field (RFC 9651), such as `Priority: u=1, i`.
    ///
    /// ```swift
    /// let priority = try response.response?.headers.value(for: "Priority", as: Priority.self)
    /// ```
    ///
    /// - Parameters:
    ///   - name: The name of the field. The case doesn't matter.
    ///   - type: A type that describes the field: an item, a list or a dictionary.
    /// - Returns: The value, or nil if the field is missing.
    /// - Throws: ``StructuredFieldError`` if the field is malformed, has more than 4,096 members and parameters, or doesn't have the
    ///   type's keys and values.
    public func value<Value: StructuredFieldValue>(
        for name: String, as type: Value.Type
    ) throws(StructuredFieldError) -> Value? {
        guard let value = value(for: name) else { return nil }
        do {
            // The parser searches keys linearly, so its time grows with the square of their number.
            guard value.utf8.count(where: { $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: ";") }) < 4_096 else {
                throw StructuredFieldError.TooManyMembers()
            }
            return try StructuredFieldValueDecoder().decode(type, from: Array(value.utf8))
        } catch {
            throw StructuredFieldError(name: name, type: "\(type)", isDecoding: true, underlyingError: error)
        }
    }
}

extension HTTPHeader {
    /// Creates a structured field (RFC 9651).
    ///
    /// ```swift
    /// let headers: HTTPHeaders = [try HTTPHeader(name: "Priority", value: Priority(u: 1, i: true))]
    /// ```
    ///
    /// - Throws: ``StructuredFieldError`` if the format can't represent the value. For example, a key is uppercase, an integer has more
    ///   than 15 digits, or text has characters outside of ASCII.
    public init(name: String, value: some StructuredFieldValue) throws(StructuredFieldError) {
        do {
            let bytes = try StructuredFieldValueEncoder().encode(value)
            self.init(name: name, value: String(decoding: bytes, as: UTF8.self))
        } catch {
            throw StructuredFieldError(
                name: name, type: "\(type(of: value))", isDecoding: false, underlyingError: error)
        }
    }
}

/// A structured field that can't be decoded or encoded. The description doesn't contain the field's value.
public struct StructuredFieldError: Error, LocalizedError, CustomStringConvertible {
    /// The name of the field.
    public let name: String
    private let type: String
    private let isDecoding: Bool
    /// The cause: usually a `StructuredHeaderError` or a `DecodingError`.
    public let underlyingError: any Error

    fileprivate init(name: String, type: String, isDecoding: Bool, underlyingError: any Error) {
        self.name = name
        self.type = type
        self.isDecoding = isDecoding
        self.underlyingError = underlyingError
    }

    /// A human-readable description of the error.
    public var description: String {
        isDecoding
            ? "The field \(name) can't be decoded as \(type): \(underlyingError)."
            : "The \(type) can't be encoded as the structured field \(name): \(underlyingError)."
    }

    /// The same text as `description`.
    public var errorDescription: String? { description }

    struct TooManyMembers: Error, CustomStringConvertible {
        var description: String { "it has more than 4,096 members and parameters" }
    }
}
