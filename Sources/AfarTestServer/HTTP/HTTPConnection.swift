import Foundation

/// Serves the requests of one connection, one after the other, on the connection's own thread.
struct HTTPConnection {
    /// Finds the answer to a request; may block.
    let respond: (ServerRequest) -> ServerResponse
    private let socket: Socket
    private var input: BufferedSocket

    init(socket: Socket, respond: @escaping (ServerRequest) -> ServerResponse) {
        self.socket = socket
        self.respond = respond
        input = BufferedSocket(socket)
    }

    /// Returns when either side has ended the connection.
    mutating func serve() {
        do {
            while let request = try receive() {
                guard try send(respond(request), to: request) else { return }
            }
        } catch let error as MalformedRequest {
            try? refuse(error)
        } catch {
            // The client has left, or the server stops: there is nobody to tell.
        }
    }

    // MARK: Receiving

    private mutating func receive() throws -> ServerRequest? {
        guard let head = try readLine(through: [13, 10, 13, 10], limit: 1 << 18) else { return nil }
        var request = try ServerRequest(head: head)
        let framing = try request.bodyFraming
        if framing != .length(0), request.headers.tokens("Expect").contains("100-continue") {
            try socket.write(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8))
        }
        switch framing {
        case .length(let length):
            try readBody(length, into: &request)
        case .chunked:
            while let size = try readChunkSize() {
                try readBody(size, into: &request)
                guard try input.read(through: [10], limit: 2) == [13, 10] else {
                    throw MalformedRequest(status: 400, reason: "a chunk is longer than its size")
                }
            }
            while let line = try readLine(through: [10], limit: 1 << 16), line != [13, 10] {}
        }
        return request
    }

    private mutating func readBody(_ length: Int, into request: inout ServerRequest) throws {
        var left = length
        while left > 0 {
            let count = try input.read(atMost: left) { bytes in
                request.bodyChecksum.update(bytes)
                request.body.append(contentsOf: bytes.prefix(max(0, ServerRequest.bodyLimit - request.body.count)))
            }
            guard count > 0 else { throw BufferedSocket.Failure.truncated }
            left -= count
        }
    }

    /// The next chunk's size, `nil` for the last chunk.
    private mutating func readChunkSize() throws -> Int? {
        let line = try readLine(through: [10], limit: 1024) ?? []
        let digits = line.prefix { $0 != 59 && $0 != 13 && $0 != 32 }
        guard let size = Int(String(decoding: digits, as: UTF8.self), radix: 16), size >= 0 else {
            throw MalformedRequest(status: 400, reason: "no chunk size")
        }
        return size == 0 ? nil : size
    }

    private mutating func readLine(through terminator: [UInt8], limit: Int) throws -> [UInt8]? {
        do {
            return try input.read(through: terminator, limit: limit)
        } catch BufferedSocket.Failure.tooLong {
            throw MalformedRequest(status: 431, reason: "more than \(limit) bytes")
        }
    }

    // MARK: Sending

    /// Sends the response and returns whether the connection can be used again.
    private func send(_ response: ServerResponse, to request: ServerRequest) throws -> Bool {
        if response.delay > 0, socket.waitForPeer(seconds: response.delay) != .timedOut {
            throw BodyWriter.ClientGone()
        }
        let framing = ResponseFraming(of: response, to: request)
        let writer = BodyWriter(socket: socket, head: framing.head, isChunked: framing.isChunked)
        if framing.hasBody {
            switch response.body {
            case .data(let data): try writer.write(data)
            case .stream(_, let write): try write(writer)
            }
        }
        try writer.finish()
        return framing.keepsAlive && (framing.bodyLength ?? writer.count) == writer.count
    }

    private mutating func refuse(_ error: MalformedRequest) throws {
        let response = ServerResponse.text(error.reason, status: error.status).adding("Connection", "close")
        let request = try ServerRequest(head: Array("GET / HTTP/1.1\r\n".utf8))
        _ = try send(response, to: request)
        // Closing with unread bytes resets the connection, and the client might lose the answer.
        socket.finishWriting()
        while try input.read(atMost: .max) > 0 {}
    }
}
