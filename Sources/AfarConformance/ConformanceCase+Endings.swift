import AfarTestServer
import AfarTransport
import Foundation
import HTTPTypes

extension ConformanceCase {
    static let events: [ConformanceCase] = [
        ConformanceCase(.events, "the head is reported before the bytes of the body") { trial in
            let observer = RecordingObserver()
            _ = try await trial.send(trial.exchange("/bytes/1000") { $0.observer = observer })
            try expectEqual(observer.heads, [200])
            try expectEqual(observer.received.last, 1000)
            try expect(observer.receivedAfterHead, "the head to be reported first")
        },
        ConformanceCase(.events, "all bytes sent are reported") { trial in
            let observer = RecordingObserver()
            let body = RequestBody.data(ConformanceServer.bytes(200_000))
            _ = try await trial.send(trial.exchange("/echo", "POST", body: body) { $0.observer = observer })
            try expectEqual(observer.sent.last, 200_000)
            try expectEqual(observer.sent, observer.sent.sorted())
        },
        ConformanceCase(.events, "an exchange has metrics", needs: .metrics) { trial in
            let report = try await trial.send(trial.exchange("/bytes/1000")).report
            try expectEqual(report.transactions.count, 1)
            let metrics = report.transactions[0]
            let moments = [metrics.fetchStartDate, metrics.responseStartDate, metrics.responseEndDate]
            try expect(
                moments.allSatisfy { $0 != nil }, "times of the start, the head and the end, but found \(moments)")
            let known = moments.compactMap { $0 }
            try expectEqual(known, known.sorted())
            try expectEqual(metrics.countOfResponseBodyBytesAfterDecoding, 1000)
        },
        ConformanceCase(.events, "a failure has metrics", needs: .metrics, needsSockets: true) { trial in
            let (exchange, _) = try await trial.exchange(with: [.receiveHead, .close])
            let error = try await trial.failure(exchange, .connectionLost, .malformedResponse)
            try expectEqual(error.report.transactions.count, 1)
        },
    ]

    static let limits: [ConformanceCase] = [
        ConformanceCase(.limits, "a body of the maximum size is accepted") { trial in
            let exchange = try trial.exchange("/bytes/1000", delivery: .collect(limit: 1000))
            try await expectEqual(trial.send(exchange).data.count, 1000)
        },
        ConformanceCase(.limits, "a larger body fails the exchange") { trial in
            _ = try await trial.failure(
                trial.exchange("/bytes/1001", delivery: .collect(limit: 1000)), .responseTooLarge)
        },
        ConformanceCase(.limits, "a larger body for a file fails the exchange", needs: .fileDelivery) { trial in
            let file = try ScratchFile()
            try await file.open {
                _ = try await trial.failure(
                    trial.exchange("/bytes/100000", delivery: .file(descriptor: $0, limit: 1000)), .responseTooLarge)
            }
        },
        ConformanceCase(.limits, "the total timeout ends the wait for the head") { trial in
            _ = try await trial.failure(trial.exchange("/slow") { $0.options.totalTimeout = 0.3 }, .timedOut)
        },
        ConformanceCase(.limits, "the total timeout ends a slow body") { trial in
            _ = try await trial.failure(trial.exchange("/drip/1000") { $0.options.totalTimeout = 0.5 }, .timedOut)
        },
        ConformanceCase(.limits, "the idle timeout ends a silent exchange", needsSockets: true) { trial in
            let (exchange, _) = try await trial.exchange(with: [.receiveHead, .waitForever]) {
                $0.options.idleTimeout = 0.3
            }
            _ = try await trial.failure(exchange, .timedOut)
        },
        ConformanceCase(.limits, "the idle timeout does not end a slow exchange") { trial in
            let exchange = try trial.exchange("/drip/50") { $0.options.idleTimeout = 2 }
            try await expectEqual(trial.send(exchange).data.count, 50)
        },
        ConformanceCase(
            .limits, "the connect timeout ends a connection attempt", needs: .connectTimeout, needsSockets: true
        ) { trial in
            // An address that is reserved for documentation (RFC 5737), so no host responds.
            let exchange = try trial.exchange(authority: "192.0.2.1", "/") { $0.options.connectTimeout = 0.3 }
            _ = try await trial.failure(exchange, .timedOut, .cannotConnect, .notConnected)
        },
    ]

