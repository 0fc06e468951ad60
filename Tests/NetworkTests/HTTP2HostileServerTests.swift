import Afar
import AfarTransport
import Foundation
import HTTPTypes
import Synchronization
import TestServers
import TestSupport
import Testing

/// Servers that violate HTTP/2 (RFC 9113) over TLS, on connections that have already carried other requests. See
/// `http2-hostile-server.py` for the behavior of each path.
@Suite(.timeLimit(.minutes(1)), .peers(.hostile)) struct HTTP2HostileServerTests {
    struct Behavior: Sendable, CustomTestStringConvertible {
        let path: String
        let codes: [TransportError.Code]
        /// Whether the connection remains usable.
        var keepsConnection = false
        var idleTimeout: TimeInterval = 10

        var testDescription: String { path }
    }

    private static let good = Data("ok".utf8)

    // MARK: Errors

    private static let malformed = [TransportError.Code.malformedResponse]

    /// Violations that end the connection.
    static let connectionErrors =
        [
            "ping", "pong", "settings", "settings-ack", "reset", "window", "stream-window", "priority", "unknown",
            "empty-data", "padding", "small-continuation", "empty-continuation", "goaway",
        ].map { Behavior(path: "/flood?kind=\($0)", codes: malformed) }
        + [
            "push", "push-setting", "head-of-idle-stream", "data-of-idle-stream", "data-of-even-stream",
            "reset-of-idle-stream", "window-of-idle-stream", "window-overflow", "empty-window", "data-without-stream",
            "headers-between", "bad-compression", "large-compression-table", "frame-too-large", "padding-too-large",
        ].map { Behavior(path: "/frames?kind=\($0)", codes: malformed) }
        + (0..<5).map { Behavior(path: "/garbage?seed=\($0)", codes: malformed) }
        + [
            Behavior(path: "/flood?kind=continuation", codes: [.headTooLarge]),
            Behavior(path: "/response?kind=refused-in-body", codes: [.bodyIncomplete]),
            Behavior(path: "/response?kind=data-before-head", codes: malformed),
        ]

    /// Violations that end only the stream.
    static let streamErrors =
        [
            "longer", "uppercase", "connection", "transfer-encoding", "without-status", "two-statuses",
            "request-field", "status-101", "pseudo-trailers", "trailers-without-end",
            "longer-without-end", "informational-end", "shorter-without-body",
        ].map { Behavior(path: "/response?kind=\($0)", codes: malformed, keepsConnection: true) }
        + ["shorter", "reset", "reset-without-error"].map {
            Behavior(path: "/response?kind=\($0)", codes: [.bodyIncomplete], keepsConnection: true)
        }
        + [
            Behavior(path: "/frames?kind=stream-window-overflow", codes: malformed, keepsConnection: true),
            Behavior(path: "/flood?kind=informational", codes: malformed, keepsConnection: true),
            Behavior(path: "/response?kind=reset-before-head", codes: [.connectionLost], keepsConnection: true),
            Behavior(path: "/bomb", codes: [.headTooLarge], keepsConnection: true),
            Behavior(path: "/compressed", codes: [.undecodableContent], keepsConnection: true),
        ]

    /// Servers that don't respond, and servers that close the connection.
    static let interruptions =
        ["at-once", "after-goaway", "after-head", "in-body", "except-pings"].map {
            Behavior(path: "/silence?kind=\($0)", codes: [.timedOut], idleTimeout: 0.3)
        }
        // Frames for other requests can end the silence.
        + ["in-frame", "in-header-block"].map {
            Behavior(path: "/silence?kind=\($0)", codes: [.timedOut, .malformedResponse], idleTimeout: 0.3)
        }
        + ["0", "1"].flatMap { notice in
            [
                Behavior(path: "/closed?kind=at-once&notice=\(notice)", codes: [.connectionLost]),
                Behavior(path: "/closed?kind=in-header-block&notice=\(notice)", codes: [.connectionLost]),
                Behavior(path: "/closed?kind=in-body&notice=\(notice)", codes: [.bodyIncomplete]),
                Behavior(path: "/closed?kind=in-frame&notice=\(notice)", codes: [.bodyIncomplete]),
            ]
        }

    @Test(arguments: connectionErrors + streamErrors + interruptions, [true, false])
    func aViolationAffectsOnlyItsOwnConnection(_ behavior: Behavior, isStreamed: Bool) async throws {
        let client = try HTTP2Client(.hostile)
        let limit = { @Sendable (exchange: inout Exchange) in exchange.options.idleTimeout = behavior.idleTimeout }
        let bystander = try await client.connection(for: "/ok", host: "127.0.0.1")
        let port = try await client.connection(for: "/ok")
        await withTaskGroup(of: Void.self) { group in
            // Other requests over the same connection.
            for _ in 0..<5 {
                group.addTask {
                    do {
                        #expect(try await client.body("/ok", limit) == Self.good)
                    } catch {
                        #expect(error is TransportError && !behavior.keepsConnection)
                    }
                }
            }
            let error = await #expect(throws: TransportError.self) {
                try await client.body(behavior.path, isStreamed: isStreamed, limit)
            }
            #expect(error.map { behavior.codes.contains($0.code) } == true, "\(error as Any)")
        }
        let response = try await client.send("/ok")
        #expect(try await response.wholeBody() == Self.good)
        #expect((response.report.localPort == port) == behavior.keepsConnection)
        #expect(try await client.connection(for: "/ok", host: "127.0.0.1") == bystander)
    }

    @Test func aConnectionBeginsWithSettings() async throws {
        let client = try HTTP2Client(.hostile)
        let error = await #expect(throws: TransportError.self) { try await client.send("/without-settings") }
        #expect(error?.code == .malformedResponse, "\(error as Any)")
        #expect(try await client.body("/ok") == Self.good)
    }

    // MARK: Successes

    /// Servers that behave in unusual ways, and frames that arrive after a complete response.
    @Test(
        arguments: [
            "/in-small-records", "/without-settings-ack", "/with-unknown-frames", "/response-with-surplus?kind=data",
            "/response-with-surplus?kind=head",
        ], [true, false])
    func aCompleteResponseSucceeds(path: String, isStreamed: Bool) async throws {
        let client = try HTTP2Client(.hostile)
        #expect(try await client.body(path, isStreamed: isStreamed) == Self.good)
        #expect(try await client.body("/ok") == Self.good)
    }

    /// SETTINGS_MAX_CONCURRENT_STREAMS can be 0.
    @Test(arguments: ["before", "after"]) func aConnectionThatAllowsNoStreamsIsReplaced(when: String) async throws {
        let client = try HTTP2Client(.hostile)
        #expect(try await client.body("/without-streams?when=\(when)") == Self.good)
        try await waitWhile { await client.transport.connectionStatistics?.hosts.isEmpty == false }
        #expect(try await client.body("/ok") == Self.good)
    }

    // MARK: Windows

    @Test func aServerCannotExceedTheWindowOfAStream() async throws {
        let client = try HTTP2Client(.hostile)
        let slow = try await client.send("/beyond-window", delivery: .stream(highWaterMark: 1))
        // The server sends this response after the other one.
        #expect(try await client.body("/ok") == Self.good)
        let error = await #expect(throws: TransportError.self) { try await slow.wholeBody() }
        #expect(error?.code == .malformedResponse, "\(error as Any)")
    }

    @Test func anUploadContinuesAfterItsWindowHasBecomeSmaller() async throws {
        let client = try HTTP2Client(.hostile)
        for _ in 0..<2 {
            let count = try await client.body("/upload-with-smaller-window", sending: .data(Data(count: 300_000)))
            #expect(count == Data("300000".utf8))
        }
    }

    @Test func anUploadWithoutAWindowBlocksOnlyItself() async throws {
        let client = try HTTP2Client(.hostile)
        let port = try await client.connection(for: "/ok")
        let observer = WindowObserver()
        let stalled = Task {
            try await client.send("/upload-withheld", body: .data(Data(count: 1 << 20))) {
                $0.observer = observer
                $0.options.idleTimeout = 60
            }
        }
        for await _ in observer.exhausted {}
        for _ in 0..<5 {
            #expect(try await client.body("/upload", sending: .data(Data(count: 200_000))) == Data("200000".utf8))
            #expect(try await client.connection(for: "/ok") == port)
        }
        stalled.cancel()
        let error = await #expect(throws: TransportError.self) { try await stalled.value }
        #expect(error?.code == .cancelled, "\(error as Any)")
        #expect(try await client.connection(for: "/ok") == port)
    }

    @Test func anUploadWithoutAWindowTimesOut() async throws {
        let client = try HTTP2Client(.hostile)
        let error = await #expect(throws: TransportError.self) {
            try await client.send("/upload-withheld", body: .data(Data(count: 1 << 20))) {
                $0.options.idleTimeout = 0.3
            }
        }
        #expect(error?.code == .timedOut, "\(error as Any)")
        #expect(try await client.body("/upload", sending: .data(Data(count: 200_000))) == Data("200000".utf8))
    }
}

/// Detects that the initial window of a stream has been used up.
private final class WindowObserver: ExchangeObserver {
    let exhausted: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation

    init() { (exhausted, continuation) = AsyncStream.makeStream() }

    func exchangeDidSend(bytes: Int64, expected: Int64?) { if bytes == 65_535 { continuation.finish() } }
}
