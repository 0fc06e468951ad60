import AfarTransport
import Foundation
import Synchronization
import TestServers

@testable import AfarTestServer

/// A server that calls a closure with each frame that it receives.
final class FrameServer: Sendable {
    typealias Frame = HTTP2Frame

    /// A connection. Its state can be used on any thread.
    final class Connection: Sendable {
        private struct State {
            var frames: [Frame] = []
            var isClosed = false
            var isPeerClosed = false
        }

        let index: Int
        private let socket: Socket
        private let state = Mutex(State())

        fileprivate init(_ socket: Socket, _ index: Int) { (self.socket, self.index) = (socket, index) }

        var frames: [Frame] { state.withLock(\.frames) }
        var isClosed: Bool { state.withLock(\.isClosed) }
        var isPeerClosed: Bool { state.withLock(\.isPeerClosed) }

        func send(_ frames: Frame...) {
            state.withLock { state in
                guard !state.isClosed else { return }
                try? socket.write(frames.flatMap(\.bytes))
            }
        }

        /// Sends an empty response if the frame is a request.
        func respond(to frame: Frame) { if frame.type == 1 { send(.headers([0x88], frame.stream, ends: true)) } }

        /// Finishes sending.
        func close() {
            state.withLock { state in
                state.isClosed = true
                socket.finishWriting()
            }
        }

        /// Closes the connection with a reset.
        func reset() {
            state.withLock { state in
                state.isClosed = true
                var linger = linger(l_onoff: 1, l_linger: 0)
                setsockopt(socket.descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<linger>.size))
                var address = sockaddr()
                address.sa_family = sa_family_t(AF_UNSPEC)
                connect(socket.descriptor, &address, socklen_t(MemoryLayout<sockaddr>.size))
            }
        }

        fileprivate func run(_ settings: [UInt8], _ handle: (Connection, Frame) -> Void) {
            // The listener closes the socket afterward.
            defer { state.withLock { ($0.isPeerClosed, $0.isClosed) = (true, true) } }
            guard read(24) != nil else { return }
            send(Frame(4, settings))
            while let header = read(9), let payload = read(Int(header[0]) << 16 | Int(header[1]) << 8 | Int(header[2]))
            {
                let stream = header[5...8].reduce(0) { $0 << 8 | UInt32($1) }
                let frame = Frame(header[3], flags: header[4], stream: stream, payload)
                state.withLock { $0.frames.append(frame) }
                if frame.type == 4, frame.flags == 0 { send(Frame(4, flags: 1)) }
                handle(self, frame)
            }
        }

        private func read(_ count: Int) -> [UInt8]? {
            var bytes = [UInt8](repeating: 0, count: count)
            var start = 0
            while start < count {
                let result = bytes[start...].withUnsafeMutableBytes { try? socket.read(into: $0) }
                guard let result, result > 0 else { return nil }
                start += result
            }
            return bytes
        }
    }

    var port: UInt16 { listener.port }
    private let listener: Listener
    private let accepted: AfarTransport.Locked<[Connection]>

    /// - Parameter settings: The payload of the SETTINGS frame that the server sends first.
    init(settings: [UInt8] = [], _ handle: @escaping @Sendable (Connection, Frame) -> Void) throws {
        let accepted = AfarTransport.Locked<[Connection]>([])
        self.accepted = accepted
        listener = try Listener { socket, index in
            let connection = Connection(socket, index)
            accepted.withLock { $0.append(connection) }
            connection.run(settings, handle)
        }
        listener.start()
    }

    deinit { listener.cancel() }

    var connections: [Connection] { accepted.withLock { $0 } }

    func wait(until condition: ([Connection]) -> Bool) async throws {
        while !condition(connections) { try await Task.sleep(for: .milliseconds(1)) }
    }
}
