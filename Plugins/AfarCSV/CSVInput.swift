import AfarSerializers
import Foundation

/// Makes UTF-8 of a body: in the encoding that is given, else the one that a byte-order mark or the charset of the Content-Type
/// tells, else UTF-8. Bytes that are UTF-8, or should be, stay as they are, but for a byte-order mark.
struct CSVInput: Sendable {
    private enum State {
        /// The first bytes, until there are enough to see a byte-order mark.
        case beginning([UInt8])
        case utf8
        case decoding(TextDecoder)
    }

    private let rules: TextDecoding
    private let contentType: String?
    private var state = State.beginning([])
    /// What the body is in, as far as it is known.
    private(set) var encoding = TextEncoding.utf8

    init(encoding: TextEncoding?, contentType: String?) {
        rules = TextDecoding(encoding: encoding, malformedBytes: .replace)
        self.contentType = contentType
    }

    /// - Throws: A `TextDecodingError` for a charset that is unknown.
    mutating func utf8(of chunk: Data) throws(TextDecodingError) -> Data {
        switch state {
        case .utf8: return chunk
        case .decoding(var decoder):
            // The copy that the state has would make this one copy what it changes.
            state = .utf8
            let text = decoder.decode(chunk)
            state = .decoding(decoder)
            return Data(text.utf8)
        case .beginning(let start):
            guard start.count + chunk.count >= 4 || Self.beginsNoMark(start.first ?? chunk.first) else {
                state = .beginning(start + chunk)
                return Data()
            }
            return try begin(start.isEmpty ? chunk : Data(start + chunk))
        }
    }

    /// - Throws: A `TextDecodingError` for a charset that is unknown.
    mutating func finish() throws(TextDecodingError) -> Data {
        switch state {
        case .utf8: return Data()
        case .decoding(var decoder): return Data(decoder.finish().utf8)
        case .beginning(let start):
            var bytes = try begin(Data(start))
            if case .decoding = state { bytes += try finish() }
            return bytes
        }
    }

    private mutating func begin(_ bytes: Data) throws(TextDecodingError) -> Data {
        encoding = try rules.decode(bytes.prefix(4), contentType: contentType).encoding
        guard encoding == .utf8 else {
            state = .decoding(TextDecoder(encoding))
            return try utf8(of: bytes)
        }
        state = .utf8
        return bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes
    }

    private static func beginsNoMark(_ first: UInt8?) -> Bool {
        first.map { ![0xEF, 0xFE, 0xFF, 0x00].contains($0) } ?? false
    }
}
