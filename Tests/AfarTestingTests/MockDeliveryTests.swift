import AfarCore
import AfarTesting
import Foundation
import HTTPTypes
import Testing

@Suite struct MockDeliveryTests {
    @Test func collectingStopsAtTheLimit() async throws {
        let transport = MockTransport { _ in .text("abcdef").chunked(into: 2) }
        #expect(try await transport.send(.to("/") { $0.delivery = .collect(limit: 6) }).text == "abcdef")
        let error = await failure { _ = try await transport.send(.to("/") { $0.delivery = .collect(limit: 5) }) }
        #expect(error?.code == .responseTooLarge)
    }

    @Test func bodyIsWrittenToTheDescriptor() async throws {
        let transport = MockTransport { _ in .text("abc") }
        let pipe = Pipe()
        let descriptor = pipe.fileHandleForWriting.fileDescriptor
        let response = try await transport.send(.to("/") { $0.delivery = .file(descriptor: descriptor) })
        guard case .file(3) = response.body else { throw Unexpected(what: "not in the file") }
        try pipe.fileHandleForWriting.close()
        #expect(try pipe.fileHandleForReading.readToEnd() == Data("abc".utf8))
        let full = try FileHandle(forWritingTo: URL(fileURLWithPath: "/dev/full"))
        let error = await failure {
            _ = try await transport.send(.to("/") { $0.delivery = .file(descriptor: full.fileDescriptor) })
        }
        #expect(error?.systemError == ENOSPC)
    }

    @Test func slowReaderAppliesBackpressure() async throws {
        var answer = MockResponse.text(String(repeating: "x", count: 100)).chunked(into: 10)
        answer.trailers[.date] = "now"
        let transport = MockTransport { [answer] _ in answer }
        let recorder = Recorder()
        let response = try await transport.send(
            .to("/") { ($0.delivery, $0.observer) = (.stream(highWaterMark: 20), recorder) })
        guard case .stream(let stream) = response.body else { throw Unexpected(what: "no stream") }
        await eventually { recorder.events.withLock { $0.last } == "received 20/100" }
        var count = 0
        for try await chunk in stream {
            count += chunk.count
            let sent = recorder.events.withLock { $0.count - 1 } * 10
            #expect(sent <= count + 30)
        }
        #expect(count == 100)
        #expect(await stream.report().trailers[.date] == "now")
    }

    @Test(arguments: [Int.min, -1, 0, .max]) func sizesCanHaveAnyValue(size: Int) async throws {
        let chunked = MockTransport { _ in .text("abc").chunked(into: size) }
        #expect(try await chunked.send(.to("/")).text == "abc")
        let broken = MockTransport { _ in .text("abc").interrupted(after: size) }
        #expect(await failure { _ = try await broken.send(.to("/")) }?.code == .bodyIncomplete)
        #expect(try await MockTransport { _ in .status(size) }.send(.to("/")).head.status == size)
    }

    @Test(arguments: [Duration.seconds(Int64.min), .seconds(-1), .seconds(Int64.max), Duration(attoseconds: .max)])
    func delaysCanHaveAnyValue(delay: Duration) async throws {
        for response in [MockResponse.text("abc").delayed(by: delay), .text("abc").chunked(into: 1, every: delay)] {
            let isAsked = Deferred<Void>()
            let transport = MockTransport { _ in
                isAsked.fulfill(())
                return response
            }
            let task = Task { try await transport.send(.to("/")).text }
            await isAsked.value
            if delay > .zero { task.cancel() }
            let text = try? await task.value
            #expect(text == (delay > .zero ? nil : "abc"))
        }
    }

    @Test func bodyCanBeTruncated() async throws {
        let transport = MockTransport { _ in .text("abcdef").interrupted(after: 4) }
        #expect(await failure { _ = try await transport.send(.to("/")) }?.code == .bodyIncomplete)
        let response = try await transport.send(.to("/") { $0.delivery = .stream() })
        guard case .stream(let stream) = response.body else { throw Unexpected(what: "no stream") }
        var text = ""
        let error = await failure {
            for try await chunk in stream { text += String(decoding: chunk, as: UTF8.self) }
        }
        #expect(text == "abcd")
        #expect(error?.code == .bodyIncomplete)
    }
}
