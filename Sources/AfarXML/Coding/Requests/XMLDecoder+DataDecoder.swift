public import AfarCore
public import Foundation
import HTTPTypes

extension XMLDecoder: DataDecoder {
    /// Reads a value from a response's document, in which the charset of the Content-Type outranks the document's own
    /// declaration (RFC 7303, section 3.2).
    ///
    /// - Throws: As ``decode(_:from:contentType:)``.
    public func decode<Value: Decodable>(_ type: Value.Type, from data: Data, of head: ResponseHead?) throws -> Value {
        try decode(type, from: data, contentType: head?.values(for: .contentType).last)
    }
}
