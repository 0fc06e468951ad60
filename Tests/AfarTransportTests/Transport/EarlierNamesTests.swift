import AfarTransport
import Foundation
import HTTPTypes
import Testing

/// Names that were changed still compile, with a warning, and mean the same.
@Suite struct EarlierNamesTests {
    private struct Refused: Error {}

    private let request = HTTPRequest(method: .get, scheme: "http", authority: "example.org", path: "/")

    @available(*, deprecated)
    @Test func phasesAndDeliveries() throws {
        #expect(TransportError.Phase.securing == .tlsHandshake)
        #expect(TransportError.Phase.waiting == .awaitingResponse)
        #expect(TransportError.Phase(rawValue: "securing") == .tlsHandshake)
        #expect(TransportError.Phase(rawValue: "waiting") == .awaitingResponse)
        #expect(ResponseDelivery.stream(highWater: 5) == .stream(highWaterMark: 5))
        #expect(ResponseDelivery.stream() == .stream(highWaterMark: 262_144))
        let name =
            switch TransportError.Phase.securing {
            case .securing: "securing"
            default: "other"
            }
        #expect(name == "securing")
    }

    @available(*, deprecated)
    @Test func anExchangeDemandsFeatures() {
        let exchange = Exchange(
            request: request, body: .file(URL(fileURLWithPath: "/x")), delivery: .stream(highWater: 1))
        #expect(exchange.demands == [.fileUpload, .streamedDelivery])
        #expect(exchange.demands == exchange.requiredFeatures)
    }

    @available(*, deprecated)
    @Test func aHeadIsSeenAndRefused() async throws {
        let seen = Locked(0)
        var exchange = Exchange(
            request: request,
            onHead: { head in
                seen.withLock { $0 += 1 }
                guard head.status == 200 else { throw Refused() }
            })
        let head = ResponseHead(status: 200, url: "http://example.org/")
        guard case .take(nil) = exchange.headArrived(head) else {
            Issue.record("not taken")
            return
        }
        guard case .refuse(let error) = exchange.headArrived(ResponseHead(status: 500, url: "http://example.org/"))
        else {
            Issue.record("not refused")
            return
        }
        #expect(error is Refused)
        try exchange.onHead?(head)
        #expect(throws: Refused.self) { try exchange.onHead?(ResponseHead(status: 404, url: "http://example.org/")) }
        #expect(seen.withLock { $0 } == 4)
        exchange.onHead = nil
        #expect(exchange.verdict == nil && exchange.onHead == nil)
    }

    @available(*, deprecated)
    @Test func aStreamHasAHighWater() async throws {
        let (stream, source) = ResponseBodyStream.make(highWater: 2, onDemand: {}, onCancel: {})
        source.yield(Data([1, 2]))
        #expect(source.isFull)
        source.finish(throwing: nil, report: TransportReport())
        var count = 0
        for try await chunk in stream { count += chunk.count }
        #expect(count == 2)
    }
}
