import Foundation

/// An encoder that writes the parts of a form (RFC 2046, section 5.1.1).
struct MultipartEncoder: Sendable {
    let boundary: String
    let parts: [MultipartPart]
    /// Called before each piece is written. If it throws, writing ends with that error.
    var checkpoint: @Sendable () throws -> Void = {}

    /// The length of the whole encoded form in bytes.
    var length: UInt64 {
        let frame = parts.indices.map { UInt64(delimiter(before: $0).count) }.reduce(UInt64(end.count), +)
        return parts.reduce(frame) { $0.addingClamped(UInt64($1.head.count)).addingClamped($1.length) }
    }

    /// Returns the whole encoded form in memory.
    func data() throws -> Data {
        var data = Data()
        // Limit the capacity, because the specified length can far exceed the actual length.
        data.reserveCapacity(Int(min(length, MultipartFormData.encodingMemoryThreshold)))
        try write { data.append(contentsOf: $0) }
        return data
    }

    /// Writes the form into an open file.
    func write(to descriptor: Int32) throws {
        try write { bytes in
            guard let code = bytes.write(to: descriptor) else { return }
            throw AFError.multipartEncodingFailed(reason: .outputStreamWriteFailed(error: POSIXError(errno: code)))
        }
    }

    private func write(to output: MultipartContent.Sink) throws {
        let sink: MultipartContent.Sink = { piece in
            try checkpoint()
            try output(piece)
        }
        for (index, part) in parts.enumerated() {
            try delimiter(before: index).write(to: sink)
            try part.head.write(to: sink)
            try part.content.write(length: part.length, to: sink)
        }
        try end.write(to: sink)
    }

    private func delimiter(before index: Int) -> Data {
        Data("\(index == 0 ? "" : "\r\n")--\(boundary)\r\n".utf8)
    }

    private var end: Data {
        Data("\(parts.isEmpty ? "" : "\r\n")--\(boundary)--\r\n".utf8)
    }
}

extension UInt64 {
    /// Returns the sum, or the maximum on overflow, because callers can specify any length.
    func addingClamped(_ other: UInt64) -> UInt64 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? .max : sum
    }
}

/// The boundary between the parts of a form.
enum MultipartBoundary {
    /// Whether a caller's text can be a boundary. RFC 2046, section 5.1.1, allows 1 to 70 characters of a certain set. The last
    /// character can't be a space.
    static func isValid(_ text: String) -> Bool {
        (1...70).contains(text.utf8.count) && text.utf8.last != 0x20
            && text.utf8.allSatisfy { $0.isLetter || $0.isDigit || "'()+_,-./:=? ".utf8.contains($0) }
    }

    /// Returns an unpredictable boundary, so that no part can contain it on purpose.
    static func random() -> String {
        let digits = (0..<2).map { _ in String(UInt64.random(in: .min ... .max), radix: 36) }
        return "afar.boundary.\(digits.joined())"
    }
}

/// A part of a form: its headers and the source of its content.
struct MultipartPart: Sendable {
    /// The header lines and the empty line after them.
    let head: Data
    let content: MultipartContent
    /// The length of the content in bytes.
    let length: UInt64

    init(headers: HTTPHeaders, content: MultipartContent, length: UInt64) {
        head = Data((headers.map { "\($0.name): \($0.value)\r\n" }.joined() + "\r\n").utf8)
        self.content = content
        self.length = length
    }

    /// Returns the headers of a form field (RFC 7578, section 4).
    static func headers(name: String, fileName: String?, mimeType: String?) throws -> HTTPHeaders {
        var disposition = "form-data; name=\"\(name.withCRLFLineBreaks.escapedForFormData)\""
        if let fileName { disposition += "; filename=\"\(fileName.escapedForFormData)\"" }
        guard !disposition.utf8.contains(0) else {
            throw failure(AFError.invalidRequest(.invalidHeaderValue(name: "Content-Disposition")))
        }
        var headers: HTTPHeaders = [.contentDisposition(disposition)]
        if let mimeType = mimeType ?? fileName.map(MIMETypes.type(ofFileNamed:)) {
            let contentType = HTTPHeader.contentType(mimeType)
            try validate([contentType])
            headers.add(contentType)
        }
        return headers
    }

    /// Throws an error if a header can't be written safely, for example because of a line break.
    static func validate(_ headers: HTTPHeaders) throws {
        do { try headers.validate() } catch { throw failure(error) }
    }

