import Afar
import AfarCore
import AfarTestServer
import Foundation
import HTTPTypes
import Testing

/// Custom stages with the real transports.
@Suite(.timeLimit(.minutes(1))) struct StageTests {
    /// A stage that calls closures and records its calls.
    private final class Stage: ExchangeStage, StageRun {
        private let onRequest: @Sendable (Hop) -> Reply<RequestAction>
        private let onHead: @Sendable (ResponseHead, Hop) -> Reply<ResponseAction>
        private let onFailure: @Sendable (any Error) -> Reply<FailureAction>
        let begun = Locked<[String]>([])
        let ends = Locked<[String]>([])

        init(
            onRequest: @escaping @Sendable (Hop) -> Reply<RequestAction> = { _ in .now(.send) },
            onHead: @escaping @Sendable (ResponseHead, Hop) -> Reply<ResponseAction> = { _, _ in .now(.pass) },
            onFailure: @escaping @Sendable (any Error) -> Reply<FailureAction> = { .now(.fail($0)) }
        ) {
            (self.onRequest, self.onHead, self.onFailure) = (onRequest, onHead, onFailure)
        }

        func begin(_ hop: Hop) -> (any StageRun)? { self }

        func before(_ hop: Hop) -> Reply<RequestAction> {
            begun.withLock { $0.append(hop.exchange.request.path ?? "") }
            return onRequest(hop)
        }

        func head(_ head: ResponseHead, of hop: Hop) -> Reply<ResponseAction> { onHead(head, hop) }

        func failed(_ error: any Error, of hop: Hop) -> Reply<FailureAction> { onFailure(error) }

        func ended(_ hop: Hop, with result: Result<TransportResponse, any Error>?) {
            let text =
                switch result {
                case .success(let response): "\(response.head.status)"
                case .failure: "failure"
                case nil: "followed"
                }
            ends.withLock { $0.append(text) }
        }
    }

    private func session(
        _ kind: TransportKind, _ stages: [any ExchangeStage],
        _ configure: (inout SessionConfiguration) -> Void = { _ in }
    ) -> Session {
        var configuration = SessionConfiguration.default
        configure(&configuration)
        return Session(configuration: configuration, stages: stages, transport: kind.make(configuration))
    }

    private func signed(_ name: String) -> Stage {
        Stage(onRequest: { hop in
            .wait {
                await Task.yield()
                var exchange = hop.exchange
                let count = exchange.request.headerFields[values: .cacheControl].count
                exchange.request.headerFields.append(HTTPField(name: .cacheControl, value: "\(name)=\(count)"))
                return .change(exchange)
            }
        })
    }

    @Test(arguments: TransportKind.allCases)
    func everySentRequestPassesTheStagesInOrder(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        server.route("/signed") { .text($0.headers.values(of: "Cache-Control").joined(separator: ", ")) }
        let (first, second) = (signed("a"), signed("b"))
        let session = session(kind, [first, second])
        let url = server.url("/redirect-to?url=/signed")
        #expect(try await session.request(url).serializingString().value == "a=0, b=1")
        #expect(first.begun.withLock { $0 } == ["/redirect-to?url=/signed", "/signed"])
        #expect(second.begun.withLock { $0.count } == 2)
        #expect(first.ends.withLock { $0 } == ["followed", "200"])
        await server.stop()
    }

    @Test(arguments: TransportKind.allCases)
    func aStageCanAnswerInsteadOfTheServer(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let stage = Stage(
            onRequest: { hop in
                guard hop.exchange.request.path == "/own" else { return .now(.send) }
                let head = ResponseHead(status: 418, fields: [.server: "own"], url: hop.exchange.url)
                return .now(.answer(TransportResponse(head: head, body: .data(Data("tea".utf8)))))
            },
            onHead: { head, hop in
                guard head.status == 503 else { return .now(.pass) }
                let head = ResponseHead(status: 200, url: hop.exchange.url)
                return .wait { .replace(TransportResponse(head: head, body: .data(Data("well".utf8)))) }
            })
        let session = session(kind, [stage])
        let own = await session.request(server.url("/own")).serializingString().response
        #expect(own.value == "tea" && own.response?.statusCode == 418 && server.requestCount == 0)
        #expect(try await session.request(server.url("/status/503")).validate().serializingString().value == "well")
        var bytes = Data()
        for await data in session.streamRequest(server.url("/own")).streamTask().streamingData() {
            bytes.append(data.value ?? Data())
        }
        #expect(bytes == Data("tea".utf8))
        await server.stop()
    }

    @Test(arguments: TransportKind.allCases)
    func aStageCanResendARequest(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let count = Locked(0)
        server.route("/wavering") { _ in
            let number = count.withLock { count in
                count += 1
                return count
            }
            return number < 3 ? ServerResponse(status: 503) : .text("at last")
        }
        let stage = Stage(onHead: { head, hop in
            .now(head.status == 503 ? .follow(hop.exchange, .validation) : .pass)
        })
        let session = session(kind, [stage])
        #expect(try await session.request(server.url("/wavering")).serializingString().value == "at last")
        #expect(stage.ends.withLock { $0 } == ["followed", "followed", "200"])
        await server.stop()
    }

    @Test(arguments: TransportKind.allCases) func aStageCanRecoverFromAFailure(kind: TransportKind) async throws {
        let closed = try ClosedPort()
        defer { withExtendedLifetime(closed) {} }
        let port = closed.number
        let stage = Stage(onFailure: { error in
            guard (error as? TransportError)?.code == .cannotConnect else { return .now(.fail(error)) }
            let head = ResponseHead(status: 200, url: "")
            return .wait { .answer(TransportResponse(head: head, body: .data(Data("kept".utf8)))) }
        })
        let session = session(kind, [stage])
        #expect(try await session.request("http://127.0.0.1:\(port)/").serializingString().value == "kept")
    }

    private struct Closed: Error {}

    @Test(arguments: TransportKind.allCases) func aStagesErrorFailsTheRequest(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let stages = [
            Stage(onRequest: { _ in .now(.fail(Closed())) }), Stage(onHead: { _, _ in .now(.fail(Closed())) }),
        ]
        for stage in stages {
            let session = session(kind, [stage])
            let error = await session.request(server.url("/get")).serializingString().response.error
            #expect(error?.underlyingError is Closed, "\(String(describing: error))")
            #expect(stage.ends.withLock { $0 } == ["failure"])
        }
        #expect(server.requestCount == 1)
        await server.stop()
    }

    @Test(arguments: TransportKind.allCases)
    func aStageThatIgnoresCancellationDoesNotBlock(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let (waits, wait) = AsyncStream<Void>.makeStream()
        let end = Locked<CheckedContinuation<Void, Never>?>(nil)
        let stage = Stage(onRequest: { _ in
            .wait {
                await withCheckedContinuation { continuation in
                    end.withLock { $0 = continuation }
                    wait.yield()
                }
                return .send
            }
        })
        let session = session(kind, [stage])
        let request = session.request(server.url("/get"))
        async let response = request.serializingString().response
        for await _ in waits { break }
        request.cancel()
        #expect(await response.error?.isExplicitlyCancelledError == true)
        end.withLock { $0?.resume() }
        #expect(server.requestCount == 0)
        await server.stop()
    }

    @Test(arguments: TransportKind.allCases)
    func aSlowStageEndsWithTheTotalTimeout(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let wait = { @Sendable in _ = try? await Task.sleep(for: .seconds(600)) }
        for stage in [
            Stage(onRequest: { _ in
                .wait {
                    await wait()
                    return .send
                }
            }),
            Stage(onHead: { _, _ in
                .wait {
                    await wait()
                    return .pass
                }
            }),
        ] {
            let session = session(kind, [stage]) { $0.timeoutIntervalForResource = 0.3 }
            let error = await session.request(server.url("/get")).serializingData().response.error
            #expect((error?.underlyingError as? URLError)?.code == .timedOut, "\(String(describing: error))")
            #expect(stage.ends.withLock { $0 } == ["failure"])
        }
        await server.stop()
    }

    @Test func cachedResponsesDoNotPassTheStages() async throws {
        let server = try await TestServer.start()
        let stage = Stage()
        let session = session(.platform, [stage]) { $0.cacheStore = MemoryCacheStore() }
        for _ in 0..<3 { _ = try await session.request(server.url("/cache/60")).serializingData().value }
        #expect(stage.begun.withLock { $0.count } == 1)
        await server.stop()
    }
}
