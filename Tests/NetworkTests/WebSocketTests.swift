import Afar
import AfarCore
import AfarTestServer
import AfarTransport
import AfarTrust
import Foundation
import TestServers
import TestSupport
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// WebSockets with a server from Debian's packages.
@Suite(.timeLimit(.minutes(2))) struct WebSocketTests {
    private static let server = Task { try await ServerChild.webSockets() }

    private func url(_ path: String) async throws -> String {
        "ws://127.0.0.1:\(try await Self.server.value.port)\(path)"
    }

    private let session = Session(configuration: .default)

    // MARK: Messages

    @Test func messagesRoundTrip() async throws {
        let socket = session.webSocketRequest(to: try await url("/echo")).webSocketTask()
        let texts = ["", "hello", "grüße, 🌍", String(repeating: "long ", count: 40_000)]
        let binary = [Data(), Data([0, 255]), Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })]
        var messages = socket.messages.makeAsyncIterator()
        for text in texts {
            async let sent: Void = socket.send(.string(text))
            guard case .string(let echo) = try await messages.next() else { Issue.record("no text arrived"); return }
            #expect(echo == text)
            try await sent
        }
        for data in binary {
            async let sent: Void = socket.send(.data(data))
            guard case .data(let echo) = try await messages.next() else { Issue.record("no data arrived"); return }
            #expect(echo == data)
            try await sent
        }
        socket.close(sending: .normalClosure)
        #expect(try await messages.next() == nil)
    }

    @Test func wrappedTransportsSupportWebSockets() async throws {
        let transport = Counting(base: HTTPTransport())
        let session = Session(configuration: .default, transport: transport)
        let socket = session.webSocketRequest(to: try await url("/echo")).webSocketTask()
        try await socket.send(.string("hello"))
        var messages = socket.messages.makeAsyncIterator()
        guard case .string("hello") = try await messages.next() else { Issue.record("no echo arrived"); return }
        socket.close(sending: .normalClosure)
        #expect(try await messages.next() == nil)
        #expect(transport.count.withLock(\.self) == 1)
    }

    @Test(arguments: [ExchangeOptions.HTTPVersion.http2, .http3])
    func webSocketsUseHTTP1ForAnySessionVersion(version: ExchangeOptions.HTTPVersion) async throws {
        var configuration = SessionConfiguration.default
        configuration.httpVersion = version
        let session = Session(configuration: configuration)
        let socket = session.webSocketRequest(to: try await url("/echo")).webSocketTask()
        try await socket.send(.string("hello"))
        var messages = socket.messages.makeAsyncIterator()
        guard case .string("hello") = try await messages.next() else { Issue.record("no echo arrived"); return }
        socket.close(sending: .normalClosure)
    }

    private struct Counting: Transport {
        let base: any Transport
        let count = Locked(0)
        var capabilities: TransportCapabilities { base.capabilities }

        func send(_ exchange: Exchange) async throws -> TransportResponse {
            count.withLock { $0 += 1 }
            return try await base.send(exchange)
        }
    }

    @Test func eventsArriveInOrder() async throws {
        let (events, continuation) = AsyncStream.makeStream(of: String.self)
        let url = try await url("/echo")
        session.webSocketRequest(to: url, configuration: .protocol("chat"))
            .streamMessageEvents(on: .global()) { event in
                switch event.kind {
                case .connected(let name):
                    continuation.yield("connected \(name ?? "-")")
                    event.sendPing(respondingOn: .global()) { response in
                        if case .pong(let pong) = response, pong.latency >= 0 { continuation.yield("pong") }
                        event.close(sending: .goingAway, reason: Data("bye".utf8))
                    }
                case .receivedMessage: continuation.yield("message")
                case .serializerFailed: continuation.yield("failure")
                case .disconnected(let code, let reason):
                    continuation.yield(
                        "disconnected \(code.rawValue) \(reason.map { String(decoding: $0, as: UTF8.self) } ?? "-")")
                case .completed(let completion):
                    continuation.yield(
                        "completed \(completion.error.map { "\($0)" } ?? "well") \(completion.response?.statusCode ?? 0)"
                    )
                    continuation.finish()
                }
            }
        var seen: [String] = []
        for await event in events { seen.append(event) }
        #expect(seen == ["connected chat", "pong", "disconnected 1001 bye", "completed well 101"])
    }

    @Test func messagesAreDecoded() async throws {
        struct Item: Codable, Equatable, Sendable { var name: String }
        let socket = session.webSocketRequest(to: try await url("/echo"))
        let task = socket.webSocketTask()
        var events = task.streamingDecodableEvents(Item.self).makeAsyncIterator()
        guard case .connected(nil)? = await events.next()?.kind else { Issue.record("not connected"); return }
        try await task.send(.string(#"{"name":"a"}"#))
        try await task.send(.data(Data(#"{"name":"b"}"#.utf8)))
        try await task.send(.string("no JSON"))
        #expect(await events.next()?.message == Item(name: "a"))
        #expect(await events.next()?.message == Item(name: "b"))
        guard case .serializerFailed(let error)? = await events.next()?.kind else {
            Issue.record("it was decoded"); return
        }
        #expect(error is DecodableWebSocketMessageDecoder<Item>.Error)
        socket.cancel()
    }

    @Test func theSessionsDecoderDecodesMessages() async throws {
        struct Item: Codable, Equatable, Sendable { var firstName: String }
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        var configuration = SessionConfiguration.default
        configuration.decoder = decoder
        let session = Session(configuration: configuration)
        let socket = session.webSocketRequest(to: try await url("/echo"))
        let task = socket.webSocketTask()
        var items = task.streamingDecodable(Item.self).makeAsyncIterator()
        try await task.send(.string(#"{"first_name":"a"}"#))
        #expect(await items.next() == Item(firstName: "a"))
        socket.cancel()
    }

    @Test func messagesSentBeforeOpeningWait() async throws {
        let request = session.webSocketRequest(to: try await url("/echo"))
        let (results, continuation) = AsyncStream.makeStream(of: Bool.self)
        for number in 0..<100 {
            request.send(.string("\(number)"), queue: .global()) { result in
                if case .success = result { continuation.yield(true) } else { continuation.yield(false) }
            }
        }
        var seen: [String] = []
        for try await message in request.webSocketTask().messages {
            if case .string(let text) = message { seen.append(text) }
            if seen.count == 100 { request.close(sending: .normalClosure) }
        }
        #expect(seen == (0..<100).map { "\($0)" })
        var sent = 0
        for await isSent in results.prefix(100) where isSent { sent += 1 }
        #expect(sent == 100)
    }

    @Test func messagesKeepTheirOrderDuringOpening() async throws {
        let queue = DispatchQueue(label: "completions")
        for _ in 0..<5 {
            let request = session.webSocketRequest(to: try await url("/echo"))
            let task = request.webSocketTask()
            let (results, continuation) = AsyncStream.makeStream(of: Int.self)
            task.resume()
            for number in 0..<2_000 {
                request.send(.string("\(number)"), queue: queue) { _ in continuation.yield(number) }
            }
            var next = 0
            for try await message in task.messages {
                guard case .string("\(next)") = message else {
                    Issue.record("\(message) arrived instead of \(next)")
                    break
                }
                next += 1
                if next == 2_000 { task.close(sending: .normalClosure) }
            }
            var done: [Int] = []
            for await number in results.prefix(2_000) { done.append(number) }
            #expect(done == Array(0..<2_000))
        }
    }

    @Test func aSlowHandlerDoesNotCauseAPingTimeout() async throws {
        let task = session.webSocketRequest(to: try await url("/echo"), configuration: .pingInterval(0.4))
            .webSocketTask()
        var count = 0
        try await task.send(.string("0"))
        for try await _ in task.messages {
            count += 1
            if count == 3 { task.close(sending: .normalClosure) }
            guard count < 3 else { continue }
            // In this time, three pings would have been sent.
            try await Task.sleep(for: .milliseconds(1_300))
            try await task.send(.string("\(count)"))
        }
        #expect(count == 3)
    }

    @Test func earlyMessagesAreBuffered() async throws {
        for count in [3, 500] {
            let request = session.webSocketRequest(to: try await url("/push?count=\(count)"))
            let task = request.webSocketTask()
            task.resume()
            if count == 3 { try await waitWhile { !request.isFinished } }
            var seen = 0
            for try await message in task.messages {
                if case .string(let text) = message { #expect(text == "\(seen) ") }
                seen += 1
            }
            #expect(seen == count)
        }
    }

    @Test func aSlowReaderAppliesBackpressureAndLosesNothing() async throws {
        let count = 300
        let request = session.webSocketRequest(to: try await url("/push?count=\(count)&size=20000"))
        var next = 0
        for try await message in request.webSocketTask().messages {
            if case .string(let text) = message { #expect(text.hasPrefix("\(next) ")) }
            next += 1
            await Task.yield()
        }
        #expect(next == count)
    }

    @Test func pingsOfTheServerAreAnswered() async throws {
        let request = session.webSocketRequest(to: try await url("/ping"))
        for try await message in request.webSocketTask().messages {
            guard case .string("answered") = message else { Issue.record("\(message)"); return }
            break
        }
    }

    // MARK: The end

    @Test(arguments: [1000, 1001, 1008, 1011, 3000, 4999])
    func theServersCloseCodeIsReported(code: Int) async throws {
        let request = session.webSocketRequest(to: try await url("/close?code=\(code)&reason=so+it+is"))
        var end: (Int, String)?
        var completion: WebSocketRequest.Completion?
        for await event in request.webSocketTask().streamingMessageEvents() {
            if case .disconnected(let code, let reason) = event.kind {
                end = (code.rawValue, String(decoding: reason ?? Data(), as: UTF8.self))
            }
            if case .completed(let last) = event.kind { completion = last }
        }
        #expect(end?.0 == code)
        #expect(end?.1 == "so it is")
        #expect(completion != nil)
        #expect(completion?.error == nil)
    }

    @Test func theServerReceivesTheCodeAndTheReason() async throws {
        let server = try await ServerChild.webSockets()
        let request = session.webSocketRequest(to: "ws://127.0.0.1:\(server.port)/closed")
        let task = request.webSocketTask()
        try await task.send(.string("last words"))
        task.close(sending: .init(rawValue: 4_001), reason: Data("enough, grüße".utf8))
        for try await _ in task.messages {}
        try await waitWhile { !server.output.contains("closed last words") }
        #expect(server.output.contains("closed last words 4001 enough, grüße"))
        await #expect(throws: TransportError.self) { try await task.send(.string("too late")) }
    }

    @Test func aConnectionThatBreaksIsAnError() async throws {
        let task = session.webSocketRequest(to: try await url("/drop")).webSocketTask()
        try await task.send(.string("go"))
        let error = await #expect(throws: AFError.self) { for try await _ in task.messages {} }
        #expect((error?.underlyingError as? URLError)?.code == .networkConnectionLost)
    }

    @Test func cancellationEndsTheWebSocketImmediately() async throws {
        let request = session.webSocketRequest(to: try await url("/echo"))
        var kinds: [String] = []
        for await event in request.webSocketTask().streamingMessageEvents() {
            switch event.kind {
            case .connected:
                kinds.append("connected")
                request.cancel()
            case .completed(let completion):
                kinds.append(completion.error?.isExplicitlyCancelledError == true ? "cancelled" : "completed")
            default: kinds.append("\(event.kind)")
            }
        }
        #expect(kinds == ["connected", "cancelled"])
    }

    /// Returns a stream of the error with which a request ends.
    private func end(of request: WebSocketRequest) -> AsyncStream<AFError?> {
        AsyncStream { continuation in
            request.streamMessageEvents(on: .global()) { event in
                guard case .completed(let completion) = event.kind else { return }
                continuation.yield(completion.error)
                continuation.finish()
            }
        }
    }

    @Test func anUnopenedWebSocketIsClosedImmediately() async throws {
        let unstarted = Session(startRequestsImmediately: false).webSocketRequest(to: "ws://127.0.0.1:1/")
        var ends = end(of: unstarted)
        unstarted.close(sending: .goingAway)
        for await error in ends { #expect(error == nil) }
        let closed = try ClosedPort()
        defer { withExtendedLifetime(closed) {} }
        let (attempts, attempted) = AsyncStream.makeStream(of: Void.self)
        let again = Retrier { _, _, _, completion in
            attempted.yield()
            completion(.retryWithDelay(0.01))
        }
        let retried = session.webSocketRequest(
            to: "ws://127.0.0.1:\(closed.number)/", interceptor: Interceptor(retriers: [again]))
        ends = end(of: retried)
        for await _ in attempts.prefix(3) {}
        retried.close(sending: .normalClosure)
        for await error in ends { #expect(error == nil) }
    }

    @Test func leavingAfterTheCloseIsNotACancellation() async throws {
        let server = try await ServerChild.webSockets()
        let request = session.webSocketRequest(to: "ws://127.0.0.1:\(server.port)/closed")
        let ends = end(of: request)
        let task = request.webSocketTask()
        for await event in task.streamingMessageEvents() {
            guard case .connected = event.kind else { continue }
            try await task.send(.string("left"))
            event.close(sending: .goingAway)
            break
        }
        task.cancel()
        for await error in ends { #expect(error == nil) }
        try await waitWhile { !server.output.contains("closed left") }
        #expect(server.output.contains("closed left 1001"))
    }

    @Test func anOversizedMessageEndsTheWebSocket() async throws {
        let request = session.webSocketRequest(
            to: try await url("/push?count=1&size=1000"), configuration: .maximumMessageSize(500))
        let error = await #expect(throws: AFError.self) { for try await _ in request.webSocketTask().messages {} }
        #expect((error?.underlyingError as? URLError)?.code == .dataLengthExceedsMaximum)
    }

    @Test func pendingOperationsEndIfTheWebSocketNeverOpens() async throws {
        let closed = try ClosedPort()
        defer { withExtendedLifetime(closed) {} }
        let port = closed.number
        let request = session.webSocketRequest(to: "ws://127.0.0.1:\(port)/")
        let error = await #expect(throws: AFError.self) {
            try await request.webSocketTask().send(.string("hello"))
        }
        #expect((error?.underlyingError as? URLError)?.code == .cannotConnectToHost)
        var unstarted: WebSocketRequest? = Session(startRequestsImmediately: false).webSocketRequest(to: "ws://h/")
        let (results, continuation) = AsyncStream.makeStream(of: Bool.self)
        unstarted?.send(.string("never"), queue: .global()) { result in
            if case .failure = result { continuation.yield(true) } else { continuation.yield(false) }
        }
        unstarted = nil
        for await hasFailed in results {
            #expect(hasFailed)
            break
        }
    }

    // MARK: The handshake

    private struct EchoedRequest: Decodable, Sendable {
        let path: String
        let headers: [String: String]
    }

    private func echoedRequest(_ request: WebSocketRequest) async throws -> EchoedRequest? {
        for await event in request.webSocketTask().streamingDecodableEvents(EchoedRequest.self) {
            if let echoedRequest = event.message { return echoedRequest }
            if case .completed(let completion) = event.kind, let error = completion.error { throw error }
        }
        return nil
    }

    @Test func theRequestIsAdapted() async throws {
        let request = session.webSocketRequest(
            to: try await url("/request"), parameters: ["a": "b c"], headers: ["X-One": "1"],
            interceptor: .adapter { request, _, completion in
                var request = request
                request.headers.add(.authorization(bearerToken: "t0ken"))
                completion(.success(request))
            })
        let echoedRequest = try #require(try await echoedRequest(request))
        #expect(echoedRequest.path == "/request?a=b%20c")
        #expect(echoedRequest.headers["x-one"] == "1")
        #expect(echoedRequest.headers["authorization"] == "Bearer t0ken")
        #expect(echoedRequest.headers["user-agent"]?.isEmpty == false)
        #expect(echoedRequest.headers["sec-websocket-version"] == "13")
        #expect(echoedRequest.headers["sec-websocket-extensions"]?.hasPrefix("permessage-deflate") == true)
        #expect(request.request?.url?.scheme == "ws")
    }

    @Test func redirectsChallengesAndCookiesAreSupported() async throws {
        #expect(try await echoedRequest(session.webSocketRequest(to: try await url("/redirect")))?.path == "/request")
        let cookie = try await echoedRequest(session.webSocketRequest(to: try await url("/cookie")))
        #expect(cookie?.headers["cookie"] == "taste=oats")
        let authenticated = session.webSocketRequest(to: try await url("/private/request"))
            .authenticate(username: "ann", password: "scret")
        #expect(try await echoedRequest(authenticated)?.headers["authorization"] == "Basic YW5uOnNjcmV0")
    }

    @Test func redirectsCanHaveWebSocketSchemes() async throws {
        let target = try await url("/request")
        #expect(target.hasPrefix("ws://"))
        for location in [target, target.replacing("ws:", with: "WS:"), target.replacing("ws:", with: "http:")] {
            let server = try await RawServer.start(Self.redirect(to: location))
            #expect(try await echoedRequest(session.webSocketRequest(to: server.url))?.path == "/request")
        }
        let server = try await RawServer.start(Self.redirect(to: target))
        let response = await session.request(server.url).serializingData().response
        #expect((response.error?.underlyingError as? URLError)?.code == .redirectToNonExistentLocation)
    }

    private static func redirect(to location: String) -> [RawServer.Step] {
        [.respond("HTTP/1.1 302 Found\r\nLocation: \(location)\r\nContent-Length: 0\r\n\r\n")]
    }

    @Test func redirectsToPlainWebSocketsAreRejected() async throws {
        let certificates = try TestCertificates.shared.get()
        let secure = try await ServerChild.webSockets(certificates, "good")
        let relay = try await SecureServer(certificates, ["relay": .init("good")])
        var configuration = SessionConfiguration.default
        configuration.certificateBundle = certificates.authority
        let session = Session(configuration: configuration)
        let wss = "wss://localhost:\(secure.port)/request"
        let toSecure = try relay.url("relay", path: "/to?\(wss)").absoluteString.replacing("https:", with: "wss:")
        #expect(try await echoedRequest(session.webSocketRequest(to: toSecure))?.path == "/request")
        let plain = try relay.url("relay", path: "/to?\(try await url("/request"))").absoluteString
        let error = await #expect(throws: AFError.self) {
            try await echoedRequest(session.webSocketRequest(to: plain.replacing("https:", with: "wss:")))
        }
        #expect((error?.underlyingError as? URLError)?.code == .appTransportSecurityRequiresSecureConnection)
    }

    @Test(arguments: [("/missing", 404), ("/private/request", 401)])
    func aRejectionIsReported(path: String, status: Int) async throws {
        let request = session.webSocketRequest(to: try await url(path))
        let error = await #expect(throws: AFError.self) { for try await _ in request.webSocketTask().messages {} }
        #expect(error?.responseCode == status)
        #expect(request.response?.statusCode == status)
    }

    @Test func anotherMethodIsRejected() async throws {
        var urlRequest = URLRequest(url: try #require(URL(string: try await url("/echo"))))
        urlRequest.httpMethod = "POST"
        let request = session.webSocketRequest(performing: urlRequest)
        await #expect(throws: AFError.self) { for try await _ in request.webSocketTask().messages {} }
    }

    @Test func aRetrierIsCalled() async throws {
        let server = try await RawServer.start(scripts: [[.receiveHead, .close], [.receiveHead, .close]])
        let request = session.webSocketRequest(
            to: server.url, interceptor: .retryPolicy(retryLimit: 2, exponentialBackoffScale: 0.01))
        await #expect(throws: AFError.self) { for try await _ in request.webSocketTask().messages {} }
        #expect(request.retryCount == 2)
        #expect(server.connectionCount == 3)
    }

    @Test func aTransportWithoutConnectionsIsReported() async throws {
        let session = Session(transport: URLSessionTransport())
        let request = session.webSocketRequest(to: "ws://127.0.0.1:1/")
        let error = await #expect(throws: AFError.self) { for try await _ in request.webSocketTask().messages {} }
        #expect("\(error?.underlyingError.map { "\($0)" } ?? "")".isEmpty == false)
        #expect((error?.underlyingError as? URLError)?.code == .resourceUnavailable)
    }

    // MARK: TLS and proxies

    @Test func theSessionsTrustApplies() async throws {
        let certificates = try TestCertificates.shared.get()
        let server = try await ServerChild.webSockets(certificates, "good")
        var configuration = SessionConfiguration.default
        let url = "wss://localhost:\(server.port)/request"
        let strict = Session(configuration: configuration)
        let unknown = await #expect(throws: AFError.self) { try await echoedRequest(strict.webSocketRequest(to: url)) }
        #expect((unknown?.underlyingError as? URLError)?.code == .serverCertificateHasUnknownRoot)
        configuration.certificateBundle = certificates.authority
        let session = Session(configuration: configuration)
        let request = session.webSocketRequest(to: url)
        #expect(try await echoedRequest(request)?.headers["host"] == "localhost:\(server.port)")
        try await waitWhile { request.metrics == nil }
        #expect(request.metrics?.transactionMetrics.last?.tlsProtocolVersion == "TLSv1.3")
        let pinned = Session(
            configuration: configuration,
            serverTrustManager: ServerTrustManager(evaluators: [
                "localhost": PinnedCertificatesTrustEvaluator(certificates: [
                    try Certificate.certificates(contentsOf: certificates.file("good.crt"))[0]
                ])
            ]))
        #expect(try await echoedRequest(pinned.webSocketRequest(to: url)) != nil)
        let refusing = Session(
            configuration: configuration,
            serverTrustManager: ServerTrustManager(evaluators: [
                "localhost": PinnedCertificatesTrustEvaluator(certificates: [
                    try Certificate.certificates(contentsOf: certificates.file("other.crt"))[0]
                ])
            ]))
        let refused = await #expect(throws: AFError.self) {
            try await echoedRequest(refusing.webSocketRequest(to: url))
        }
        #expect(refused?.isServerTrustEvaluationError == true)
    }
}
