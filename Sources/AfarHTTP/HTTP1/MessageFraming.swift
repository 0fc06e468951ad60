import AfarTransport
import HTTPTypes

/// Where a response's body ends (RFC 9112, section 6.3), and whether the connection persists after it (section 9.3).
struct MessageFraming {
    enum Body: Equatable {
        case none
        case length(Int64)
        case chunked
        /// The end of the connection ends the body.
        case untilClose
        /// The connection belongs to another protocol.
        case tunnel
    }

    let body: Body
    /// The `Content-Length`, which a response without a body may have, too; nil if there is none that applies.
    let declaredLength: Int64?
    let isPersistent: Bool
    let keepAliveTimeout: Int?

    init(of head: ResponseHead, _ fields: FramingFields, to method: HTTPRequest.Method) throws(HTTP1Error) {
        let isTransferCoded = !fields.transferCodings.isEmpty
        // A Transfer-Encoding overrides a Content-Length (section 6.3, item 3).
        declaredLength = isTransferCoded ? nil : fields.contentLength
        let mayHaveBody = method != .head && head.status != 204 && head.status != 304
        body =
            switch head.status {
            case 101: .tunnel
            case 200..<300 where method == .connect: .tunnel
            case _ where !mayHaveBody: .none
            case _ where isTransferCoded: .chunked
            default: fields.contentLength.map { .length($0) } ?? .untilClose
            }
        if body == .chunked, fields.transferCodings != ["chunked"] {
            throw .malformed(
                "the response has a Transfer-Encoding other than chunked: \(fields.transferCodings.joined(separator: ", "))"
            )
        }
        let isHTTP10 = head.httpVersion == "HTTP/1.0"
        // Another recipient may have framed such a message differently (sections 6.1 and 6.3).
        let isAmbiguous =
            isTransferCoded && (isHTTP10 || fields.contentLength != nil)
            || head.status == 204 && (isTransferCoded || fields.contentLength ?? 0 > 0)
        let wantsClose = fields.connectionOptions.contains("close")
        let keepsAlive = !isHTTP10 || fields.connectionOptions.contains("keep-alive")
        isPersistent = body != .untilClose && body != .tunnel && !isAmbiguous && !wantsClose && keepsAlive
        keepAliveTimeout = fields.keepAliveTimeout
    }
}

/// The fields of a head that decide about framing and about the connection. The others are not looked at.
struct FramingFields {
    private(set) var contentLength: Int64?
    /// The transfer codings in lower case, in order, without `identity`.
    private(set) var transferCodings: [String] = []
    /// The connection options in lower case.
    private(set) var connectionOptions: [String] = []
    private(set) var keepAliveTimeout: Int?
    /// Whether a line that begins with white space may continue the last field. Recipients disagree about such lines, so a field that
    /// decides about framing must not have one.
    private(set) var mayContinue = true

    mutating func note(_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws(HTTP1Error) {
        mayContinue = true
        // No other field has a name of one of these lengths and one of these first letters that is worth a comparison.
        switch (name.count, name[0] | 0x20) {
        case (14, UInt8(ascii: "c")) where name.isEqual(to: "content-length"):
            mayContinue = false
            try noteLength(value)
        case (17, UInt8(ascii: "t")) where name.isEqual(to: "transfer-encoding"):
            mayContinue = false
            transferCodings += Self.elements(of: value).filter { $0 != "identity" }
        case (10, UInt8(ascii: "c")) where name.isEqual(to: "connection"):
            mayContinue = false
            connectionOptions += Self.elements(of: value)
        case (10, UInt8(ascii: "k")) where name.isEqual(to: "keep-alive"):
            keepAliveTimeout =
                Self.elements(of: value).lazy.compactMap { element in
                    element.hasPrefix("timeout=") ? Int(element.dropFirst("timeout=".count)) : nil
                }
                .first { $0 >= 0 }
        default: break
        }
    }

    /// RFC 9110, section 8.6: digits only. A list, or several fields, may repeat the same number.
    private mutating func noteLength(_ value: UnsafeRawBufferPointer) throws(HTTP1Error) {
        let text = String(decoding: value, as: UTF8.self)
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let digits = Self.trimmed(part)
            guard !digits.isEmpty, digits.utf8.allSatisfy(\.isDigit), let number = Int64(digits) else {
                throw .malformed("the response's Content-Length is not a number: \(Self.trimmed(text[...]).prefix(60))")
            }
            guard contentLength == nil || contentLength == number else {
                throw .malformed("the response has two different Content-Lengths")
            }
            contentLength = number
        }
    }

    private static func elements(of value: UnsafeRawBufferPointer) -> [String] {
        String(decoding: value, as: UTF8.self).asciiLowercased.split(separator: ",").map { String(trimmed($0)) }.filter
        { !$0.isEmpty }
    }

    private static func trimmed(_ text: Substring) -> Substring {
        var text = text
        while let first = text.utf8.first, first.isFieldSpace { text.removeFirst() }
        while let last = text.utf8.last, last.isFieldSpace { text.removeLast() }
        return text
    }
}

extension UnsafeRawBufferPointer {
    /// Whether the bytes are this name, which is in lower case, in either case.
    fileprivate func isEqual(to name: StaticString) -> Bool {
        name.withUTF8Buffer { name in elementsEqual(name) { $0.asciiLowercased == $1 } }
    }
}
