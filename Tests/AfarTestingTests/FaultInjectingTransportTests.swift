import AfarCore
import AfarSerializers
import AfarTesting
import AfarTransport
import Foundation
import HTTPTypes
import Testing

@Suite struct FaultInjectingTransportTests {
    private let mock = MockTransport { _ in .text("0123456789") }

    private func transport(seed: UInt64 = 1, _ faults: FaultInjectingTransport.Fault...) -> FaultInjectingTransport {
        FaultInjectingTransport(mock, seed: seed, faults: faults)
    }

    private func statuses(_ transport: FaultInjectingTransport, _ count: Int = 200) async -> [Int] {
        var statuses: [Int] = []
        for _ in 0..<count { statuses.append((try? await transport.send(.to("/")))?.head.status ?? 0) }
        return statuses
    }

    @Test func theSeedDeterminesTheFaults() async {
        let faults: [FaultInjectingTransport.Fault] = [
            .response(.status(503), probability: 0.3), .reset(probability: 0.2),
        ]
        let runs = [1, 1, 2].map { FaultInjectingTransport(mock, seed: $0, faults: faults) }
        let statuses = [await statuses(runs[0]), await statuses(runs[1]), await statuses(runs[2])]
        #expect(statuses[0] == statuses[1])
        #expect(statuses[0] != statuses[2])
        #expect(runs[0].counts == [statuses[0].count { $0 == 503 }, statuses[0].count { $0 == 0 }])
        // 0.3 and 0.7 · 0.2 of 200.
        #expect((40...80).contains(runs[0].counts[0]))
        #expect((15...45).contains(runs[0].counts[1]))
    }

    @Test func probabilitiesOf0And1AreExact() async {
        let transport = transport(.reset(probability: 0), .response(.status(503), probability: 1))
        #expect(await statuses(transport) == Array(repeating: 503, count: 200))
        #expect(transport.counts == [0, 200])
        #expect(mock.requests.isEmpty)
    }

    @Test func aResponseCanBeAnError() async {
        let transport = transport(.response(.failure(.cannotConnect), probability: 1))
        #expect(await failure { _ = try await transport.send(.to("/")) }?.code == .cannotConnect)
    }

    @Test func aResetLosesTheResponse() async {
        let transport = transport(.reset(probability: 1))
        let error = await failure { _ = try await transport.send(.to("/")) }
        #expect(error?.code == .connectionLost && error?.phase == .awaitingResponse)
        #expect(mock.requests.count == 1)
    }

    @Test func anInterruptionCutsTheBody() async throws {
        let transport = transport(.interruption(after: 4, probability: 1))
        let error = await failure { _ = try await transport.send(.to("/")) }
        #expect(error?.code == .bodyIncomplete)
        #expect(error?.partialBody == Data("0123".utf8))

        var body = Data()
        let streamed = await failure {
            let response = try await transport.send(.to("/") { $0.delivery = .stream() })
            guard case .stream(let stream) = response.body else { return }
            for try await chunk in stream { body += chunk }
        }
        #expect(streamed?.code == .bodyIncomplete)
        #expect(body == Data("0123".utf8))
    }

    @Test func aBodyIsSentOnceForAnInterruption() async {
        let transport = transport(.interruption(after: 1, probability: 1))
        let body = RequestBodyStream(InputStream(data: Data("once".utf8)))
        let error = await failure { _ = try await transport.send(.to("/") { $0.body = .stream(body) }) }
        #expect(error?.code == .bodyIncomplete)
        #expect(mock.requests.map(\.body) == [Data("once".utf8)])
    }

    @Test func aDelayPassesInTheSessionsTimeAndAnotherFaultCanFollow() async {
        let clock = ManualClock()
        var configuration = SessionConfiguration()
        configuration.timeSource = clock.timeSource
        let transport = transport(
            .delay(.seconds(60), probability: 1), .response(.text("late"), probability: 1), .reset(probability: 1))
        let session = Session(configuration: configuration, transport: transport)
        async let response = session.request("http://mock.test/").serializingString().response
        await clock.waitForSleepers()
        clock.advance(by: .seconds(60))
        #expect(await response.value == "late")
        #expect(transport.counts == [1, 1, 0])
    }

    @Test func aDelayCanBeCanceled() async {
        let transport = transport(.delay(.seconds(1_000), probability: 1))
        let task = Task { await failure { _ = try await transport.send(.to("/")) } }
        task.cancel()
        #expect(await task.value?.code == .cancelled)
        #expect(mock.requests.isEmpty)
    }

    @Test func theDecisionAboutAHeadIsMadeOnce() async throws {
        let heads = Locked<[Int]>([])
        for fault in [FaultInjectingTransport.Fault.interruption(after: 2, probability: 1), .reset(probability: 1)] {
            _ = await failure {
                _ = try await transport(fault).send(
                    .to("/") { exchange in
                        exchange.decide = { head in
                            heads.withLock { $0.append(head.status) }
                            return .take()
                        }
                    })
            }
        }
        #expect(heads.withLock { $0 } == [200])
    }
}
