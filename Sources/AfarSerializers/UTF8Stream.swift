import AfarCore
import Foundation

/// Makes text of chunks of UTF-8, whole characters at a time.
struct UTF8Stream: Sendable {
    /// The bytes of a character whose rest has not come.
    private let rest = Locked(Data())

    /// The text up to the last character that is whole; nil when there is none.
    func append(_ chunk: Data) -> String? {
        rest.withLock { rest in
            let bytes = rest + chunk
            rest = bytes.suffix(Self.lengthOfPartAtEnd(of: bytes))
            let whole = bytes.dropLast(rest.count)
            return whole.isEmpty ? nil : String(decoding: whole, as: UTF8.self)
        }
    }

    /// What stands for a character whose rest never came; nil when there is none.
    func finish() -> String? {
        rest.withLock { rest in
            defer { rest = Data() }
            return rest.isEmpty ? nil : String(decoding: rest, as: UTF8.self)
        }
    }

    /// The number of bytes at the end that begin a character which needs more (RFC 3629, section 3).
    private static func lengthOfPartAtEnd(of bytes: Data) -> Int {
        for (distance, byte) in bytes.suffix(3).reversed().enumerated() where byte & 0xC0 != 0x80 {
            let length = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC0 ? 2 : 1
            return length > distance + 1 ? distance + 1 : 0
        }
        return 0
    }
}
