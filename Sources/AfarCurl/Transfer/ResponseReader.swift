package import AfarTransport
import Foundation
package import HTTPTypes

/// Reads a response's heads, trailers and body lengths by the rules that libcurl is too mild about: a pure value.
package struct ResponseReader {
    package enum Event {
        case none
        case informational(ResponseHead)
        case head(ResponseHead)
    }

    /// `HTTPFields` holds no more than 65,535, and traps beyond.
    private static let largestFieldCount = 65_000

    private let url: String
    private let maximumHeadBytes: Int
    private let maximumFieldCount: Int
    private let maximumInformationalResponses: Int

    private var lines: [UInt8] = []
    private var headBytes = 0
    private var fieldCount = 0
    private var informationalCount = 0
    private var framing = FramingFields()
    private(set) var head: ResponseHead?
    /// The body's declared length, after the checks.
    package private(set) var contentLength: Int64?
    /// Whether the end of the connection ends the body (RFC 9112, section 6.3); valid after the head.
    private(set) var bodyEndsWithConnection = false
    /// Whether the body is encoded, once the head is there.
    private(set) var hasContentEncoding = false

    package init(url: String, options: ExchangeOptions) {
        self.url = url
        maximumHeadBytes = options.maximumHeadBytes
        maximumFieldCount = min(options.maximumFieldCount, Self.largestFieldCount)
        maximumInformationalResponses = options.maximumInformationalResponses
    }

    /// Takes one line with its line end, as libcurl hands them over.
    package mutating func receive(line: UnsafeRawBufferPointer) throws(Fault) -> Event {
        headBytes += line.count
        guard headBytes <= maximumHeadBytes else {
            throw Fault(.headTooLarge, "the response's head exceeds \(maximumHeadBytes) bytes")
        }
        let isBlank = line.first == 0x0D || line.first == 0x0A
        // libcurl takes any line that begins with CR for the end of the head.
        guard line.first != 0x0D || line.count == 2 else {
            throw Fault(.malformedResponse, "a line begins with CR, but isn't empty (RFC 9112, section 2.2)")
        }
        if !isBlank {
            if lines.isEmpty { lines.reserveCapacity(512) }
            let isFolded = line.first == 0x20 || line.first == 0x09
            guard !isFolded || fieldCount > (head == nil ? 1 : 0) && framing.mayContinue else {
                throw Fault(
                    .malformedResponse,
                    "a line begins with white space, but may not continue the line before it (RFC 9112, section 5.2)")
            }
            lines.append(contentsOf: line)
            if !isFolded { fieldCount += 1 }
            if head == nil { framing.note(line) }
            guard fieldCount <= maximumFieldCount + 1 else {
                throw Fault(.headTooLarge, "the response's head has more than \(maximumFieldCount) fields")
            }
            return .none
        }
        guard head == nil else { return .none }
        return try completeHead()
    }

    /// The fields that came after the body.
    package var trailers: HTTPFields {
        guard head != nil, !lines.isEmpty else { return HTTPFields() }
        return RawHead(bytes: [0x0A] + lines).fields()
    }

    private mutating func completeHead() throws(Fault) -> Event {
        let (version, status) = try statusLine()
        let complete = ResponseHead(status: status, httpVersion: version, raw: RawHead(bytes: lines), url: url)
        lines = []
        fieldCount = 0
        defer { framing = FramingFields() }
        if status < 200 {
            informationalCount += 1
            guard status != 101 else {
                throw Fault(.malformedResponse, "the server switched protocols (101) without being asked")
            }
            guard informationalCount <= maximumInformationalResponses else {
                throw Fault(
                    .malformedResponse, "more than \(maximumInformationalResponses) informational (1xx) responses")
            }
            return .informational(complete)
        }
        contentLength = framing.isPlain ? framing.contentLength : try declaredLength(of: complete)
        let isChunked = framing.isPlain ? false : try endsWithChunk(complete)
        bodyEndsWithConnection = contentLength == nil && !isChunked
        hasContentEncoding =
            framing.isPlain ? framing.hasContentEncoding : complete.value(for: .contentEncoding) != nil
        head = complete
        return .head(complete)
    }

    /// RFC 9112, section 4: the version, a space, and exactly three digits.
    private func statusLine() throws(Fault) -> (version: String, status: Int) {
        let end = lines.firstIndex { $0 == 0x0D || $0 == 0x0A } ?? lines.endIndex
        let space = lines[..<end].firstIndex(of: 0x20) ?? end
        let digits = lines[space..<end].dropFirst().prefix { $0 != 0x20 }
        guard space < end, lines.starts(with: "HTTP/".utf8), digits.count == 3, digits.first != 0x30,
            digits.allSatisfy(\.isDigit)
        else {
            throw Fault(.malformedResponse, "not a status line: \(Self.quoted(lines[..<end]))")
        }
        let status = digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
        let version = lines[..<space]
        return (version.elementsEqual("HTTP/1.1".utf8) ? "HTTP/1.1" : String(decoding: version, as: UTF8.self), status)
    }

    /// RFC 9110, section 8.6, and RFC 9112, section 6.3: digits only, and all the same. A Transfer-Encoding overrides it.
    private func declaredLength(of head: ResponseHead) throws(Fault) -> Int64? {
        var length: Int64?
        for value in head.values(for: .contentLength) {
            for part in value.split(separator: ",", omittingEmptySubsequences: false) {
                let digits = Self.trimmed(part)
                guard !digits.isEmpty, digits.utf8.allSatisfy(\.isDigit),
                    let number = Int64(digits)
                else {
                    throw Fault(.malformedResponse, "the response's Content-Length is no number: \(value)")
                }
                guard length == nil || length == number else {
                    throw Fault(.malformedResponse, "the response has two different Content-Lengths")
                }
                length = number
            }
        }
        return head.values(for: .transferEncoding).isEmpty ? length : nil
    }

    /// Whether a last chunk ends the body. A server may use another transfer coding only if the request lists it in `TE` (RFC 9112,
    /// sections 6.1 and 7.4), and these requests list none.
    private func endsWithChunk(_ head: ResponseHead) throws(Fault) -> Bool {
        let values = head.values(for: .transferEncoding)
        let codings = values.flatMap { $0.asciiLowercased.split(separator: ",") }.map(Self.trimmed)
            .filter { !$0.isEmpty && $0 != "identity" }
        guard codings.isEmpty || codings == ["chunked"] else {
            throw Fault(
                .malformedResponse,
                "the response has a Transfer-Encoding other than chunked: \(values.joined(separator: ", "))")
        }
        return !codings.isEmpty
    }

    private static func trimmed(_ text: Substring) -> Substring {
        var text = text
        while text.first == " " || text.first == "\t" { text.removeFirst() }
        while text.last == " " || text.last == "\t" { text.removeLast() }
        return text
    }

    private static func quoted(_ bytes: some Collection<UInt8>) -> String {
        "\"" + String(decoding: bytes.prefix(60), as: UTF8.self).filter { !$0.isNewline } + "\""
    }
}
