import AfarHTTP1
import AfarTransport
import Foundation
import HTTPTypes

/// The unsent bytes of a request: the head, then the body in pieces. A body of unknown length is chunked.
struct RequestOutput {
    enum Progress {
        /// The result of a write.
        case result(StreamResult)
        /// The body's source has no bytes ready.
        case wait
        /// The whole request was sent.
        case end
    }

    /// The maximum size of a body that is copied and sent with the head.
    static let largestInlineBody = 64 * 1024
    private static let pieceSize = 64 * 1024
    /// The number of bytes reserved for a chunk's size line.
    private static let sizeLineLength = 12

    private var buffer: [UInt8]
    /// The part of the buffer that hasn't been sent.
    private var unsent: Range<Int>
    private let feed: BodyFeed?
    private var hasLastPiece: Bool
    /// The number of body bytes that were read from their source.
    private(set) var bodyByteCount: Int64 = 0
    /// The number of bytes that were passed to the operating system, including the head.
    private(set) var byteCount: Int64 = 0

    /// - Parameters:
    ///   - inlineBody: A small body that is sent with the head; nil without a body, or if the body comes from `feed`.
    ///   - feed: The source of a body that is read while it is sent.
    init(head: RequestHead, inlineBody: Data?, feed: BodyFeed?) {
        buffer = head.bytes
        if let inlineBody {
            buffer += inlineBody
            bodyByteCount = Int64(inlineBody.count)
        }
        unsent = 0..<buffer.count
        self.feed = feed
        hasLastPiece = feed == nil
    }

    /// Whether the whole request was sent.
    var isSent: Bool { hasLastPiece && unsent.isEmpty }

    /// Whether the head was sent, but none of the body.
    var isBeforeBody: Bool { !hasLastPiece && unsent.isEmpty && bodyByteCount == 0 }

    /// Sends the next bytes by calling `write` at most once.
    mutating func send(_ write: (UnsafeRawBufferPointer) -> StreamResult) throws(Fault) -> Progress {
        if unsent.isEmpty, !hasLastPiece {
            guard try fill() else { return .wait }
        }
        guard !unsent.isEmpty else { return .end }
        let result = buffer.withUnsafeBytes { write(UnsafeRawBufferPointer(rebasing: $0[unsent])) }
        if case .bytes(let count) = result {
            unsent = (unsent.lowerBound + count)..<unsent.upperBound
            byteCount += Int64(count)
        }
        return .result(result)
    }

    /// Reads a piece of the body. Returns false if no bytes are ready.
    private mutating func fill() throws(Fault) -> Bool {
        guard let feed else { return true }
        let start = Self.sizeLineLength
        let length = start + Self.pieceSize + 2
        if buffer.count != length { buffer = [UInt8](repeating: 0, count: length) }
        let answer = buffer.withUnsafeMutableBytes { buffer in
            let room = UnsafeMutableRawBufferPointer(rebasing: buffer[start..<(length - 2)])
            return Result { () throws(Fault) in try feed.read(into: room) }
        }
        guard case .bytes(let count) = try answer.get() else { return false }
        bodyByteCount += Int64(count)
        unsent = start..<(start + count)
        if feed.length != nil {
            hasLastPiece = count == 0 || bodyByteCount == feed.length
        } else if count > 0 {
            addChunk(count)
        } else {
            buffer = RequestHead.endOfChunkedBody(trailers: try feed.checkedTrailers())
            (unsent, hasLastPiece) = (0..<buffer.count, true)
        }
        return true
    }

    /// Adds the framing of a chunk to the bytes in the buffer (RFC 9112, section 7.1).
    private mutating func addChunk(_ count: Int) {
        let line = Array("\(String(count, radix: 16))\r\n".utf8)
        let (start, end) = (unsent.lowerBound - line.count, unsent.upperBound)
        for (index, byte) in line.enumerated() { buffer[start + index] = byte }
        (buffer[end], buffer[end + 1]) = (0x0D, 0x0A)
        unsent = start..<(end + 2)
    }
}

extension BodyFeed {
    /// Returns the trailer fields, which follow the last chunk.
    ///
    /// - Throws: A fault if a field isn't permitted in trailers.
    func checkedTrailers() throws(Fault) -> HTTPFields {
        let trailers = trailers
        guard let field = trailers.first(where: { $0.name.isForbiddenInTrailers }) else { return trailers }
        throw Fault(.requestBodyFailed, "\(field.name) can't be sent in trailers (RFC 9110, section 6.5.1)")
    }
}

extension Exchange {
    /// The head of the request.
    ///
    /// - Parameters:
    ///   - feed: The source of a body that is read while it is sent.
    ///   - proxy: The proxy that receives the whole request; nil without a proxy, or if the proxy has opened a tunnel.
    func head(feed: BodyFeed?, for proxy: Proxy?) throws(Fault) -> RequestHead {
        let framing: RequestHead.BodyFraming =
            if let feed { feed.length.map { .length($0) } ?? .chunked } else {
                inlineBody.map { .length(Int64($0.count)) } ?? .none
            }
        let defaults = defaultHeadFields
        if case .connection = delivery {
            guard request.method != .connect else { return RequestHead(withoutBytes: .connect) }
            // A tunnel has no response body to encode.
            var (request, fields) = (request, defaults.fields)
            (request.headerFields[.acceptEncoding], fields[.acceptEncoding]) = (nil, nil)
            return try RequestHead(request, defaultFields: DefaultHeadFields(fields))
        }
        // Extended CONNECT doesn't exist in HTTP/1.1.
        if request.extendedConnectProtocol != nil { return RequestHead(withoutBytes: .connect) }
        guard let proxy else { return try RequestHead(request, defaultFields: defaults, body: framing) }
        var request = request
        if !request.headerFields.contains(.proxyAuthorization), !defaults.fields.contains(.proxyAuthorization) {
            request.headerFields[.proxyAuthorization] = proxy.basicAuthorization
        }
        return try RequestHead(request, defaultFields: defaults, target: .absolute, body: framing)
    }

    /// The fields that are sent unless the request has a field of the same name.
    var defaultHeadFields: DefaultHeadFields {
        // Don't use the prepared form here, because it contains an `Accept` field.
        guard !options.omitsAccept else { return DefaultHeadFields(options.defaultFields.fields) }
        return options.defaultFields.prepared { DefaultHeadFields($0.addingAccept) }
    }

    /// The body, if it is sent with the head.
    var inlineBody: Data? {
        guard case .data(let data) = body, data.count <= RequestOutput.largestInlineBody, !expects100Continue else {
            return nil
        }
        return data
    }
}

extension HTTPFields {
    /// These fields with an `Accept` field. Some servers reject requests without this field, so most clients send it.
    fileprivate var addingAccept: HTTPFields {
        contains(.accept) ? self : HTTPFields([HTTPField(name: .accept, value: "*/*")] + self)
    }
}