    static let control: [ConformanceCase] = [
        ConformanceCase(.control, "an exchange that is canceled before it starts ends at once") { trial in
            try await trial.expectCancellation(of: trial.exchange("/slow"), after: .zero)
        },
        ConformanceCase(.control, "an exchange can be canceled while it waits for the head") { trial in
            try await trial.expectCancellation(of: trial.exchange("/slow"), after: .milliseconds(100))
        },
        ConformanceCase(.control, "an exchange can be canceled while it receives the body") { trial in
            try await trial.expectCancellation(of: trial.exchange("/stuck"), after: .milliseconds(200))
        },
        ConformanceCase(
            .control, "an exchange can be canceled while it waits for more body to send", needs: .streamedUpload
        ) {
            trial in
            let stream = RequestBodyStream(length: nil, isReplayable: false) {
                {
                    try await Task.sleep(for: .seconds(30))
                    return nil
                }
            }
            let exchange = try trial.exchange("/echo", "POST", body: .stream(stream))
            try await trial.expectCancellation(of: exchange, after: .milliseconds(100))
        },
        ConformanceCase(.control, "a canceled stream ends", needs: .streamedDelivery) { trial in
            let stream = try await trial.send(trial.exchange("/drip/1000", delivery: .stream())).stream
            stream.cancel()
            _ = try await trial.failure([.cancelled]) { for try await _ in stream {} }
        },
        ConformanceCase(.control, "a suspended exchange waits until it is resumed", needs: .suspension) { trial in
            let exchange = try trial.exchange("/bytes/1000")
            exchange.control.suspend()
            let hasEnded = Locked(false)
            async let response = {
                defer { hasEnded.withLock { $0 = true } }
                return try await trial.send(exchange)
            }()
            try await Task.sleep(for: .milliseconds(200))
            try expect(!hasEnded.withLock { $0 }, "the exchange not to end while it is suspended")
            exchange.control.resume()
            try await expectEqual(response.data.count, 1000)
        },
        ConformanceCase(.control, "a suspended exchange can be canceled", needs: .suspension) { trial in
            let exchange = try trial.exchange("/bytes/1000")
            exchange.control.suspend()
            try await trial.expectCancellation(of: exchange, after: .milliseconds(50))
        },
        ConformanceCase(.control, "idle connections can be closed at any time") { trial in
            trial.transport.closeIdleConnections()
            async let response = trial.send(trial.exchange("/drip/10"))
            trial.transport.closeIdleConnections()
            try await expectEqual(response.data.count, 10)
            trial.transport.closeIdleConnections()
            try await expectEqual(trial.send(trial.exchange("/bytes/10")).data.count, 10)
        },
    ]

