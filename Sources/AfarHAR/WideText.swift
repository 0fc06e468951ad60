import Foundation

/// Text in UTF-16 or UTF-32.
///
/// The byte order mark determines the encoding. Without it, the zeros in the first character do, which is an ASCII character in JSON, XML
/// and forms.
struct WideText {
    private let encoding: String.Encoding
    private let mark: Data
    private let content: Data

    /// Returns `nil` if the encoding of the text extends ASCII, or if it isn't certain that the data is text.
    init?(_ data: Data, _ format: TextFormat) {
        let start = Array(data.prefix(4))
        func matches(_ pattern: [(UInt8) -> Bool]) -> Bool {
            start.count >= pattern.count && zip(pattern, start).allSatisfy { $0($1) }
        }
        func bytes(_ bytes: UInt8...) -> [(UInt8) -> Bool] { bytes.map { byte in { $0 == byte } } }
        let zero: (UInt8) -> Bool = { $0 == 0 }
        let other: (UInt8) -> Bool = { $0 != 0 }
        let encodings: [(String.Encoding, mark: [(UInt8) -> Bool], first: [(UInt8) -> Bool])] = [
            (.utf32LittleEndian, bytes(0xFF, 0xFE, 0, 0), [other, zero, zero, zero]),
            (.utf32BigEndian, bytes(0, 0, 0xFE, 0xFF), [zero, zero, zero, other]),
            (.utf16LittleEndian, bytes(0xFF, 0xFE), [other, zero]),
            (.utf16BigEndian, bytes(0xFE, 0xFF), [zero, other]),
        ]
        guard let match = encodings.first(where: { matches($0.mark) || matches($0.first) }) else { return nil }
        encoding = match.0
        mark = matches(match.mark) ? data.prefix(match.mark.count) : Data()
        content = data.dropFirst(mark.count)
        guard case .unspecified = format, mark.isEmpty else { return }
        guard let first = data.first(where: { !"\0\t\n\r ".utf8.contains($0) }), "{[<".utf8.contains(first) else {
            return nil
        }
    }

    /// Returns the text with its content changed, or `nil` if it is invalid.
    ///
    /// - Parameter change: Receives and returns UTF-8.
    func changed(_ change: (Data) -> Data) -> Data? {
        let width = encoding == .utf16LittleEndian || encoding == .utf16BigEndian ? 2 : 4
        guard content.count % width == 0, let text = String(data: Data(content), encoding: encoding) else { return nil }
        let before = Data(text.utf8)
        let after = change(before)
        if after == before { return mark + content }
        return String(decoding: after, as: UTF8.self).data(using: encoding).map { mark + $0 }
    }
}
