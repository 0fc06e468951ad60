import Foundation

/// Answers the requests to a loopback socket until the expected redirect arrives. It blocks its thread.
struct LoopbackLoop: Sendable {
    /// The maximum size of a request's head in bytes.
    private static let largestHead = 16 << 10
    /// The maximum number of open connections. Browsers open some connections without using them.
    private static let maximumConnections = 16
    /// How long a connection can wait for its request.
    private static let connectionTimeout = Duration.seconds(10)

    private struct Connection {
        let descriptor: Int32
        let deadline: ContinuousClock.Instant
        var head = Data()
    }

    private let socket: LoopbackSocket
    private let authority: String
    private let path: String
    private let accepts: @Sendable (URL) -> Bool
    private let page: String

    init(
        socket: LoopbackSocket, path: String, accepts: @escaping @Sendable (URL) -> Bool, page: String
    ) throws(OAuthError) {
        guard socket.take() else { throw .listenerFailed("It has been used. Create a new one for each authorization.") }
        self.socket = socket
        authority = socket.authority
        self.path = path
        self.accepts = accepts
        self.page = page
    }

    func run(timeout: Duration) -> Result<URL, OAuthError> {
        let end = ContinuousClock.now + timeout
        var connections: [Connection] = []
        defer {
            for connection in connections { close(connection.descriptor) }
            // This refuses browsers that connect later. Otherwise, they would wait until the process ends.
            socket.stopListening()
        }
        while true {
            let now = ContinuousClock.now
            guard now < end else { return .failure(.redirectTimedOut) }
            connections.removeAll { connection in
                guard connection.deadline <= now else { return false }
                close(connection.descriptor)
                return true
            }
            let canAccept = connections.count < Self.maximumConnections
            var events =
                [pollfd(fd: socket.wakeReader, events: Int16(POLLIN), revents: 0)]
                + [pollfd(fd: canAccept ? socket.descriptor : -1, events: Int16(POLLIN), revents: 0)]
                + connections.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
            let next = connections.map(\.deadline).reduce(end, min)
            let milliseconds = min((next - now) / .milliseconds(1) + 1, 60_000)
            let count = poll(&events, nfds_t(events.count), Int32(milliseconds))
            guard count >= 0 || errno == EINTR else {
                return .failure(.listenerFailed(String(cString: strerror(errno))))
            }
            guard count > 0 else { continue }
            if events[0].revents != 0 { return .failure(.listenerFailed("It was closed.")) }
            var ended: Set<Int32> = []
            for index in connections.indices where events[index + 2].revents != 0 {
                switch read(&connections[index]) {
                case .incomplete: break
                case .ended: ended.insert(connections[index].descriptor)
                case .complete(let head):
                    let (response, redirect) = answer(to: head)
                    send(response, to: connections[index].descriptor)
                    if let redirect { return .success(redirect) }
                    ended.insert(connections[index].descriptor)
                }
            }
            connections.removeAll { ended.contains($0.descriptor) }
            for descriptor in ended { close(descriptor) }
            guard events[1].revents != 0 else { continue }
            if let connection = accept() {
                connections.append(connection)
            } else if errno != EAGAIN, errno != EINTR, errno != ECONNABORTED {
                // No descriptors are left. The connection stays in the queue.
                poll(nil, 0, 10)
            }
        }
    }

    // MARK: Connections

    private enum Progress {
        case incomplete
        case complete(String)
        case ended
    }

    private func accept() -> Connection? {
        let descriptor = Foundation.accept(socket.descriptor, nil, nil)
        guard descriptor >= 0 else { return nil }
        LoopbackSocket.configure(descriptor)
        #if canImport(Darwin)
            var enabled: Int32 = 1
            setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &enabled, socklen_t(MemoryLayout<Int32>.size))
        #endif
        return Connection(descriptor: descriptor, deadline: .now + Self.connectionTimeout)
    }

    private func read(_ connection: inout Connection) -> Progress {
        var bytes = [UInt8](repeating: 0, count: 4_096)
        let count = Foundation.read(connection.descriptor, &bytes, bytes.count)
        if count < 0, errno == EAGAIN || errno == EINTR { return .incomplete }
        guard count > 0 else { return .ended }
        connection.head += bytes.prefix(count)
        if let end = connection.head.firstRange(of: Data("\r\n\r\n".utf8)) {
            return .complete(String(decoding: connection.head[..<end.lowerBound], as: UTF8.self))
        }
        guard connection.head.count <= Self.largestHead else {
            send(
                Self.response("431 Request Header Fields Too Large", "The request is too large."),
                to: connection.descriptor)
            return .ended
        }
        return .incomplete
    }

    /// Sends a short response, which fits into the socket's buffer.
    private func send(_ response: Data, to descriptor: Int32) {
        response.withUnsafeBytes { bytes in
            #if canImport(Darwin)
                _ = Foundation.send(descriptor, bytes.baseAddress, bytes.count, 0)
            #else
                _ = Foundation.send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
            #endif
        }
        shutdown(descriptor, Int32(SHUT_WR))
    }

    // MARK: Requests

    /// Returns the response to a request, and the redirect if it is the expected one.
    private func answer(to head: String) -> (response: Data, redirect: URL?) {
        let lines = head.split(separator: "\r\n", omittingEmptySubsequences: false)
        let words = lines[0].split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 3, words[2].hasPrefix("HTTP/1."), words[1].hasPrefix("/") else {
            return (Self.response("400 Bad Request", "The request is malformed."), nil)
        }
        // A web page can make a browser send requests for another host name to this address.
        let hosts = lines.dropFirst().compactMap { line -> String? in
            let parts = line.split(separator: ":", maxSplits: 1)
            guard parts.count == 2, parts[0].lowercased() == "host" else { return nil }
            return parts[1].trimmingCharacters(in: .whitespaces).lowercased()
        }
        // Browsers omit the default port.
        guard hosts == [authority] || hosts.map({ $0 + ":80" }) == [authority] else {
            return (Self.response("400 Bad Request", "The request is for another host."), nil)
        }
        guard words[1].prefix(while: { $0 != "?" }) == path else {
            return (Self.response("404 Not Found", "This page doesn't exist."), nil)
        }
        guard words[0] == "GET" else {
            return (Self.response("405 Method Not Allowed", "The method isn't supported.", "Allow: GET\r\n"), nil)
        }
        guard let url = URL(string: "http://\(authority)\(words[1])"), accepts(url) else {
            return (Self.response("400 Bad Request", "This redirect doesn't belong to the current authorization."), nil)
        }
        return (Self.response("200 OK", page), url)
    }

    private static func response(_ status: String, _ body: String, _ field: String = "") -> Data {
        Data(
            """
            HTTP/1.1 \(status)\r
            Content-Type: text/html; charset=utf-8\r
            Content-Length: \(body.utf8.count)\r
            Cache-Control: no-store\r
            Content-Security-Policy: default-src 'none'; style-src 'unsafe-inline'\r
            Referrer-Policy: no-referrer\r
            X-Content-Type-Options: nosniff\r
            Connection: close\r
            \(field)\r
            \(body)
            """.utf8)
    }
}
