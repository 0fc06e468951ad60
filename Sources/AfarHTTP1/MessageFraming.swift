package import AfarTransport
package import HTTPTypes

/// How the end of a response's body is determined (RFC 9112, section 6.3), and whether the connection persists afterward (section 9.3).
struct MessageFraming {
    enum Body: Equatable {
        case none
        case length(Int64)
        case chunked
        /// The body extends to the end of the connection.
        case untilClose
        /// The connection switches to another protocol.
        case tunnel
    }

    let body: Body
    let isPersistent: Bool
    let keepAliveTimeout: Int?

    init(of head: ResponseHead, _ fields: FramingFields, to method: HTTPRequest.Method) throws(Fault) {
        let isTunnel = head.status == 101 || method == .connect && (200..<300).contains(head.status)
        // A tunnel has no length, regardless of the fields (RFC 9110, section 9.3.6).
        if !isTunnel, let error = fields.lengthError { throw error }
        let isChunked = fields.transferCodings == ["chunked"]
        let canHaveBody = head.canHaveBody(to: method)
        // A Transfer-Encoding overrides a Content-Length (section 6.3, item 3). The coding `identity` is ignored.
        body =
            if isTunnel { .tunnel } else if !canHaveBody { .none } else if !fields.transferCodings.isEmpty {
                .chunked
            } else {
                fields.contentLength.map { .length($0) } ?? .untilClose
            }
        if body == .chunked, !isChunked {
            throw .malformed(
                "the response has a Transfer-Encoding other than chunked: "
                    + Fault.quoted(fields.transferCodings.joined(separator: ", ").utf8))
        }
        let isHTTP10 = head.httpVersion == "HTTP/1.0"
        // Other recipients could determine a different end of this message (sections 6.1 and 6.3).
        let isAmbiguous =
            fields.isAmbiguous
            || fields.hasTransferEncoding && (isHTTP10 || fields.contentLength != nil || canHaveBody && !isChunked)
            || head.status == 204 && fields.framesBody
        let keepsAlive = !isHTTP10 || fields.keepsConnection
        isPersistent = body != .untilClose && body != .tunnel && !isAmbiguous && !fields.closesConnection && keepsAlive
        keepAliveTimeout = fields.keepAliveTimeout
    }
}

extension ResponseHead {
    /// Whether the response to a request can have a body, regardless of its fields (RFC 9110, section 6.4.1).
    package func canHaveBody(to method: HTTPRequest.Method) -> Bool {
        method != .head && status != 204 && status != 304
    }
}

/// The fields that determine the framing and the connection's persistence. Other fields are ignored.
struct FramingFields {
    private enum Kind { case contentLength, transferEncoding, connection, keepAlive, other }

    private(set) var contentLength: Int64?
    /// Why the `Content-Length` is invalid; nil if it is valid.
    private(set) var lengthError: Fault?
    private(set) var hasTransferEncoding = false
    /// The transfer codings in lowercase, in order, without `identity`.
    private(set) var transferCodings: [String] = []
    /// Whether there is a `Connection: close`.
    private(set) var closesConnection = false
    /// Whether there is a `Connection: keep-alive`.
    private(set) var keepsConnection = false
    /// The shortest timeout of all `Keep-Alive` fields, in seconds.
    private(set) var keepAliveTimeout: Int?
    /// Whether other recipients could interpret the head differently. This is true if the head has a folded line, a CR without
    /// LF, a name that isn't a token, or the coding `identity`. The head is accepted, but the connection isn't reused.
    private(set) var isAmbiguous = false
    private var last = Kind.other

    /// Whether the fields declare a body.
    var framesBody: Bool { hasTransferEncoding || lengthError != nil || contentLength ?? 0 > 0 }

    mutating func noteAmbiguity() { isAmbiguous = true }

