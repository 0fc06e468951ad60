import Afar
import AfarCore
import AfarTestServer
import Foundation
import Testing

/// For any server behavior, a request ends once, quickly and with an appropriate error. The session remains usable.
@Suite struct BadServerTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let script: [RawServer.Step]
        let codes: [URLError.Code]
        var kinds: [TransportKind] = TransportKind.allCases

        static let all = [
            Case(
                testDescription: "closes before a byte", script: [.receiveHead, .close],
                codes: [.badServerResponse, .networkConnectionLost]),
            Case(
                testDescription: "closes in the head", script: [.receiveHead, .send("HTTP/1.1 200 OK\r\nX: "), .close],
                codes: [.badServerResponse, .networkConnectionLost],
                // URLSession crashes.
                kinds: [.platform]),
            Case(
                testDescription: "closes in the body",
                script: [.respond("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfour"), .close],
                codes: [.networkConnectionLost]),
            Case(
                testDescription: "resets in the body",
                script: [.respond("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfour"), .reset],
                codes: [.networkConnectionLost]),
            Case(
                testDescription: "says two lengths",
                script: [.respond("HTTP/1.1 200 OK\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\nfour"), .close],
                codes: [.badServerResponse], kinds: [.platform]),
            Case(
                testDescription: "says a length beyond all numbers",
                script: [.respond("HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\nfour"), .close],
                codes: [.badServerResponse, .networkConnectionLost]),
            Case(
                testDescription: "breaks a chunk",
                script: [.respond("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nfour\r\n"), .close],
                codes: [.badServerResponse, .networkConnectionLost]),
            Case(
                testDescription: "never ends its chunks",
                script: [.respond("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nfour\r\n"), .close],
                codes: [.networkConnectionLost]),
            Case(
                testDescription: "sends 300 kB of headers",
                script: [
                    .receiveHead, .send("HTTP/1.1 200 OK\r\n"),
                    .send(String(repeating: "X-Long: \(String(repeating: "x", count: 990))\r\n", count: 300)),
                    .send("Content-Length: 0\r\n\r\n"),
                ],
                codes: [.badServerResponse], kinds: [.platform]),
            Case(
                testDescription: "has a status of 1000",
                script: [.respond("HTTP/1.1 1000 Odd\r\nContent-Length: 0\r\n\r\n"), .close],
                codes: [.badServerResponse, .networkConnectionLost]),
            Case(
                testDescription: "speaks no HTTP", script: [.respond("SSH-2.0-OpenSSH_9.2\r\n"), .close],
                codes: [.badServerResponse, .networkConnectionLost], kinds: [.platform]),
            Case(
                testDescription: "sends broken gzip",
                script: [
                    .respond(
                        "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 12\r\n\r\nnot gzip all"), .close,
                ],
                codes: [.cannotDecodeContentData]),
        ]
    }

    @Test(arguments: Case.all)
    func anInvalidResponseIsATypedErrorAndTheSessionContinues(badCase: Case) async throws {
        for kind in badCase.kinds {
            let bad = try await RawServer.start(badCase.script)
            let good = try await TestServer.start()
            let session = kind.session()
            let completions = Locked(0)
            let done = Deferred<AFDataResponse<Data?>>()
            session.request(bad.url).response(queue: .global()) { response in
                completions.withLock { $0 += 1 }
                done.fulfill(response)
            }
            let response = await done.value
            let error = try #require(response.error?.underlyingError as? URLError, "\(kind): \(response)")
            #expect(badCase.codes.contains(error.code), "\(kind): \(error)")
            let after = await session.request(good.url("/get")).validate().serializingData().response
            #expect(after.error == nil, "\(kind)")
            #expect(completions.withLock { $0 } == 1)
            await bad.stop()
            await good.stop()
        }
    }

    @Test(arguments: TransportKind.allCases)
    func aServerThatNeverRespondsTriggersTheIdleTimeout(kind: TransportKind) async throws {
        let server = try await RawServer.start([.receiveHead, .waitForever])
        let session = kind.session { $0.timeoutIntervalForRequest = 0.3 }
        let response = await session.request(server.url).serializingData().response
        #expect((response.error?.underlyingError as? URLError)?.code == .timedOut)
        await server.stop()
    }

    @Test(arguments: TransportKind.allCases)
    func aSlowServerTriggersTheTotalTimeout(kind: TransportKind) async throws {
        let server = try await RawServer.start([
            .receiveHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n"),
            .repeat("x", every: 0.05, times: 1_000),
        ])
        let session = kind.session { $0.timeoutIntervalForResource = 0.5 }
        let response = await session.request(server.url).serializingData().response
        #expect((response.error?.underlyingError as? URLError)?.code == .timedOut)
        await server.stop()
    }

    @Test(arguments: TransportKind.all(with: .connectTimeout))
    func anIncompleteConnectTriggersTheConnectTimeout(kind: TransportKind) async throws {
        let port = try UnacceptingPort()
        let session = kind.session { $0.timeoutIntervalForConnect = 0.3 }
        let response = await session.request(port.url).serializingData().response
        #expect((response.error?.underlyingError as? URLError)?.code == .timedOut)
        #expect(response.error?.transportError?.phase == .connecting)
    }

    @Test(arguments: TransportKind.allCases)
    func aRefusedConnectionNamesHostAndCause(kind: TransportKind) async throws {
        let port = try ClosedPort()
        let session = kind.session()
        let response = await session.request(port.url).serializingData().response
        #expect((response.error?.underlyingError as? URLError)?.code == .cannotConnectToHost)
        #expect(response.error?.localizedDescription.contains("127.0.0.1") == true)
    }

    @Test(arguments: TransportKind.allCases)
    func aHostThatDoesNotResolveIsNamed(kind: TransportKind) async {
        let session = kind.session()
        let response = await session.request("http://no-such-host.invalid/").serializingData().response
        #expect((response.error?.underlyingError as? URLError)?.code == .cannotFindHost)
        #expect(response.error?.localizedDescription.contains("no-such-host.invalid") == true)
    }

    @Test(arguments: TransportKind.allCases)
    func everyCancellationCompletesOnce(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let session = kind.session()
        var random = SystemRandomNumberGenerator()
        let delays = (0..<60).map { _ in UInt64.random(in: 0..<20_000_000, using: &random) }
        let queue = DispatchQueue(label: "handlers")
        let calls = Locked(Array(repeating: 0, count: delays.count))
        await withTaskGroup(of: Void.self) { group in
            for (number, delay) in delays.enumerated() {
                group.addTask {
                    let request = session.request(server.url("/delay/0.01"))
                        .response(queue: queue) { _ in calls.withLock { $0[number] += 1 } }
                    let task = request.serializingData()
                    try? await Task.sleep(nanoseconds: delay)
                    request.cancel()
                    _ = await task.response
                }
            }
        }
        // When all requests have ended, their handlers are on `queue`.
        await withCheckedContinuation { waiting in session.cancelAllRequests { waiting.resume() } }
        queue.sync {}
        #expect(calls.withLock { $0 } == Array(repeating: 1, count: delays.count))
        let after = await session.request(server.url("/get")).validate().serializingData().response
        #expect(after.error == nil)
        await server.stop()
    }
}
