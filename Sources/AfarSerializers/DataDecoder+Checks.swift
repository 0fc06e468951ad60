import AfarCore
import Foundation

extension DataDecoder {
    /// Decodes what came from a server, with what Foundation's decoders lack: byte-order marks and old encodings of JSON,
    /// errors that tell the line, and property lists that would exhaust stack or memory.
    func decodeChecked<T: Decodable>(_ type: T.Type, from data: Data, of head: ResponseHead?) throws -> T {
        switch self {
        case let decoder as JSONDecoder:
            return try JSONText.decode(type, from: data, with: decoder)
        case is PropertyListDecoder:
            do {
                try PropertyListCheck.check(data, allowedFormats: [.xml, .binary])
            } catch {
                throw DecodingError.dataCorrupted(by: error)
            }
            return try decode(type, from: data)
        default:
            return try decode(type, from: data, of: head)
        }
    }
}
