import AfarTesting
import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import AfarStages

/// The order in which stages process requests and responses. Every exchange completes exactly once.
struct HopDriverTests {
    /// A stage that logs its calls and returns the results of closures.
    private struct LoggingStage: ExchangeStage {
        let name: String
        let log: Log
        var onRequest: @Sendable (Hop) -> Reply<RequestAction> = { _ in .now(.send) }
        var onHead: @Sendable (ResponseHead, Hop) -> Reply<ResponseAction> = { _, _ in .now(.pass) }
        var onFailure: @Sendable (any Error, Hop) -> Reply<FailureAction> = { error, _ in .now(.fail(error)) }

        func begin(_ hop: Hop) -> (any StageRun)? {
            log.append("\(name) begins")
            return Run(notes: self)
        }

        struct Run: StageRun {
            let notes: LoggingStage

            func before(_ hop: Hop) -> Reply<RequestAction> {
                notes.log.append("\(notes.name) before \(hop.exchange.request.path ?? "")")
                return notes.onRequest(hop)
            }

            func head(_ head: ResponseHead, of hop: Hop) -> Reply<ResponseAction> {
                notes.log.append("\(notes.name) head \(head.status)")
                return notes.onHead(head, hop)
            }

            func failed(_ error: any Error, of hop: Hop) -> Reply<FailureAction> {
                notes.log.append("\(notes.name) failed")
                return notes.onFailure(error, hop)
            }

            func ended(_ hop: Hop, with result: Result<TransportResponse, any Error>?) {
                let word =
                    switch result {
                    case .success: "completed"
                    case .failure: "failed"
                    case nil: "dropped"
                    }
                notes.log.append("\(notes.name) ended \(hop.exchange.request.path ?? ""): \(word)")
            }
        }
    }

    /// Sends a request for "/next" after a 503 response.
    @Sendable private static func next(_ head: ResponseHead, _ hop: Hop) -> Reply<ResponseAction> {
        guard head.status == 503 else { return .now(.pass) }
        var exchange = hop.exchange
        exchange.request.path = "/next"
        return .now(.follow(exchange, .challenge))
    }

    private let mock = MockTransport { request in
        request.path == "/next" ? .text("there") : .text("busy", status: 503)
    }