    static let failures: [ConformanceCase] = [
        ConformanceCase(.failures, "a port without a listener", needsSockets: true) { trial in
            let (exchange, server) = try await trial.exchange(with: [])
            await server.stop()
            let error = try await trial.failure(exchange, .cannotConnect)
            try expect(error.message.isEmpty == false, "a message")
        },
        ConformanceCase(.failures, "a host that does not exist", needsSockets: true) { trial in
            _ = try await trial.failure(
                trial.exchange(authority: "no-such-host.invalid", "/"), .cannotFindHost, within: .seconds(30))
        },
        ConformanceCase(.failures, "a server that closes without a response", needsSockets: true) { trial in
            let (exchange, _) = try await trial.exchange(with: [.receiveHead, .close])
            _ = try await trial.failure(exchange, .connectionLost, .malformedResponse)
        },
        ConformanceCase(.failures, "an incomplete body", needsSockets: true) { trial in
            let (exchange, _) = try await trial.exchange(
                with: [.respond("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfour"), .close])
            _ = try await trial.failure(exchange, .bodyIncomplete, .connectionLost)
        },
        ConformanceCase(.failures, "a connection reset within a body", needsSockets: true) { trial in
            let (exchange, _) = try await trial.exchange(
                with: [.respond("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfour"), .reset])
            _ = try await trial.failure(exchange, .bodyIncomplete, .connectionLost)
        },
        ConformanceCase(.failures, "an invalid chunk size", needsSockets: true) { trial in
            let (exchange, _) = try await trial.exchange(
                with: [.respond("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nfour\r\n"), .close])
            _ = try await trial.failure(exchange, .malformedResponse, .bodyIncomplete, .connectionLost)
        },
        ConformanceCase(.failures, "a body that cannot be decoded", needsSockets: true) { trial in
            guard trial.transport.capabilities.contentCodings.contains("gzip") else { return }
            let (exchange, _) = try await trial.exchange(
                with: [.respond("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 8\r\n\r\nnot gzip")],
                fields: [("Accept-Encoding", "gzip")])
            _ = try await trial.failure(exchange, .undecodableContent)
        },
        ConformanceCase(.failures, "a file that cannot be written", needs: .fileDelivery) { trial in
            let file = try ScratchFile()
            let handle = try FileHandle(forReadingFrom: file.url)
            defer { try? handle.close() }
            let delivery = ResponseDelivery.file(descriptor: handle.fileDescriptor)
            _ = try await trial.failure(trial.exchange("/bytes/1000", delivery: delivery), .deliveryFailed)
        },
        ConformanceCase(.failures, "the transport works after a failure", needsSockets: true) { trial in
            let (exchange, _) = try await trial.exchange(with: [.receiveHead, .reset])
            _ = try await trial.failure(exchange, .connectionLost, .malformedResponse)
            try await expectEqual(trial.send(trial.exchange("/bytes/10")).data.count, 10)
        },
        ConformanceCase(
            .failures, "a connection that the policy refuses is not opened, and no other one is used",
            needs: .connectionPolicy, needsSockets: true
        ) { trial in
            let answer = RawServer.Step.respond("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            let (exchange, server) = try await trial.exchange(with: [.loop([answer])])
            var (refused, allowed) = (exchange, exchange)
            (refused.options.connectionPolicy, allowed.options.connectionPolicy) = (OnePort(0), OnePort(exchange.port))
            for exchange in [exchange, allowed, allowed, exchange] {
                try await expectEqual(trial.send(exchange).data, Data("ok".utf8))
            }
            let error = try await trial.failure(refused, .refusedByPolicy)
            try expect(error.message.contains("the port is not allowed"), "the reason in: \(error.message)")
            try expect(error.message.contains("127.0.0.1"), "the address in: \(error.message)")
            try expectEqual(server.connectionCount, 2)
        },
        ConformanceCase(
            .failures, "the addresses of a resolver are used, and only by exchanges with this resolver",
            needs: .resolver, needsSockets: true
        ) { trial in
            let answer = RawServer.Step.respond("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            let (other, server) = try await trial.exchange(with: [.loop([answer])])
            // A reserved name that only the exchange's own resolver resolves (RFC 6761, section 6.4).
            var exchange = try trial.exchange(authority: "conformance.invalid:\(other.port)", "/")
            let (first, second) = (OneAddress("127.0.0.1"), OneAddress("127.0.0.1"))
            for resolver in [first, second, first] {
                exchange.options.resolver = resolver
                try await expectEqual(trial.send(exchange).data, Data("ok".utf8))
            }
            try expectEqual(server.connectionCount, 2)
            try expectEqual([first.lookupCount, second.lookupCount], [1, 1])
            exchange.options.resolver = OneAddress("no address")
            let error = try await trial.failure(exchange, .cannotFindHost)
            try expect(error.message.contains("OneAddress"), "the resolver's name in: \(error.message)")
            exchange.options.resolver = nil
            _ = try await trial.failure(exchange, .cannotFindHost)
        },
        ConformanceCase(.failures, "an unsupported feature is refused before a byte is sent") { trial in
            let all: [(TransportCapabilities.Features, @Sendable (inout Exchange) -> Void)] = [
                (.http2, { $0.options.httpVersion = .http2 }),
                (.minimumTLSVersion, { $0.options.minimumTLSVersion = .v13 }),
                (.duplex, { $0.body = .stream(.chunks(of: Data(), length: nil)) { $0.isDuplex = true } }),
                (.requestTrailers, { $0.body = .stream(.chunks(of: Data(), length: nil)) { $0.trailers = { [:] } } }),
                (.connectionPolicy, { $0.options.connectionPolicy = OnePort(nil) }),
                (.resolver, { $0.options.resolver = OneAddress("127.0.0.1") }),
            ]
            for (feature, demand) in all where !trial.transport.capabilities.features.contains(feature) {
                let error = try await trial.failure(trial.exchange("/echo") { demand(&$0) }, .unsupportedByTransport)
                try expect(
                    error.message.contains(trial.transport.capabilities.name),
                    "the transport's name in: \(error.message)")
            }
        },
    ]
}

/// A resolver that finds the same address for each host.
private final class OneAddress: HostResolver {
    private let address: String
    private let lookups = Locked(0)

    init(_ address: String) { self.address = address }

    var lookupCount: Int { lookups.withLock { $0 } }

    func addresses(of host: String) async throws -> ResolvedAddresses {
        lookups.withLock { $0 += 1 }
        return ResolvedAddresses(SocketAddress(address).map { [$0] } ?? [])
    }
}

/// A policy that allows connections only to the given port, or to all ports if the port is nil.
private final class OnePort: ConnectionPolicy {
    private let port: Int?

    init(_ port: Int?) { self.port = port }

    func decide(on candidate: ConnectionCandidate) -> ConnectionDecision {
        port == nil || candidate.address?.port == port ? .allow : .refuse(reason: "the port is not allowed")
    }
}

extension ConformanceTrial {
    fileprivate func expectCancellation(of exchange: Exchange, after delay: Duration) async throws {
        let task = Task { try await send(exchange) }
        if delay > .zero { try await Task.sleep(for: delay) }
        task.cancel()
        _ = try await failure([.cancelled], within: .seconds(3)) { _ = try await task.value }
    }
}

/// Records the events that it observes.
final class RecordingObserver: ExchangeObserver {
    private struct Notes {
        var heads: [Int] = []
        var sent: [Int64] = []
        var received: [Int64] = []
        var receivedAfterHead = true
    }

    private let notes = Locked(Notes())

    var heads: [Int] { notes.withLock { $0.heads } }
    var sent: [Int64] { notes.withLock { $0.sent } }
    var received: [Int64] { notes.withLock { $0.received } }
    var receivedAfterHead: Bool { notes.withLock { $0.receivedAfterHead } }

    func exchangeDidReceiveInformational(_ head: ResponseHead) { notes.withLock { $0.heads.append(head.status) } }
    func exchangeDidReceiveHead(_ head: ResponseHead) { notes.withLock { $0.heads.append(head.status) } }
    func exchangeDidSend(bytes: Int64, expected: Int64?) { notes.withLock { $0.sent.append(bytes) } }
    func exchangeDidReceive(bytes: Int64, expected: Int64?) {
        notes.withLock { notes in
            notes.received.append(bytes)
            if notes.heads.isEmpty { notes.receivedAfterHead = false }
        }
    }
}
