import AfarCore
import AfarTesting
import Foundation
import HTTPTypes
import Testing

@Suite struct MockEndingTests {
    @Test func cancellingDoesNotWaitForTheClosure() async throws {
        let (requested, release) = (Gate(), Gate())
        let transport = MockTransport { _ in
            await requested.open()
            await release.pass()
            return .status(200)
        }
        let task = Task { try await transport.send(.to("/")) }
        await requested.pass()
        task.cancel()
        #expect(await failure { _ = try await task.value }?.code == .cancelled)
        await release.open()
    }

    @Test func afterCancellationTheClosureIsNotCalled() async throws {
        let transport = MockTransport { _ in .status(200) }
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            return try await transport.send(.to("/"))
        }
        task.cancel()
        #expect(await failure { _ = try await task.value }?.code == .cancelled)
        #expect(transport.requests.isEmpty)
    }

    @Test func totalTimeoutEndsTheExchange() async throws {
        let transport = MockTransport { _ in .status(200).delayed(by: .seconds(3600)) }
        let error = await failure { _ = try await transport.send(.to("/") { $0.options.totalTimeout = 0.05 }) }
        #expect(error?.code == .timedOut)
        #expect(error?.phase == .awaitingResponse)
    }

    @Test func suspendedExchangeWaits() async throws {
        let control = ExchangeControl()
        let transport = MockTransport { _ in
            control.suspend()
            return .text("ok")
        }
        let recorder = Recorder()
        let task = Task { try await transport.send(.to("/") { ($0.control, $0.observer) = (control, recorder) }) }
        await eventually { control.isSuspended }
        for _ in 0..<100 { await Task.yield() }
        #expect(recorder.events.withLock { $0.isEmpty })
        control.resume()
        #expect(try await task.value.text == "ok")
    }

    @Test func suspendedExchangeCanBeCancelled() async throws {
        let control = ExchangeControl()
        control.suspend()
        let task = Task { try await MockTransport { _ in .status(200) }.send(.to("/") { $0.control = control }) }
        task.cancel()
        #expect(await failure { _ = try await task.value }?.code == .cancelled)
    }

    @Test func cancelledStreamStopsTheMock() async throws {
        let transport = MockTransport { _ in .text("abcdef").chunked(into: 1, every: .milliseconds(1)) }
        let response = try await transport.send(.to("/") { $0.delivery = .stream() })
        guard case .stream(let stream) = response.body else { throw Unexpected(what: "no stream") }
        stream.cancel()
        #expect(await failure { for try await _ in stream {} }?.code == .cancelled)
        _ = await stream.report()
    }

    @Test func concurrentExchangesEndOnce() async throws {
        let transport = MockTransport { .data($0.body).chunked(into: 1) }
        await withTaskGroup(of: Void.self) { group in
            for turn in 0..<200 {
                group.addTask {
                    let task = Task {
                        try await transport.send(.to("/") { $0.body = .data(Data([1, 2, 3, 4])) })
                    }
                    for _ in 0..<turn { await Task.yield() }
                    task.cancel()
                    let error = await failure { _ = try await task.value }
                    #expect(error == nil || error?.code == .cancelled)
                }
            }
        }
    }
}