    private static func failure(_ error: any Error) -> AFError {
        let cause = (error as? AFError)?.invalidRequest ?? error
        return .multipartEncodingFailed(
            reason: .outputStreamWriteFailed(error: AFError.InvalidForm.bodyPartHeadersInvalid(error: cause)))
    }
}

extension String {
    /// This text with all line breaks as CR LF, as the HTML standard specifies for field names.
    fileprivate var withCRLFLineBreaks: String {
        var result = ""
        var previous: Unicode.Scalar?
        for scalar in unicodeScalars {
            switch scalar {
            case "\n": result += previous == "\r" ? "" : "\r\n"
            case "\r": result += "\r\n"
            default: result.unicodeScalars.append(scalar)
            }
            previous = scalar
        }
        return result
    }

    /// This text escaped for a quoted string according to the HTML standard's "multipart/form-data encoding algorithm": only line
    /// breaks and quotes are percent-encoded.
    fileprivate var escapedForFormData: String {
        var result = ""
        for scalar in unicodeScalars {
            switch scalar {
            case "\n": result += "%0A"
            case "\r": result += "%0D"
            case "\"": result += "%22"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}

enum MultipartContent: Sendable {
    case data(Data)
    case file(URL)
    case stream(SingleUseStream)

    /// Receives bytes, in any number of pieces.
    typealias Sink = (UnsafeRawBufferPointer) throws -> Void
    /// Fills a buffer. Returns the number of bytes written to it, or 0 at the end.
    private typealias Reader = (UnsafeMutableRawBufferPointer) throws -> Int

    private static let pieceLength = 65_536

    /// Writes the content, and throws an error if it doesn't have the expected length. A longer stream is read only up to that
    /// length.
    func write(length: UInt64, to sink: Sink) throws {
        switch self {
        case .data(let data):
            try data.write(to: sink)
        case .file(let url):
            let descriptor = open(url.path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
            guard descriptor >= 0 else {
                throw AFError.multipartEncodingFailed(reason: .bodyPartInputStreamCreationFailed(for: url))
            }
            defer { close(descriptor) }
            try Self.copy(length, to: sink) { try read(from: descriptor, into: $0) }
        case .stream(let once):
            let stream = once.take()
            if stream?.streamStatus == .notOpen { stream?.open() }
            defer { stream?.close() }
            var remaining = length
            try Self.copy(length, to: sink) { buffer in
                let slice = UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(Int(clamping: remaining)))
                let count = slice.isEmpty ? 0 : try stream?.read(into: slice) ?? 0
                remaining -= UInt64(count)
                return count
            }
        }
    }

    private static func copy(_ length: UInt64, to sink: Sink, from reader: Reader) throws {
        let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: pieceLength, alignment: 16)
        defer { piece.deallocate() }
        var total: UInt64 = 0
        while true {
            let count: Int
            do { count = try reader(piece) } catch {
                throw AFError.multipartEncodingFailed(reason: .inputStreamReadFailed(error: error))
            }
            total += UInt64(count)
            guard total <= length, count > 0 || total == length else {
                let error = AFError.UnexpectedInputStreamLength(bytesExpected: length, bytesRead: total)
                throw AFError.multipartEncodingFailed(reason: .inputStreamReadFailed(error: error))
            }
            guard count > 0 else { return }
            try sink(UnsafeRawBufferPointer(rebasing: piece[..<count]))
        }
    }

    private func read(from descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        while true {
            let count = Foundation.read(descriptor, buffer.baseAddress, buffer.count)
            if count >= 0 { return count }
            guard errno == EINTR else { throw POSIXError.last }
        }
    }
}

final class SingleUseStream: @unchecked Sendable {
    // @unchecked because only one caller receives the stream.
    private let stream: InputStream
    private let isTaken = Locked(false)

    init(_ stream: InputStream) { self.stream = stream }

    /// Returns the stream on the first call, and nil afterward.
    func take() -> InputStream? {
        isTaken.withLock { Swift.exchange(&$0, with: true) } ? nil : stream
    }
}

extension Data {
    func write(to sink: MultipartContent.Sink) throws { try withUnsafeBytes(sink) }
}

extension POSIXError {
    /// The error of the last failed system call.
    static var last: POSIXError { POSIXError(errno: Foundation.errno) }

    init(errno code: Int32) { self.init(POSIXErrorCode(rawValue: code) ?? .EIO) }
}
