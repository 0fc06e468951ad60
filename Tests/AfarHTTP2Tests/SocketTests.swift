#if os(Linux)
    import AfarHTTP1
    import AfarTransport
    import Foundation
    import HTTPTypes
    import TestServers
    import Testing

    @testable import AfarHTTP2

    /// A session over a socket to nghttpd.
    @Suite(.timeLimit(.minutes(1))) struct SocketTests {
        /// A blocking connection to a port of 127.0.0.1.
        private final class Connection {
            let session: HTTP2Session
            private let descriptor: Int32

            init(port: UInt16) throws {
                session = try HTTP2Session()
                descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
                var address = sockaddr_in()
                address.sin_family = sa_family_t(AF_INET)
                address.sin_port = port.bigEndian
                address.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
                let socket = descriptor
                let result = withUnsafePointer(to: &address) { pointer in
                    pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                        connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                    }
                }
                guard result == 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .ECONNREFUSED) }
            }

            deinit { close(descriptor) }

            private func send() {
                var rest = session.output()[...]
                while !rest.isEmpty {
                    let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
                    guard count > 0 else { return session.receiveEndOfInput() }
                    rest = rest.dropFirst(count)
                }
            }

            /// Transfers bytes until no streams are active.
            func run(_ isDone: () -> Bool = { false }) throws {
                var buffer = [UInt8](repeating: 0, count: 65_536)
                send()
                while session.activeStreamCount > 0, !isDone() {
                    let count = buffer.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
                    guard count > 0 else { return session.receiveEndOfInput() }
                    try session.receive(Array(buffer.prefix(count)))
                    send()
                }
            }

            func submit(_ recorder: Recorder, _ path: String, body: Int? = nil) throws -> Int32 {
                recorder.partBytes = (0..<(body ?? 0)).map { UInt8(truncatingIfNeeded: $0 &* 7) }
                let request = HTTPRequest(
                    method: body == nil ? .get : .post, scheme: "http", authority: "localhost", path: path,
                    headerFields: [.userAgent: "Afar", .authorization: "Bearer a"])
                let id = try session.submit(
                    request, body: body.map { .length(Int64($0)) } ?? .none, url: "http://localhost\(path)",
                    handler: recorder)
                recorder.onBody = { [weak session] count in session?.consume(count, of: id) }
                return id
            }
        }

        private func nghttpd(_ arguments: String...) async throws -> ServerChild {
            try await ServerChild("nghttpd") { folder, _ in
                try? Data((0..<5_000_000).map { UInt8(truncatingIfNeeded: $0) }).write(
                    to: folder.appending(path: "large"))
                try? Data("hello".utf8).write(to: folder.appending(path: "small"))
                return ""
            } _: { folder, port in
                ["nghttpd", "--no-tls", "-a", "127.0.0.1", "-d", folder.path] + arguments + ["\(port)"]
            }
        }

        @Test func downloadsWithTrailers() async throws {
            let server = try await nghttpd("--trailer", "x-trailer: 1")
            let connection = try Connection(port: server.port)
            let small = (0..<500).map { _ in Recorder() }
            let (large, missing) = (Recorder(), Recorder())
            _ = try connection.submit(large, "/large")
            _ = try connection.submit(missing, "/missing")
            for recorder in small { _ = try connection.submit(recorder, "/small") }
            try connection.run()
            #expect(large.body.count == 5_000_000)
            #expect(large.body.indices.allSatisfy { large.body[$0] == UInt8(truncatingIfNeeded: $0) })
            #expect(large.events.last == "end")
            #expect(large.events.dropLast().last == "trailers x-trailer=1")
            #expect(missing.head?.status == 404)
            #expect(small.allSatisfy { $0.isComplete && $0.body == Array("hello".utf8) })
            #expect(connection.session.failure == nil)
        }

        @Test func echoedUploads() async throws {
            let server = try await nghttpd("--echo-upload")
            let connection = try Connection(port: server.port)
            let recorders = [0, 1, 65_535, 3_000_000].map { count in (count, Recorder()) }
            for (count, recorder) in recorders { _ = try connection.submit(recorder, "/", body: count) }
            try connection.run()
            for (count, recorder) in recorders where count > 0 {
                #expect(recorder.isComplete)
                #expect(recorder.body == (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) })
            }
            #expect(connection.session.failure == nil)
        }

        @Test func cancelingDownloads() async throws {
            let server = try await nghttpd()
            let connection = try Connection(port: server.port)
            for _ in 0..<50 {
                let recorder = Recorder()
                let id = try connection.submit(recorder, "/large")
                try connection.run { recorder.body.count > 100_000 }
                connection.session.cancel(id)
                connection.session.ping()
                #expect(recorder.terminalCount == 0)
            }
            let last = Recorder()
            _ = try connection.submit(last, "/large")
            try connection.run()
            #expect(last.body.count == 5_000_000)
            #expect(last.isComplete)
            #expect(connection.session.pendingPingCount == 0)
        }
    }
#endif