    @Test func stagesAreCalledInOrderAndInnerOnesRestart() async throws {
        let log = Log()
        let (outer, inner) = (
            LoggingStage(name: "outer", log: log, onHead: Self.next), LoggingStage(name: "inner", log: log)
        )
        let response = try await StagedTransport(mock, outer, inner).send(.to("http://mock/first"))
        #expect(response.text == "there")
        #expect(
            log.entries == [
                "outer begins", "outer before /first", "inner begins", "inner before /first", "inner head 503",
                "outer head 503", "outer ended /first: dropped", "inner ended /first: dropped", "outer before /next",
                "inner begins", "inner before /next", "inner head 200", "outer head 200",
                "outer ended /next: completed", "inner ended /next: completed",
            ])
    }

    @Test func anInnerStageHidesItsResponseFromTheOuterOne() async throws {
        let log = Log()
        let (outer, inner) = (
            LoggingStage(name: "outer", log: log), LoggingStage(name: "inner", log: log, onHead: Self.next)
        )
        _ = try await StagedTransport(mock, outer, inner).send(.to("http://mock/first"))
        #expect(!log.entries.contains("outer head 503"))
        #expect(log.entries.count { $0.hasPrefix("outer before") } == 1)
    }

    @Test func aStagesChangesAffectOnlyLaterStages() async throws {
        let log = Log()
        let outer = LoggingStage(
            name: "outer", log: log,
            onRequest: { hop in
                var exchange = hop.exchange
                exchange.request.path = "/next"
                return .wait { [exchange] in .change(exchange) }
            })
        let response = try await StagedTransport(mock, outer, LoggingStage(name: "inner", log: log))
            .send(.to("http://mock/first"))
        #expect(response.text == "there")
        #expect(log.entries.filter { $0.contains("before") } == ["outer before /first", "inner before /next"])
    }

    /// For example, a cache does this if it has stored a fresh response.
    @Test(arguments: [true, false])
    func aStageCanAnswerWithoutTheNetwork(isLater: Bool) async throws {
        let log = Log()
        let kept = TransportResponse(
            head: ResponseHead(status: 200, url: "http://mock/first"), body: .data(Data("kept".utf8)))
        let cache = LoggingStage(
            name: "cache", log: log, onRequest: { _ in isLater ? .wait { .answer(kept) } : .now(.answer(kept)) })
        let stages: [any ExchangeStage] = [
            LoggingStage(name: "outer", log: log), cache, LoggingStage(name: "inner", log: log),
        ]
        let response = try await StagedTransport(mock, stages[0], stages[1], stages[2]).send(.to("http://mock/first"))
        #expect(response.text == "kept")
        #expect(mock.requests.isEmpty)
        #expect(log.entries.filter { $0.contains("head") } == ["outer head 200"])
        #expect(!log.entries.contains("inner begins"))
    }

    /// For example, a cache replaces a 304 response with the stored one.
    @Test func aStageCanReplaceAResponse() async throws {
        let kept = TransportResponse(
            head: ResponseHead(status: 200, url: "http://mock/first"), body: .data(Data("kept".utf8)))
        let cache = LoggingStage(name: "cache", log: Log(), onHead: { _, _ in .now(.replace(kept)) })
        let response = try await StagedTransport(mock, cache).send(.to("http://mock/first"))
        #expect(response.text == "kept")
        #expect(response.report.transactions.count == 1)
    }

    @Test(arguments: [true, false])
    func aStageCanRecoverFromAFailure(isLater: Bool) async throws {
        let attempts = Locked(0)
        let transport = MockTransport { _ in
            let count = attempts.withLock { count in
                count += 1
                return count
            }
            return count < 3 ? .failure(.connectionLost) : .text("at last")
        }
        let log = Log()
        let stage = LoggingStage(
            name: "again", log: log, onFailure: { _, _ in isLater ? .wait { .again } : .now(.again) })
        let response = try await StagedTransport(transport, LoggingStage(name: "outer", log: log), stage)
            .send(.to("http://mock/"))
        #expect(response.text == "at last")
        #expect(response.report.transactions.count == 3)
        #expect(log.entries.count { $0 == "again ended /: failed" } == 2)
        #expect(!log.entries.contains("outer failed"))
    }

    @Test func anUnrecoveredFailureIsReportedToAllStages() async throws {
        let log = Log()
        let transport = MockTransport { _ in .failure(.connectionLost) }
        let error = await transportFailure {
            _ = try await StagedTransport(
                transport, LoggingStage(name: "outer", log: log), LoggingStage(name: "inner", log: log)
            )
            .send(.to("http://mock/"))
        }
        #expect(error?.code == .connectionLost)
        #expect(
            log.entries.suffix(4) == ["inner failed", "outer failed", "outer ended /: failed", "inner ended /: failed"])
    }

    @Test func aStagesErrorFailsTheExchangeWithTheReport() async throws {
        struct Unwanted: Error {}
        let stage = LoggingStage(
            name: "strict", log: Log(),
            onHead: { _, hop in
                .now(.fail(TransportError(.invalidUse, phase: .receiving, url: nil, message: "no")))
            })
        let error = await transportFailure { _ = try await StagedTransport(mock, stage).send(.to("http://mock/")) }
        #expect(error?.code == .invalidUse)
        #expect(error?.report.transactions.count == 1)
    }

    /// At any point, a cancellation completes the exchange once and quickly.
    @Test(arguments: ["before", "head", "failed", "transport"])
    func cancellationEndsTheExchangeOnce(at place: String) async throws {
        let arrived = Deferred<Bool>()
        @Sendable func forever<Answer: Sendable>(_ answer: Answer) -> Reply<Answer> {
            .wait {
                arrived.fulfill(true)
                let never = Deferred<Bool>()
                await withTaskCancellationHandler {
                    _ = await never.value
                } onCancel: {
                    never.fulfill(true)
                }
                return answer
            }
        }
        let transport = MockTransport { _ in
            if place == "failed" { return .failure(.connectionLost) }
            if place == "transport" {
                arrived.fulfill(true)
                try await Task.sleep(for: .seconds(600))
            }
            return .text("there")
        }
        let log = Log()
        let stage = LoggingStage(
            name: "slow", log: log,
            onRequest: { _ in place == "before" ? forever(.send) : .now(.send) },
            onHead: { _, _ in place == "head" ? forever(.pass) : .now(.pass) },
            onFailure: { error, _ in place == "failed" ? forever(.again) : .now(.fail(error)) })
        let task = Task { try await StagedTransport(transport, stage).send(.to("http://mock/")) }
        _ = await arrived.value
        task.cancel()
        let error = await transportFailure { _ = try await task.value }
        #expect(error?.code == (place == "failed" ? .connectionLost : .cancelled))
        #expect(log.entries.filter { $0.contains("ended") } == ["slow ended /: failed"])
    }

    @Test func nothingIsReportedTwiceInAnyOrder() async throws {
        for round in 0..<200 {
            let exchange = try Exchange.to("http://mock/first")
            let ends = Locked(0)
            let ended = Deferred<Bool>()
            let stage = LoggingStage(
                name: "ask", log: Log(),
                onHead: { head, hop in
                    .wait {
                        if case .now(let onHead) = Self.next(head, hop) { return onHead }
                        return .pass
                    }
                })
            let driver = HopDriver(Hop(exchange), through: [stage], over: ExchangeSender(mock)) { _ in (.take(), nil) }
            Task {
                _ = try? await driver.response { Task(operation: $0) }
                ends.withLock { $0 += 1 }
                ended.fulfill(true)
            }
            let cancel = Task {
                for _ in 0..<round % 40 { await Task.yield() }
                driver.cancel()
            }
            _ = await ended.value
            await cancel.value
            #expect(ends.withLock { $0 } == 1)
        }
    }

    /// Work that the decision about a head requests is performed even if the exchange ends before the next call to
    /// `next()`.
    @Test func workRequestedAtTheHeadIsPerformedAfterTheEnd() async throws {
        struct Early: ExchangeStage {
            struct Run: StageRun {
                func before(_ hop: Hop) -> Reply<RequestAction> { .wait { .send } }
            }

            func begin(_ hop: Hop) -> (any StageRun)? { Run() }
        }
        struct Ending: StageRun {
            let ended: Deferred<Void>

            func ended(_ hop: Hop, with result: Result<TransportResponse, any Error>?) { ended.fulfill(()) }
        }
        struct Last: ExchangeStage {
            let ended: Deferred<Void>

            func begin(_ hop: Hop) -> (any StageRun)? { Ending(ended: ended) }
        }
        let log = Log()
        let isOver = Deferred<Void>()
        let driver = HopDriver(
            Hop(try .to("http://mock/")), through: [Early(), Last(ended: isOver)],
            over: ExchangeSender(MockTransport { _ in .text("there") })
        ) { _ in (.take(), { log.append("asked") }) }
        driver.advance()
        while case .run(let work) = await driver.next() {
            await work()
            // Calls `next()` again only after the exchange has ended.
            await isOver.value
        }
        #expect(log.entries == ["asked"])
    }

    /// If a decision requests work after the result has been taken, the work is released.
    @Test func workRequestedAfterTheEndIsReleased() throws {
        final class PendingWork: Sendable {}
        var state = HopDriver.State(Hop(try .to("http://mock/")))
        _ = state.post(.failure(CancellationError()))
        guard case .ended = state.takeEvent() else {
            Issue.record("there is no result")
            return
        }
        weak var left: PendingWork?
        do {
            let pendingWork = PendingWork()
            left = pendingWork
            _ = state.post(.run { withExtendedLifetime(pendingWork) {} }, isGuaranteed: true)
        }
        #expect(left == nil)
        withExtendedLifetime(state) {}
    }

    /// The driver and its prepared resources are released.
    @Test func cancellationBeforeTheStartLeavesNothing() async throws {
        weak var left: HopDriver?
        let error: TransportError?
        do {
            let driver = HopDriver(
                Hop(try .to("http://mock/")), through: [], over: ExchangeSender(MockTransport { _ in .text("there") })
            ) { _ in (.take(), nil) }
            left = driver
            driver.cancel()
            error = await transportFailure { _ = try await driver.response { Task(operation: $0) } }
        }
        #expect(error?.code == .cancelled)
        #expect(left == nil)
    }
}
