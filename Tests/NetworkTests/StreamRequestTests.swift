import Afar
import AfarCore
import AfarTestServer
import AfarTransport
import AfarTrust
import Foundation
import TestServers
import TestSupport
import Testing

/// Raw connections to scripted servers and through proxies, with TLS from the start or enabled later.
@Suite(.timeLimit(.minutes(2))) struct StreamRequestTests {
    private let certificates: TestCertificates

    init() throws { certificates = try TestCertificates.shared.get() }

    private func session(_ network: NetworkSettings? = nil, _ change: (inout SessionConfiguration) -> Void = { _ in })
        -> Session
    {
        var configuration = SessionConfiguration.default
        configuration.certificateBundle = certificates.authority
        configuration.network = network
        change(&configuration)
        return Session(configuration: configuration)
    }

    private func text(_ stream: StreamRequest, _ count: Int) async throws -> String {
        let (data, _) = try await stream.readData(ofMinLength: count, maxLength: count)
        return String(decoding: data ?? Data(), as: UTF8.self)
    }

    @Test func bothDirectionsCloseIndependently() async throws {
        let server = try await RawServer.start([
            .send("ready"), .receive(4), .send("pong"), .receiveAll, .send("you are done"), .close,
        ])
        let session = session()
        let stream = session.stream(withHostName: "127.0.0.1", port: Int(server.port))
        #expect(try await text(stream, 5) == "ready")
        try await stream.write(Data("ping".utf8))
        #expect(try await text(stream, 4) == "pong")
        stream.closeWrite()
        let (rest, isAtEnd) = try await stream.readData(ofMinLength: 1_000, maxLength: 1_000)
        #expect(rest == Data("you are done".utf8))
        #expect(isAtEnd)
        let (nothing, isStillAtEnd) = try await stream.readData(ofMinLength: 1, maxLength: 1)
        #expect(nothing == nil && isStillAtEnd)
        #expect(server.received(by: 0) == Data("ping".utf8))
        stream.close()
        try await waitWhile { !stream.isFinished }
        #expect(stream.error == nil)
        #expect(stream.metrics?.transactionMetrics.last?.remotePort == Int(server.port))
    }

    @Test func handlersAreCalledInOrder() async throws {
        let server = try await RawServer.start([.receive(6), .send("abcdef")])
        let session = session()
        let stream = session.stream(withHostName: "127.0.0.1", port: Int(server.port))
        let (events, continuation) = AsyncStream.makeStream(of: String.self)
        for word in ["one", "two"] {
            stream.write(Data(word.utf8), timeout: 0, queue: .global()) { error in
                continuation.yield(error == nil ? "wrote" : "\(String(describing: error))")
            }
        }
        let queue = DispatchQueue(label: "handlers")
        for _ in 0..<3 {
            stream.readData(ofMinLength: 2, maxLength: 2, timeout: 0, queue: queue) { data, isAtEnd, _ in
                continuation.yield("\(String(decoding: data ?? Data(), as: UTF8.self)) \(isAtEnd)")
            }
        }
        var seen: [String] = []
        for await event in events.prefix(5) { seen.append(event) }
        #expect(seen.filter { $0 != "wrote" } == ["ab false", "cd false", "ef false"])
        try await server.connection(0)
        #expect(server.received(by: 0) == Data("onetwo".utf8))
        stream.cancel()
    }

    @Test func resultsArriveInOrder() async throws {
        let server = try await RawServer.start([.send(String(repeating: "abcdefgh", count: 1_000))])
        let session = session()
        let stream = session.stream(withHostName: "127.0.0.1", port: Int(server.port))
        let queue = DispatchQueue(label: "handlers")
        let (results, continuation) = AsyncStream.makeStream(of: Int.self)
        for number in 0..<8_000 {
            stream.readData(ofMinLength: 1, maxLength: 1, timeout: 0, queue: queue) { _, _, _ in
                continuation.yield(number)
            }
        }
        var seen: [Int] = []
        for await number in results.prefix(8_000) { seen.append(number) }
        #expect(seen == Array(0..<8_000))
        stream.cancel()
    }

    @Test func anUnstartedStreamIsClosedWithoutAConnection() async throws {
        let server = try await RawServer.start([.waitForever])
        let session = session()
        let stream = session.stream(withHostName: "127.0.0.1", port: Int(server.port))
        stream.close()
        try await waitWhile { !stream.isCancelled }
        await #expect(throws: AFError.self) { try await stream.write(Data([0])) }
        #expect(server.connectionCount == 0)
    }

    @Test func aPeerThatDoesNotReadAppliesBackpressure() async throws {
        let gate = RawServer.Gate()
        let server = try await RawServer.start([.hold(gate), .receive(64 << 20), .send("all"), .close])
        let session = session()
        let stream = session.stream(withHostName: "127.0.0.1", port: Int(server.port))
        let written = Locked(0)
        let writing = Task {
            for _ in 0..<64 {
                try await stream.write(Data(count: 1 << 20))
                written.withLock { $0 += 1 }
            }
        }
        try await server.connection(0)
        await #expect(throws: TransportError.self) {
            try await stream.readData(ofMinLength: 1, maxLength: 1, timeout: 0.3)
        }
        #expect(written.withLock { $0 } < 64)
        gate.open()
        #expect(try await text(stream, 3) == "all")
        try await writing.value
        stream.close()
    }

    @Test func aReadTimeoutKeepsTheConnection() async throws {
        let gate = RawServer.Gate()
        let server = try await RawServer.start([.send("ear"), .hold(gate), .send("ly, late")])
        let session = session()
        let stream = session.stream(withHostName: "127.0.0.1", port: Int(server.port))
        let error = await #expect(throws: TransportError.self) {
            try await stream.readData(ofMinLength: 5, maxLength: 10, timeout: 0.05)
        }
        #expect(error?.code == .timedOut)
        gate.open()
        #expect(try await text(stream, 2) == "ea")
        #expect(try await text(stream, 9) == "rly, late")
        stream.cancel()
    }

    @Test func aTaskThatIsCancelledStopsReading() async throws {
        let server = try await RawServer.start([.receive(1), .send("later")])
        let session = session()
        let stream = session.stream(withHostName: "127.0.0.1", port: Int(server.port))
        let reading = Task { try await stream.readData(ofMinLength: 1, maxLength: 10) }
        try await server.connection(0)
        reading.cancel()
        await #expect(throws: (any Error).self) { try await reading.value }
        try await stream.write(Data("x".utf8))
        #expect(try await text(stream, 5) == "later")
        stream.cancel()
    }

    @Test func cancellingEndsAllPendingOperations() async throws {
        let server = try await RawServer.start([.waitForever])
        let session = session()
        let stream = session.stream(withHostName: "127.0.0.1", port: Int(server.port))
        let reading = Task { try await stream.readData(ofMinLength: 1, maxLength: 10) }
        try await server.connection(0)
        stream.cancel()
        await #expect(throws: (any Error).self) { try await reading.value }
        try await server.peerClosed(0)
        await #expect(throws: AFError.self) { try await stream.write(Data("x".utf8)) }
    }

    @Test func anUnreachableHostIsAnError() async throws {
        let closed = try ClosedPort()
        defer { withExtendedLifetime(closed) {} }
        let port = closed.number
        let session = session()
        let stream = session.stream(withHostName: "127.0.0.1", port: Int(port))
        let error = await #expect(throws: AFError.self) { try await stream.write(Data("x".utf8)) }
        #expect((error?.underlyingError as? URLError)?.code == .cannotConnectToHost)
        let wrong = session.stream(withHostName: "127.0.0.1", port: 70_000)
        await #expect(throws: AFError.self) { try await wrong.write(Data("x".utf8)) }
    }

    private func answer(over stream: StreamRequest, _ url: URL) async throws -> String {
        let request = "GET \(url.path) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
        try await stream.write(Data(request.utf8))
        return try await text(stream, 15)
    }

    @Test(arguments: [false, true])
    func tlsCanStartImmediatelyOrLater(isLater: Bool) async throws {
        let server = try await SecureServer(certificates, ["site": .init("good"), "other": .init("wrong-host")])
        let session = session()
        let url = try server.url("site")
        let stream = session.stream(withHostName: "localhost", port: url.port ?? 0, isSecure: !isLater)
        if isLater { try await stream.startSecureConnection() }
        #expect(try await answer(over: stream, url) == "HTTP/1.1 200 OK")
        stream.cancel()

        let other = try server.url("other")
        let wrong = session.stream(withHostName: "localhost", port: other.port ?? 0, isSecure: !isLater)
        await #expect(throws: (any Error).self) {
            if isLater { try await wrong.startSecureConnection() }
            try await wrong.write(Data("secret".utf8))
        }
        try await waitWhile { !wrong.isFinished }
        #expect((wrong.error?.underlyingError as? URLError)?.code == .serverCertificateUntrusted)
    }

    @Test func bytesReceivedBeforeTLSAreRejected() async throws {
        let server = try await RawServer.start([.send("injected"), .waitForever])
        let session = session()
        let stream = session.stream(withHostName: "127.0.0.1", port: Int(server.port))
        await #expect(throws: TransportError.self) {
            try await stream.readData(ofMinLength: 100, maxLength: 100, timeout: 0.1)
        }
        let error = await #expect(throws: TransportError.self) { try await stream.startSecureConnection() }
        #expect(error?.code == .secureConnectionFailed)
        let other = session.stream(withHostName: "127.0.0.1", port: Int(server.port))
        await #expect(throws: TransportError.self) { try await other.startSecureConnection() }
        await #expect(throws: (any Error).self) { try await other.readData(ofMinLength: 1, maxLength: 100) }
    }

    /// If starting TLS fails, nothing more is read or written, neither in plain text nor over a TLS connection that
    /// wasn't accepted.
    @Test(arguments: ["stalls", "is cancelled", "is refused"])
    func nothingFollowsAFailedTLSHandshake(why: String) async throws {
        let server = try await RawServer.start([.send("ready"), .waitForever])
        var configuration = SessionConfiguration.default
        configuration.timeoutIntervalForConnect = why == "stalls" ? 0.3 : 60
        let manager = why == "is refused" ? ServerTrustManager(evaluators: [:]) : nil
        let session = Session(configuration: configuration, serverTrustManager: manager)
        let stream = session.stream(withHostName: "127.0.0.1", port: Int(server.port))
        #expect(try await text(stream, 5) == "ready")
        let securing = Task { try await stream.startSecureConnection() }
        if why == "is cancelled" { securing.cancel() }
        await #expect(throws: (any Error).self) { try await securing.value }
        await #expect(throws: (any Error).self) { try await stream.write(Data("secret".utf8)) }
        await #expect(throws: (any Error).self) { try await stream.readData(ofMinLength: 1, maxLength: 9) }
        try await waitWhile { !stream.isFinished }
        try await server.peerClosed(0)
        #expect(!server.received(by: 0).contains(Data("secret".utf8)))
    }

    @Test func queuedWritesAreNotSentInPlainTextAfterAFailure() async throws {
        let server = try await RawServer.start([.send("ready"), .waitForever])
        let session = Session(
            configuration: .default, serverTrustManager: ServerTrustManager(evaluators: [:]))
        for _ in 0..<20 {
            let stream = session.stream(withHostName: "127.0.0.1", port: Int(server.port))
            #expect(try await text(stream, 5) == "ready")
            let secure: () -> Void = { stream.startSecureConnection() }
            secure()
            let error = await withCheckedContinuation { continuation in
                stream.write(Data("secret".utf8), timeout: 0, queue: .global()) { continuation.resume(returning: $0) }
            }
            #expect(error != nil)
        }
        for number in 0..<server.connectionCount {
            try await server.peerClosed(number)
            #expect(server.received(by: number).isEmpty)
        }
    }

    @Test func manyStreamsCanStartTLSConcurrently() async throws {
        let server = try await SecureServer(certificates, ["site": .init("good")])
        let url = try server.url("site")
        let session = session()
        for _ in 0..<10 {
            let stream = session.stream(withHostName: "localhost", port: url.port ?? 0)
            let count = await withTaskGroup(of: Bool.self) { group in
                for _ in 0..<8 {
                    group.addTask {
                        do {
                            try await stream.startSecureConnection()
                            return true
                        } catch {
                            return false
                        }
                    }
                }
                return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            #expect(count == 1)
        }
    }

    @Test func thousandsOfPendingReadsCanBeCancelled() async throws {
        let gate = RawServer.Gate()
        let server = try await RawServer.start([.hold(gate), .receiveAll])
        let session = session()
        let stream = session.stream(withHostName: "127.0.0.1", port: Int(server.port))
        let first = Task { try await stream.write(Data(count: 64 << 20)) }
        try await server.connection(0)
        let others = (0..<20_000).map { _ in Task { try await stream.write(Data([0])) } }
        for other in others { other.cancel() }
        for other in others { _ = await other.result }
        gate.open()
        try await first.value
        stream.cancel()
    }

    @Test func anEstablishedConnectionIsNotRetried() async throws {
        let server = try await RawServer.start([.send("ready"), .close])
        let session = session()
        let again = Retrier { _, _, _, completion in completion(.retry) }
        let stream = session.stream(
            withHostName: "127.0.0.1", port: Int(server.port), interceptor: Interceptor(retriers: [again]))
        #expect(try await text(stream, 5) == "ready")
        await #expect(throws: (any Error).self) { while true { try await stream.write(Data(count: 1 << 16)) } }
        try await waitWhile { !stream.isFinished }
        #expect(stream.error != nil && server.connectionCount == 1)
    }

    @Test(arguments: [false, true])
    func anEvaluatorDecides(isLater: Bool) async throws {
        let server = try await SecureServer(certificates, ["site": .init("good")])
        let url = try server.url("site")
        for (file, isTrusted) in [("good.crt", true), ("other.crt", false)] {
            var configuration = SessionConfiguration.default
            configuration.certificateBundle = certificates.authority
            let pinned = try Certificate.certificates(contentsOf: certificates.file(file))
            let session = Session(
                configuration: configuration,
                serverTrustManager: ServerTrustManager(evaluators: [
                    "localhost": PinnedCertificatesTrustEvaluator(certificates: pinned)
                ]))
            let stream = session.stream(withHostName: "localhost", port: url.port ?? 0, isSecure: !isLater)
            do {
                if isLater { try await stream.startSecureConnection() }
                #expect(try await answer(over: stream, url) == "HTTP/1.1 200 OK")
                #expect(isTrusted)
                stream.cancel()
            } catch {
                #expect(!isTrusted, "\(error)")
            }
        }
    }

    @Test(arguments: [false, true])
    func theClientIdentityIsPresented(isLater: Bool) async throws {
        let server = try await ServerChild("s_server") { [certificates] _, port in
            ["openssl", "s_server", "-accept", "127.0.0.1:\(port)", "-cert", certificates.file("good.pem").path]
                + ["-key", certificates.file("good.key").path, "-CAfile", certificates.authority.path]
                + ["-Verify", "2", "-verify_return_error", "-rev"]
        }
        for hasIdentity in [true, false] {
            let identity = try ClientIdentity(
                certificateFile: certificates.file("client-a.crt"), keyFile: certificates.file("client-a.key"))
            let session = session { $0.clientIdentity = hasIdentity ? identity : nil }
            let stream = session.stream(withHostName: "localhost", port: Int(server.port), isSecure: !isLater)
            do {
                if isLater { try await stream.startSecureConnection() }
                try await stream.write(Data("hello\n".utf8))
                #expect(try await text(stream, 6) == "olleh\n")
                #expect(hasIdentity)
            } catch {
                #expect(!hasIdentity, "\(error)")
                let code = (error as? TransportError)?.code
                #expect(code == .clientCertificateRequired, "\(error)")
            }
            stream.cancel()
        }
    }

    @Test(arguments: ["http", "socks5"])
    func streamsUseProxies(kind: String) async throws {
        let server = try await RawServer.start([.receive(4), .send("pong")])
        let secure = try await SecureServer(certificates, ["site": .init("good")])
        let proxy =
            kind == "http"
            ? try await ServerChild.tinyproxy(user: "ann scret")
            : try await ServerChild.microsocks(user: ("ann", "scret"))
        for (credential, isRight) in [("ann:scret", true), ("ann:wrong", false)] {
            var network = NetworkSettings()
            network.proxies = .init(try Proxy("\(kind)://\(credential)@127.0.0.1:\(proxy.port)"))
            let session = session(network)
            let stream = session.stream(withHostName: "127.0.0.1", port: Int(server.port))
            do {
                try await stream.write(Data("ping".utf8))
                #expect(try await text(stream, 4) == "pong")
                #expect(isRight)
            } catch {
                #expect(!isRight, "\(error)")
            }
            stream.cancel()
            guard isRight else { continue }
            let url = try secure.url("site")
            let tunnel = session.stream(withHostName: "localhost", port: url.port ?? 0, isSecure: true)
            #expect(try await answer(over: tunnel, url) == "HTTP/1.1 200 OK")
            tunnel.cancel()
        }
        #expect(server.received(by: 0) == Data("ping".utf8))
        #expect(server.connectionCount == 1)
    }

    @Test func streamsUseAProxyOverTLS() async throws {
        let secure = try await SecureServer(certificates, ["site": .init("good")])
        let proxy = try await ServerChild.apache(certificates)
        var network = NetworkSettings()
        network.proxies = .init(try Proxy("https://localhost:\(proxy.port)"))
        let session = session(network)
        let url = try secure.url("site")
        for isLater in [false, true] {
            let stream = session.stream(withHostName: "localhost", port: url.port ?? 0, isSecure: !isLater)
            if isLater { try await stream.startSecureConnection() }
            #expect(try await answer(over: stream, url) == "HTTP/1.1 200 OK")
            stream.cancel()
        }
    }

    @Test func streamsUseUnixSockets() async throws {
        let server = try await ServerChild.nginxOnUnixSocket()
        var network = NetworkSettings()
        network.unixSocket = server.folder.appending(path: "socket").path
        let session = session(network)
        let stream = session.stream(withHostName: "anything", port: 1)
        try await stream.write(Data("GET / HTTP/1.0\r\nHost: named\r\n\r\n".utf8))
        #expect(try await text(stream, 15) == "HTTP/1.1 200 OK")
        stream.cancel()
    }

    @Test func releasingTheSessionClosesTheStream() async throws {
        let server = try await RawServer.start([.waitForever])
        var session: Session? = session()
        let stream = session?.stream(withHostName: "127.0.0.1", port: Int(server.port))
        try await stream?.write(Data("x".utf8))
        session = nil
        try await server.peerClosed(0)
        await #expect(throws: (any Error).self) { try await stream?.write(Data("x".utf8)) }
    }
}
