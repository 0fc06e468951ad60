import Afar
import AfarTransport
import Foundation
import Server
import Testing

@Suite struct Scratch {
    @Test func bigHeaders() async throws {
        let server = try await HummingbirdServer.start()
        let session = try HummingbirdServer.session()
        print("C", try await server.connection(of: session))
        let kept = (0..<2).map { n in
            let r =
                n == 0 ? session.request(server.url("held")) : session.upload(Data("b".utf8), to: server.url("held"));
            return Task { await r.serializingString().response }
        }
        try await server.gate.wait { $0.waiting == 2 }
        for size in [8_000, 15_000, 17_000, 40_000] {
            let r = await session.request(server.url("small"), headers: ["X-Big": String(repeating: "b", count: size)])
                .serializingString().response
            print(
                "BIG", size, r.result, r.metrics?.transactionMetrics.last?.localPort as Any,
                r.metrics?.transactionMetrics.last?.resendCount as Any)
        }
        server.gate.open()
        for k in kept { print("KEPT", await k.value.result) }
    }
    @Test(.enabled(if: ProcessInfo.processInfo.environment["SLOW"] != nil)) func longPoll() async throws {
        let server = try await HummingbirdServer.start()
        let session = try HummingbirdServer.session { $0.timeoutIntervalForRequest = 600 }
        let start = Date.now
        let kept = (0..<2).map { n in
            let r =
                n == 0 ? session.request(server.url("held")) : session.upload(Data("b".utf8), to: server.url("held"));
            return Task {
                let x = await r.serializingString().response;
                print("LONG", Date.now.timeIntervalSince(start), x.result); return x
            }
        }
        try await Task.sleep(for: .seconds(200))
        server.gate.open()
        for k in kept { _ = await k.value }
    }
    @Test(.enabled(if: ProcessInfo.processInfo.environment["SLOW"] != nil)) func polling() async throws {
        let server = try await HummingbirdServer.start()
        let session = try HummingbirdServer.session()
        let start = Date.now
        for n in 0..<12 {
            let r = await session.upload(Data("b".utf8), to: server.url("echo")).serializingString().response
            print(
                "POLL", n, Date.now.timeIntervalSince(start), r.result,
                r.metrics?.transactionMetrics.last?.localPort as Any)
            try await Task.sleep(for: .seconds(18))
        }
    }
}
