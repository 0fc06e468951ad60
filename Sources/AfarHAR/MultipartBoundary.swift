import Foundation

/// What stands between the parts of a multipart body (RFC 2046, section 5.1.1). It is another each time.
struct MultipartBoundary {
    private let text: Data

    /// Nil when a media type names none.
    init?(_ type: String) {
        guard type.lowercased().hasPrefix("multipart/"),
            let range = type.range(of: "boundary=", options: .caseInsensitive)
        else { return nil }
        let value = type[range.upperBound...].prefix { $0 != ";" }.trimmingCharacters(in: [" ", "\""])
        guard !value.isEmpty else { return nil }
        text = Data(value.utf8)
    }

    func removed(from body: Data) -> Data { pieces(of: body).reduce(into: Data()) { $0 += $1 } }

    /// The body with each of its parts changed, and what stands around them as it was.
    func changed(_ body: Data, part: (_ head: String, _ content: Data) -> Data) -> Data {
        let end = Data("\r\n--".utf8)
        let pieces = pieces(of: body).map { piece -> Data in
            guard piece.starts(with: "\r\n".utf8), let head = piece.range(of: Data("\r\n\r\n".utf8)) else {
                return piece
            }
            let isWhole = piece.suffix(end.count) == end
            let content = piece[head.upperBound...].dropLast(isWhole ? end.count : 0)
            let changed = part(String(decoding: piece[..<head.lowerBound], as: UTF8.self), content)
            return piece[..<head.upperBound] + changed + (isWhole ? end : Data())
        }
        return Data(pieces.joined(separator: text))
    }

    private func pieces(of body: Data) -> [Data] {
        var rest = body[...]
        var pieces: [Data] = []
        while let range = rest.range(of: text) {
            pieces.append(rest[..<range.lowerBound])
            rest = rest[range.upperBound...]
        }
        return pieces + [rest]
    }
}
