import Foundation
import Testing

@testable import AfarTransport

struct BodySinkTests {
    private func write(_ text: String, to sink: inout BodySink) throws -> BodySink.WriteResult {
        try Array(text.utf8).withUnsafeBytes { try sink.write($0) }
    }

    @Test func memoryAcceptsBytesUpToTheLimit() throws {
        var sink = BodySink(collecting: 6)
        sink.expect(.max)
        _ = try write("abc", to: &sink)
        _ = try write("def", to: &sink)
        let fault = #expect(throws: Fault.self) { try write("g", to: &sink) }
        #expect(fault?.code == .responseTooLarge)
        #expect(sink.byteCount == 6)
        guard case .data(let data) = sink.complete() else { throw CancellationError() }
        #expect(data == Data("abcdef".utf8))
    }

    @Test func aFileAcceptsBytesUpToTheLimit() throws {
        var ends: [Int32] = [0, 0]
        let answer = pipe(&ends)
        try #require(answer == 0)
        defer { ends.forEach { close($0) } }
        var sink = BodySink(descriptor: ends[1], limit: 3)
        _ = try write("abc", to: &sink)
        #expect(throws: Fault.self) { try write("d", to: &sink) }
        var bytes = [UInt8](repeating: 0, count: 10)
        let count = read(ends[0], &bytes, 10)
        #expect(count == 3)
        guard case .file(3) = sink.complete() else { throw CancellationError() }
    }

    @Test func anUnwritableFileFails() throws {
        let full = open("/dev/full", O_WRONLY | O_CLOEXEC)
        defer { close(full) }
        var sink = BodySink(descriptor: full, limit: nil)
        let fault = #expect(throws: Fault.self) { try write("abc", to: &sink) }
        #expect(fault?.code == .deliveryFailed)
        #expect(fault?.systemError == ENOSPC)
        #expect(sink.byteCount == 0)
    }

    @Test func aFullStreamAcceptsNothing() throws {
        let (stream, source) = ResponseBodyStream.make(highWaterMark: 4, onDemand: {}, onCancel: {})
        var sink = BodySink(source: source, highWaterMark: 4)
        #expect(try write("abcd", to: &sink) == .written)
        #expect(try write("e", to: &sink) == .full)
        #expect(sink.byteCount == 4)
        #expect(sink.complete() == nil)
        withExtendedLifetime(stream) {}
    }

    @Test func smallPiecesOfAStreamAreGathered() async throws {
        let (stream, source) = ResponseBodyStream.make(highWaterMark: 10, onDemand: {}, onCancel: {})
        var sink = BodySink(source: source, highWaterMark: 10)
        #expect(try write("abc", to: &sink) == .written)
        #expect(try write("def", to: &sink) == .written)
        sink.flush()
        #expect(try write("ghi", to: &sink) == .written)
        sink.flush()
        sink.flush()
        source.finish(throwing: nil, report: TransportReport())
        var chunks: [String] = []
        for try await chunk in stream { chunks.append(String(decoding: chunk, as: UTF8.self)) }
        #expect(chunks == ["abcdef", "ghi"])
    }
}
