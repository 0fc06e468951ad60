import AfarTransport
import Foundation
import HTTPTypes

@testable import AfarHTTP1

/// The parser's output for a response as text, such as "head 200 | body hello | end, reusable".
struct Transcript {
    /// The way the input ends.
    enum EndOfInput {
        case open
        case closed
        /// Closed without the alert that TLS requires.
        case truncated
    }

    private(set) var text = ""

    /// Parses a response.
    ///
    /// - Parameter pieces: The response's bytes. Each piece is passed in a separate buffer.
    init(
        _ pieces: [ArraySlice<UInt8>], method: HTTPRequest.Method = .get, requestsUpgrade: Bool = false,
        endOfInput: EndOfInput = .closed,
        options: ExchangeOptions = ExchangeOptions()
    ) {
        var request = ResponseParser.Request(method: method, url: "http://example.org/")
        request.requestsUpgrade = requestsUpgrade
        var parser = ResponseParser(request, options: options)
        var (entries, body, surplus): ([String], [UInt8]?, [UInt8]) = ([], nil, [])
        func add(_ event: ResponseParser.Event, _ piece: UnsafeRawBufferPointer) {
            switch event {
            case .informational(let head): entries.append("informational \(head.status)")
            case .head(let head):
                let fields = head.fields.map { "\($0.name.rawName)=\($0.value)" }.joined(separator: ",")
                entries.append("head \(head.status)" + (fields.isEmpty ? "" : " \(fields)"))
            case .body(let range): body = (body ?? []) + piece[range]
            case .end:
                if let body { entries.append("body \(String(decoding: body, as: UTF8.self))") }
                body = nil
                let trailers = parser.trailers.map { "\($0.name.rawName)=\($0.value)" }.joined(separator: ",")
                if !trailers.isEmpty { entries.append("trailers \(trailers)") }
                entries.append(
                    parser.switchesProtocol
                        ? "tunnel"
                        : parser.isReusable(remainingByteCount: 0, isRequestSent: true) ? "end, reusable" : "end")
            }
        }
        do {
            for piece in pieces {
                try Array(piece).withUnsafeBytes { piece in
                    var offset = 0
                    while let event = try parser.next(in: piece, at: &offset) { add(event, piece) }
                    surplus += piece[offset...]
                }
            }
            if endOfInput != .open, let event = try parser.receiveEndOfInput(isClean: endOfInput == .closed) {
                add(event, UnsafeRawBufferPointer(start: nil, count: 0))
            }
        } catch let error as Fault {
            // All later calls must fail with the same error.
            for again in 0..<2 {
                var offset = 0
                let next = Result { () throws(Fault) in
                    again == 0
                        ? try parser.next(in: UnsafeRawBufferPointer(start: nil, count: 0), at: &offset)
                        : try parser.receiveEndOfInput(isClean: true)
                }
                guard case .failure(let repeated) = next,
                    (repeated.code, repeated.message) == (error.code, error.message),
                    !parser.isReusable(remainingByteCount: 0, isRequestSent: true)
                else {
                    entries.append("continues after \(error)")
                    continue
                }
            }
            if let body { entries.append("body \(String(decoding: body, as: UTF8.self))") }
            body = nil
            entries.append("\(error.code)")
        } catch {
            entries.append("\(error)")
        }
        if let body { entries.append("body \(String(decoding: body, as: UTF8.self))") }
        if !surplus.isEmpty { entries.append("surplus \(String(decoding: surplus, as: UTF8.self))") }
        text = entries.joined(separator: " | ")
    }
}
