import Foundation

/// Serves the requests of one connection in order, on the connection's own thread.
struct HTTPConnection {
    /// Returns the response to a request. Can block.
    let respond: (ServerRequest) -> ServerResponse
    private let socket: Socket
    private var input: BufferedSocket

    init(socket: Socket, respond: @escaping (ServerRequest) -> ServerResponse) {
        self.socket = socket
        self.respond = respond
        input = BufferedSocket(socket)
    }

    /// Serves requests until either side has ended the connection.
    mutating func serve() {
        do {
            while let request = try receive() {
                guard try send(respond(request), to: request) else { return }
            }
        } catch let error as MalformedRequest {
            try? refuse(error)
        } catch {
            // The client has closed the connection, or the server is stopping.
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

    /// Reads the next chunk's size; `nil` for the last chunk.
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

    /// Sends the response, and returns whether the connection can be reused.
    private func send(_ response: ServerResponse, to request: ServerRequest) throws -> Bool {
        if response.delay > 0, socket.waitForPeer(seconds: response.delay) != .timedOut {
            throw BodyWriter.ClientDisconnected()
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
        // Closing with unread bytes would reset the connection and lose the response.
        socket.finishWriting()
        while try input.read(atMost: .max) > 0 {}
    }
}

// MARK: - Framing

/// The bytes of a response's head, and the framing of its body.
struct ResponseFraming {
    let head: [UInt8]
    let hasBody: Bool
    let isChunked: Bool
    let keepsAlive: Bool
    /// The length of the body that follows, if the head declares it.
    let bodyLength: Int?

    init(of response: ServerResponse, to request: ServerRequest) {
        var headers = response.headers
        let allowsBody = response.status >= 200 && response.status != 204 && response.status != 304
        let length: Int? =
            switch response.body {
            case .data(let data): data.count
            case .stream(let length, _): length
            }
        let isFramed = headers["Content-Length"] != nil || headers["Transfer-Encoding"] != nil
        hasBody = allowsBody && request.method != "HEAD"
        isChunked = hasBody && length == nil && !isFramed && request.version != "HTTP/1.0"
        bodyLength = hasBody ? length : nil
        keepsAlive =
            request.requestsKeepAlive && !headers.tokens("Connection").contains("close")
            && !(hasBody && length == nil && !isChunked)

        if allowsBody && !isFramed {
            if let length {
                headers.append("Content-Length", String(length))
            } else if request.version != "HTTP/1.0" {
                headers.append("Transfer-Encoding", "chunked")
            }
        }
        if headers["Date"] == nil { headers.append("Date", HTTPDate.now) }
        if headers["Connection"] == nil {
            if !keepsAlive {
                headers.append("Connection", "close")
            } else if request.version == "HTTP/1.0" {
                headers.append("Connection", "keep-alive")
            }
        }
        var text = "HTTP/1.1 \(response.status) \(StatusText.phrase(for: response.status))\r\n"
        for field in headers.fields { text += "\(field.name): \(field.value)\r\n" }
        head = Array((text + "\r\n").utf8)
    }
}

// MARK: - Dates

/// Dates in HTTP's format: `Sun, 06 Nov 1994 08:49:37 GMT`.
enum HTTPDate {
    static func text(secondsSince1970: Int) -> String {
        var time = time_t(secondsSince1970)
        var parts = tm()
        gmtime_r(&time, &parts)
        let clock = [parts.tm_hour, parts.tm_min, parts.tm_sec].map { padded($0) }.joined(separator: ":")
        let day = padded(parts.tm_mday)
        return "\(days[Int(parts.tm_wday)]), \(day) \(months[Int(parts.tm_mon)]) \(1900 + parts.tm_year) \(clock) GMT"
    }

    static var now: String { text(secondsSince1970: time(nil)) }

    /// Returns the seconds since 1970, or `nil` if the text isn't a date in this format.
    static func parse(_ text: String) -> Int? {
        let parts = text.split { $0 == " " || $0 == "," || $0 == ":" }
        guard parts.count == 8, let month = months.firstIndex(of: String(parts[2])) else { return nil }
        let numbers = [1, 3, 4, 5, 6].compactMap { Int32(parts[$0]) }
        guard numbers.count == 5, 1900...9999 ~= numbers[1] else { return nil }
        var time = tm()
        time.tm_mday = numbers[0]
        time.tm_mon = Int32(month)
        time.tm_year = numbers[1] - 1900
        time.tm_hour = numbers[2]
        time.tm_min = numbers[3]
        time.tm_sec = numbers[4]
        return timegm(&time)
    }

    private static func padded(_ number: Int32) -> String {
        number < 10 ? "0\(number)" : "\(number)"
    }

    private static let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
}
