import AfarHTTP1
import AfarTransport
import HTTPTypes
import Testing

@testable import AfarHTTP2

/// Random frames with fixed seeds.
struct RandomTests {
    private struct Generator: RandomNumberGenerator {
        var state: UInt64

        /// SplitMix64.
        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var value = state
            value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
            value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
            return value ^ value >> 31
        }

        mutating func chance(_ count: Int) -> Bool { Int.random(in: 0..<count, using: &self) == 0 }
    }

    private static let ids: [Int32] = [1, 3, 5, 7]

    /// Returns frames, most of which are valid.
    private func frames(_ generator: inout Generator) -> [[UInt8]] {
        (0..<Int.random(in: 1...30, using: &generator)).map { _ in
            let id = Self.ids.randomElement(using: &generator) ?? 1
            let ends = generator.chance(4)
            let text = String(repeating: "x", count: Int.random(in: 0...40, using: &generator))
            switch Int.random(in: 0..<20, using: &generator) {
            case 0...3:
                return Frames.ok(id, generator.chance(2) ? [] : [("content-length", "\(text.count)")], endsStream: ends)
            case 4...8: return Frames.data(id, text, endsStream: ends)
            case 9: return Frames.headers(id, [("x", text)], endsStream: true)
            case 10: return Frames.headers(id, [(":status", "103"), ("link", text)])
            case 11:
                return Frames.headers(id, [(":status", "200")], endsStream: ends, endsHeaders: false)
                    + Frames.frame(9, flags: 4, id, Frames.block([("a", text)]))
            case 12: return Frames.reset(id, UInt32.random(in: 0...14, using: &generator))
            case 13: return Frames.goAway(id, UInt32.random(in: 0...14, using: &generator), text)
            case 14: return Frames.windowUpdate(generator.chance(2) ? 0 : id, 1_000)
            case 15: return Frames.ping
            case 16: return Frames.settings([(3, 10), (4, UInt32.random(in: 0...70_000, using: &generator))])
            case 17: return Frames.frame(0, flags: ends ? 9 : 8, id, [2] + Array(text.utf8) + [0, 0])
            case 18: return Frames.frame(UInt8.random(in: 0...20, using: &generator), Array(text.utf8))
            default: return Frames.frame(2, flags: 0, id, [0, 0, 0, 9, 1])
            }
        }
    }

    private func mutate(_ bytes: inout [UInt8], _ generator: inout Generator) {
        for _ in 0..<Int.random(in: 0...3, using: &generator) where !bytes.isEmpty {
            let index = Int.random(in: bytes.indices, using: &generator)
            switch Int.random(in: 0..<4, using: &generator) {
            case 0: bytes[index] ^= 1 << UInt8.random(in: 0...7, using: &generator)
            case 1: bytes[index] = UInt8.random(in: 0...255, using: &generator)
            case 2: bytes.removeSubrange(index..<min(bytes.count, index + 9))
            default: bytes.insert(contentsOf: bytes[index...].prefix(20), at: index)
            }
        }
    }

    /// Runs four requests, of which one has a body and one is HEAD. Returns the events.
    private func run(
        _ bytes: [UInt8], _ generator: inout Generator, pieces: (inout Generator) -> Int, acts: Bool
    ) throws -> (recorders: [Recorder], canceled: Set<Int32>, failure: Fault?) {
        let client = try HTTP2Session()
        try client.receive(Frames.settings)
        var recorders: [Recorder] = []
        var canceled: Set<Int32> = []
        for id in Self.ids {
            let recorder = Recorder()
            recorder.onBody = { [weak client] count in client?.consume(count, of: id) }
            recorder.partBytes = [UInt8](repeating: 1, count: 100)
            recorder.parts = [.bytes(40, isLast: false), .wait]
            recorders.append(recorder)
            _ = try client.get(recorder, id == 7 ? .head : .get, body: id == 5 ? .length(100) : .none)
        }
        var written = client.output()
        var rest = bytes[...]
        while !rest.isEmpty, client.failure == nil {
            let piece = Array(rest.prefix(pieces(&generator)))
            rest = rest.dropFirst(piece.count)
            try? client.receive(piece)
            if acts {
                let id = Self.ids.randomElement(using: &generator) ?? 1
                switch Int.random(in: 0..<8, using: &generator) {
                case 0:
                    client.cancel(id)
                    canceled.insert(id)
                case 1: client.resumeBody(of: id)
                case 2: client.ping()
                case 3: client.sendGoAway()
                case 4: _ = client.canOpenStream
                default: break
                }
            }
            if acts, generator.chance(2) {
                // A part of a frame stays in the session while it receives other bytes.
                var buffer = [UInt8](repeating: 0, count: Int.random(in: 1...200, using: &generator))
                let count = buffer.withUnsafeMutableBytes { client.write(into: $0) }
                written += buffer.prefix(count)
            }
        }
        written += client.output()
        client.receiveEndOfInput()
        #expect(client.output().isEmpty)
        #expect(written.count < 3_000 + 4 * bytes.count)
        #expect(isWellFormed(written.dropFirst(24)))
        return (recorders, canceled, client.failure)
    }

    /// Whether the bytes are complete frames of known types and streams.
    private func isWellFormed(_ bytes: ArraySlice<UInt8>) -> Bool {
        var rest = bytes
        while rest.count >= 9 {
            let header = Array(rest.prefix(9)).withUnsafeBytes { FrameHeader($0[...]) }
            guard header.type < 10, header.streamID == 0 || Self.ids.contains(header.streamID),
                rest.count >= 9 + header.length
            else { return false }
            rest = rest.dropFirst(9 + header.length)
        }
        return rest.isEmpty
    }

    private func check(_ recorders: [Recorder], _ canceled: Set<Int32>, _ seed: Int) {
        for (id, recorder) in zip(Self.ids, recorders) {
            let valid =
                !recorder.hasLateEvent
                && (recorder.terminalCount == 1 || recorder.terminalCount == 0 && canceled.contains(id))
            if !valid { Issue.record("seed \(seed): \(recorder.text)") }
            guard recorder.isComplete else { continue }
            guard let head = recorder.head else {
                Issue.record("seed \(seed): a response without a head")
                continue
            }
            let hasBody = id != 7 && head.status != 204 && head.status != 304
            if hasBody, let length = head.contentLength, Int(length) != recorder.body.count {
                Issue.record("seed \(seed): \(recorder.body.count) of \(length) bytes")
            }
            if !hasBody, !recorder.body.isEmpty { Issue.record("seed \(seed): unexpected body") }
        }
    }

    /// Mutated bytes in random pieces, with random actions of the client.
    @Test func mutatedFrames() throws {
        var completeCount = 0
        for seed in 0..<6_000 {
            var generator = Generator(state: UInt64(seed))
            var bytes = Array(frames(&generator).joined())
            mutate(&bytes, &generator)
            let (recorders, canceled, _) = try run(
                bytes, &generator, pieces: { Int.random(in: 1...60, using: &$0) }, acts: true)
            check(recorders, canceled, seed)
            completeCount += recorders.count(where: \.isComplete)
        }
        #expect(completeCount > 500)
    }

    /// Random bytes after the settings.
    @Test func randomBytes() throws {
        for seed in 0..<2_000 {
            var generator = Generator(state: UInt64(seed))
            let bytes = (0..<200).map { _ in UInt8.random(in: 0...(seed % 2 == 0 ? 255 : 12), using: &generator) }
            let (recorders, canceled, _) = try run(bytes, &generator, pieces: { _ in 50 }, acts: false)
            check(recorders, canceled, seed)
        }
    }

    /// The events don't depend on how the bytes are divided. Nothing is written in between, because frames that violate the state of a
    /// stream are errors only until the client has reset the stream.
    @Test func divisionDoesNotMatter() throws {
        for seed in 0..<2_000 {
            var generator = Generator(state: UInt64(seed))
            var bytes = Array(frames(&generator).joined())
            if seed % 2 == 0 { mutate(&bytes, &generator) }
            let whole = try run(bytes, &generator, pieces: { _ in .max }, acts: false)
            for size in [1, 13] {
                let divided = try run(bytes, &generator, pieces: { _ in size }, acts: false)
                for (first, second) in zip(whole.recorders, divided.recorders) {
                    guard first.isComplete || second.isComplete else { continue }
                    #expect(first.text == second.text, "seed \(seed)")
                    #expect(first.body == second.body, "seed \(seed)")
                }
            }
            check(whole.recorders, [], seed)
        }
    }

    /// A response is complete only if its last byte has arrived.
    @Test func truncatedInput() throws {
        let parts: [(id: Int32, bytes: [UInt8])] = [
            (1, Frames.ok(1, [("content-length", "3")])), (3, Frames.ok(3)), (5, Frames.ok(5)),
            (1, Frames.data(1, "ab")), (3, Frames.data(3, "xyz")), (5, Frames.data(5, "123")),
            (1, Frames.data(1, "c", endsStream: true)), (3, Frames.data(3, "", endsStream: true)),
            (5, Frames.headers(5, [("a", "1")], endsStream: true)), (7, Frames.ok(7, endsStream: true)),
        ]
        let bytes = parts.flatMap(\.bytes)
        var ends: [Int32: Int] = [:]
        var offset = 0
        for part in parts {
            offset += part.bytes.count
            ends[part.id] = offset
        }
        var generator = Generator(state: 1)
        for count in 0...bytes.count {
            let (recorders, _, _) = try run(Array(bytes.prefix(count)), &generator, pieces: { _ in 17 }, acts: false)
            for (id, recorder) in zip(Self.ids, recorders) {
                #expect(recorder.isComplete == (count >= ends[id, default: 0]), "\(count) bytes: \(recorder.text)")
            }
        }
    }
}
