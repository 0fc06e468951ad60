import AfarCore
import Foundation

extension JSONStreamError {
    init(_ reason: Reason, _ framing: Framing, _ number: Int) {
        self.init(reason: reason, framing: framing, number: number)
    }

    var asAFError: AFError {
        if case .undecodable = reason { return .responseSerializationFailed(reason: .decodingFailed(error: self)) }
        return .responseSerializationFailed(reason: .customSerializationFailed(error: self))
    }
}

extension DataDecoder {
    /// The value of a line or a record.
    func decode<T: Decodable & Sendable>(
        _ json: Data, as type: T.Type, _ framing: JSONStreamError.Framing, _ number: Int
    ) -> Result<T, AFError> {
        do {
            return .success(try decodeChecked(type, from: json, of: nil))
        } catch {
            return .failure(JSONStreamError(.undecodable(error), framing, number).asAFError)
        }
    }
}

extension Data {
    /// The same without U+FEFF in UTF-8 at the begin.
    var withoutByteOrderMark: Data { starts(with: [0xEF, 0xBB, 0xBF]) ? Data(dropFirst(3)) : self }
}

extension UInt8 {
    /// RFC 8259, section 2.
    var isJSONWhiteSpace: Bool { self == 0x20 || self == 0x0A || self == 0x0D || self == 0x09 }
}
