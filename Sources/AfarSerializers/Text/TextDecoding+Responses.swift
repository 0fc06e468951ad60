import AfarCore
import Foundation
import HTTPTypes

extension TextDecoding {
    /// Makes text of a response's body.
    func decode(_ bytes: Data, of head: ResponseHead?) throws -> DecodedText {
        do {
            return try decode(bytes, as: head?.mediaType ?? MediaType(nil))
        } catch {
            throw AFError.responseSerializationFailed(
                reason: .textDecodingFailed(encoding: error.encoding?.stringEncoding, error: error))
        }
    }
}

extension TextDecodingError {
    fileprivate var encoding: TextEncoding? {
        if case .malformedBytes(let encoding, _) = reason { encoding } else { nil }
    }
}
