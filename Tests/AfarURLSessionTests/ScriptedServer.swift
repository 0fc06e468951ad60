import Foundation
import Glibc

/// A TCP server on the loopback interface. It runs a script on a dedicated thread for each connection.
final class ScriptedServer: Sendable {
    /// One accepted connection.
    struct Connection {
        let descriptor: Int32

        /// Reads the head of a request and the body according to its Content-Length. Returns `nil` if the peer has
        /// closed the connection.
        func readRequest() -> String? {
            var bytes: [UInt8] = []
            while true {
                let text = String(decoding: bytes, as: UTF8.self)
                if let end = text.range(of: "\r\n\r\n") {
                    let length = text.lowercased().firstMatch(of: /content-length: (\d+)/).flatMap { Int($0.1) } ?? 0
                    let rest = length - text[end.upperBound...].utf8.count
                    if rest <= 0 { return text }
                }
                guard let more = read(65536) else { return nil }
                bytes += more
            }
        }

        /// Reads at most `count` available bytes. Returns `nil` at the end.
        func read(_ count: Int) -> [UInt8]? {
            var buffer = [UInt8](repeating: 0, count: count)
            var received: Int
            repeat { received = Glibc.recv(descriptor, &buffer, count, 0) } while received < 0 && errno == EINTR
            return received > 0 ? Array(buffer.prefix(received)) : nil
        }

        func send(_ text: String) { send(Array(text.utf8)) }

        @discardableResult
        func send(_ bytes: [UInt8]) -> Bool {
            var sent = 0
            while sent < bytes.count {
                let count = bytes[sent...].withUnsafeBytes {
                    Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                }
                guard count > 0 else { return false }
                sent += count
            }
            return true
        }

        /// Blocks until the peer closes.
        func waitForClose() { while read(4096) != nil {} }
    }

    let port: UInt16
    private let listener: Listener

    /// Starts the server. `script` runs for each connection, which is closed when it returns.
    init(script: @escaping @Sendable (Connection) -> Void) throws {
        let (listener, port) = try Listener.make(backlog: 64)
        self.listener = listener
        self.port = port
        Thread.detachNewThread {
            while true {
                let descriptor = accept(listener.descriptor, nil, nil)
                if descriptor < 0, errno == EINTR { continue }
                guard descriptor >= 0 else { return }
                _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
                Thread.detachNewThread {
                    script(Connection(descriptor: descriptor))
                    shutdown(descriptor, Int32(SHUT_RDWR))
                    close(descriptor)
                }
            }
        }
    }

    /// Starts a server that sends the same bytes in response to each request.
    convenience init(answer: String) throws {
        try self.init { connection in
            while connection.readRequest() != nil { connection.send(answer) }
        }
    }

    deinit { stop() }

    /// Stops accepting connections.
    func stop() { shutdown(listener.descriptor, Int32(SHUT_RDWR)) }
}

/// A socket that listens on a free port of the loopback interface. Retaining it prevents other processes from using the
/// port.
private final class Listener: Sendable {
    let descriptor: Int32

    private init(_ descriptor: Int32) { self.descriptor = descriptor }

    static func make(backlog: Int32) throws -> (Listener, port: UInt16) {
        let listener = Listener(socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0))
        let port = withLoopbackAddress(port: 0) { address, size -> UInt16? in
            var size = size
            guard
                bind(listener.descriptor, address, size) == 0, listen(listener.descriptor, backlog) == 0,
                getsockname(listener.descriptor, address, &size) == 0
            else { return nil }
            return address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                UInt16(bigEndian: $0.pointee.sin_port)
            }
        }
        guard let port else { throw POSIXError(.EADDRNOTAVAIL) }
        return (listener, port)
    }

    deinit { close(descriptor) }
}

/// A port whose accept queue is full, so that connection attempts hang.
final class FullListener: Sendable {
    let port: UInt16
    private let listener: Listener
    private let connections: [Int32]

    init() throws {
        let (listener, port) = try Listener.make(backlog: 0)
        (self.listener, self.port) = (listener, port)
        connections = (0..<4).map { _ in
            let flags = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue
            let descriptor = socket(AF_INET, Int32(flags), 0)
            withLoopbackAddress(port: port) { _ = connect(descriptor, $0, $1) }
            return descriptor
        }
    }

    deinit {
        for descriptor in connections { close(descriptor) }
    }
}

private func withLoopbackAddress<Result>(
    port: UInt16, _ work: (UnsafeMutablePointer<sockaddr>, socklen_t) -> Result
) -> Result {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    return withUnsafeMutablePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { work($0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
    }
}

/// An event that occurs once and can be awaited from any thread.
final class Event: Sendable {
    private let stream: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation

    init() { (stream, continuation) = AsyncStream.makeStream() }

    func happen() { continuation.yield() }

    func wait() async { for await _ in stream { return } }
}
