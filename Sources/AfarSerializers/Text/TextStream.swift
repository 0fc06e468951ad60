import AfarCore
import Foundation
import HTTPTypes

/// Makes text of a streamed body: in the encoding that a byte-order mark or the charset of the head tells, else UTF-8.
struct TextStream: Sendable {
    private let decoder = Locked(TextDecoder(.utf8))

    func begin(_ head: ResponseHead) {
        let label = head.mediaType.charset
        let encoding = label.flatMap { TextEncoding(label: $0) } ?? .utf8
        decoder.withLock { $0 = TextDecoder(encoding, findsByteOrderMarks: true) }
    }

    /// The text up to the last character that is whole; nil when there is none.
    func append(_ chunk: Data) -> String? {
        let text = decoder.withLock { $0.decode(chunk) }
        return text.isEmpty ? nil : text
    }

    /// What stands for a character whose rest never came; nil when there is none.
    func finish() -> String? {
        let text = decoder.withLock { $0.finish() }
        return text.isEmpty ? nil : text
    }
}
