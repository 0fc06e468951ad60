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

/// The fields of a head that decide about framing and about the connection. Other fields are ignored.
struct FramingFields {
    private enum Kind {
        case contentLength
        case transferEncoding
        case connection
        case keepAlive
        case other
    }

    private(set) var contentLength: Int64?
    /// The transfer codings in lower case, in order, without `identity`.
    private(set) var transferCodings: [String] = []
    /// The connection options in lower case.
    private(set) var connectionOptions: [String] = []
    private(set) var keepAliveTimeout: Int?
    private var last = Kind.other

    mutating func note(_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws(HTTP1Error) {
        let bareName = UnsafeRawBufferPointer(rebasing: Self.trimmed(name[...]))
        let kind = Self.kind(of: bareName)
        last = kind
        guard bareName.count == name.count else {
            // Such a field is left out. Recipients disagree about it (RFC 9112, section 5.1), so it must not decide about framing.
            guard kind != .contentLength, kind != .transferEncoding else {
                throw .malformed(
                    "white space precedes a field's colon (RFC 9112, section 5.1): \(HTTP1Error.quoted(name))")
            }
            return
        }
        switch kind {
        case .contentLength: try noteLength(value)
        case .transferEncoding: transferCodings += Self.elements(of: value).filter { $0 != "identity" }
        case .connection: connectionOptions += Self.elements(of: value)
        case .keepAlive:
            let timeouts = Self.elements(of: value).filter { $0.hasPrefix("timeout=") }
            keepAliveTimeout = timeouts.first.flatMap { UInt16($0.dropFirst("timeout=".count)) }.map(Int.init)
        case .other: break
        }
    }

    /// A line that begins with white space continues the last field (RFC 9112, section 5.2).
    mutating func continueLast() throws(HTTP1Error) {
        switch last {
        case .contentLength, .transferEncoding:
            throw .malformed("a Content-Length or Transfer-Encoding continues on another line (RFC 9112, section 5.2)")
        // The options on the other line aren't read, so the connection isn't used again.
        case .connection: connectionOptions.append("close")
        case .keepAlive, .other: break
        }
    }

    private static func kind(of name: UnsafeRawBufferPointer) -> Kind {
        // Most names differ from these in their length or their first letter.
        switch (name.count, name.first.map { $0 | 0x20 }) {
        case (14, UInt8(ascii: "c")): name.isEqual(to: "content-length") ? .contentLength : .other
        case (17, UInt8(ascii: "t")): name.isEqual(to: "transfer-encoding") ? .transferEncoding : .other
        case (10, UInt8(ascii: "c")): name.isEqual(to: "connection") ? .connection : .other
        case (10, UInt8(ascii: "k")): name.isEqual(to: "keep-alive") ? .keepAlive : .other
        default: .other
        }
    }

    /// RFC 9110, section 8.6: digits only. A list, or several fields, may repeat the same number.
    private mutating func noteLength(_ value: UnsafeRawBufferPointer) throws(HTTP1Error) {
        for part in value.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false) {
            let digits = Self.trimmed(part)
            guard !digits.isEmpty, digits.allSatisfy(\.isDigit),
                let number = Int64(String(decoding: digits, as: UTF8.self))
            else {
                throw .malformed(
                    "the response's Content-Length is not a number: \(HTTP1Error.quoted(Self.trimmed(value[...])))")
            }
            guard contentLength == nil || contentLength == number else {
                throw .malformed("the response has two different Content-Lengths")
            }
            contentLength = number
        }
    }

    /// The elements of a list, in lower case.
    private static func elements(of value: UnsafeRawBufferPointer) -> [String] {
        value.split(separator: UInt8(ascii: ",")).map { String(decoding: trimmed($0), as: UTF8.self).asciiLowercased }
            .filter { !$0.isEmpty }
    }

    /// Without white space around it. A CR that no LF follows counts as a space (RFC 9112, section 2.2).
    private static func trimmed(_ bytes: Slice<UnsafeRawBufferPointer>) -> Slice<UnsafeRawBufferPointer> {
        let isSpace = { (byte: UInt8) in byte.isFieldSpace || byte == 0x0D }
        var bytes = bytes.drop(while: isSpace)
        while let last = bytes.last, isSpace(last) { bytes.removeLast() }
        return bytes
    }
}

extension UnsafeRawBufferPointer {
    /// Whether the bytes are this name, which is in lower case, in either case.
    fileprivate func isEqual(to name: StaticString) -> Bool {
        name.withUTF8Buffer { name in elementsEqual(name) { $0.asciiLowercased == $1 } }
    }
}