    mutating func note(_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws(Fault) {
        let bareName = UnsafeRawBufferPointer(rebasing: Self.trimmed(name[...]))
        let kind = Self.kind(of: bareName)
        last = kind
        guard bareName.count == name.count else {
            // Recipients interpret a name with white space in different ways (RFC 9112, section 5.1), so this field must not
            // determine the framing.
            guard kind != .contentLength, kind != .transferEncoding else {
                throw .malformed(
                    "white space precedes a field's colon (RFC 9112, section 5.1): \(Fault.quoted(name))")
            }
            return isAmbiguous = true
        }
        switch kind {
        case .contentLength: noteLength(value)
        case .transferEncoding:
            hasTransferEncoding = true
            for coding in Self.elements(of: value) {
                if coding == "identity" { isAmbiguous = true } else { transferCodings.append(coding) }
            }
        case .connection:
            Self.forEachElement(of: value) { option in
                if option.isEqual(to: "close") { closesConnection = true }
                if option.isEqual(to: "keep-alive") { keepsConnection = true }
            }
        case .keepAlive:
            for element in Self.elements(of: value) where element.hasPrefix("timeout=") {
                let digits = element.dropFirst("timeout=".count)
                guard digits.utf8.allSatisfy(\.isDigit), let seconds = UInt16(digits) else { continue }
                keepAliveTimeout = min(keepAliveTimeout ?? .max, Int(seconds))
            }
        case .other:
            if !bareName.allSatisfy(\.isTokenCharacter) { isAmbiguous = true }
        }
    }

    /// Records a line that begins with whitespace and continues the last field (RFC 9112, section 5.2).
    mutating func continueLast() throws(Fault) {
        guard last != .contentLength, last != .transferEncoding else {
            throw .malformed("a Content-Length or Transfer-Encoding continues on another line (RFC 9112, section 5.2)")
        }
        isAmbiguous = true
    }

    private static func kind(of name: UnsafeRawBufferPointer) -> Kind {
        // Most names can be ruled out by their length or first letter.
        switch (name.count, name.first.map { $0 | 0x20 }) {
        case (14, UInt8(ascii: "c")): name.isEqual(to: "content-length") ? .contentLength : .other
        case (17, UInt8(ascii: "t")): name.isEqual(to: "transfer-encoding") ? .transferEncoding : .other
        case (10, UInt8(ascii: "c")): name.isEqual(to: "connection") ? .connection : .other
        case (10, UInt8(ascii: "k")): name.isEqual(to: "keep-alive") ? .keepAlive : .other
        default: .other
        }
    }

    /// Records a length, which must consist of digits (RFC 9110, section 8.6). The same number can be repeated in a list or in
    /// several fields.
    private mutating func noteLength(_ value: UnsafeRawBufferPointer) {
        Self.forEachElement(of: value) { digits in
            guard lengthError == nil else { return }
            guard digits.allSatisfy(\.isDigit), let number = Int64(String(decoding: digits, as: UTF8.self)) else {
                lengthError = .malformed(
                    "the response's Content-Length is not a number: \(Fault.quoted(Self.trimmed(value[...])))")
                return
            }
            if let contentLength, contentLength != number {
                lengthError = .malformed("the response has two different Content-Lengths")
            }
            contentLength = number
        }
    }

    /// Returns the elements of a list, in lowercase, without empty elements.
    private static func elements(of value: UnsafeRawBufferPointer) -> [String] {
        var elements: [String] = []
        forEachElement(of: value) { element in
            if !element.isEmpty { elements.append(String(decoding: element, as: UTF8.self).asciiLowercased) }
        }
        return elements
    }

    /// Calls a closure with each element of a list, without surrounding whitespace. Elements can be empty.
    private static func forEachElement(of value: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) -> Void) {
        var rest = value[...]
        repeat {
            let element = rest.prefix { $0 != UInt8(ascii: ",") }
            body(UnsafeRawBufferPointer(rebasing: trimmed(element)))
            rest = rest[element.endIndex...]
        } while rest.popFirst() != nil
    }

    /// Removes surrounding whitespace. A CR without LF counts as a space (RFC 9112, section 2.2).
    private static func trimmed(_ bytes: Slice<UnsafeRawBufferPointer>) -> Slice<UnsafeRawBufferPointer> {
        let isSpace = { (byte: UInt8) in byte.isFieldSpace || byte == 0x0D }
        var bytes = bytes.drop(while: isSpace)
        while let last = bytes.last, isSpace(last) { bytes.removeLast() }
        return bytes
    }
}

extension UnsafeRawBufferPointer {
    /// Whether the bytes equal a name, ignoring case. The name must be in lowercase.
    fileprivate func isEqual(to name: StaticString) -> Bool {
        name.withUTF8Buffer { name in elementsEqual(name) { $0.asciiLowercased == $1 } }
    }
}
