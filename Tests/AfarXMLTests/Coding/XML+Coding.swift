import AfarXML
import Foundation

/// Decodes a value from XML text.
func decoded<Value: Decodable>(
    _ type: Value.Type = Value.self, _ text: String, _ decoder: XMLDecoder = XMLDecoder()
) throws -> Value {
    try decoder.decode(type, from: Data(text.utf8))
}

/// Encodes a value as XML text without a declaration.
func encoded(_ value: some Encodable, _ encoder: XMLEncoder = XMLEncoder()) throws -> String {
    var encoder = encoder
    encoder.outputFormatting.insert(.withoutDeclaration)
    return try encoder.encodeToString(value)
}

extension DecodingError {
    /// The context of any kind of decoding error.
    var context: Context? {
        switch self {
        case .typeMismatch(_, let context), .valueNotFound(_, let context), .keyNotFound(_, let context),
            .dataCorrupted(let context):
            context
        @unknown default: nil
        }
    }
}
