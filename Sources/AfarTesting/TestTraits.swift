import AfarCore
public import AfarHAR
import Foundation
import HTTPTypes
public import Testing

/// A test trait that responds to all requests of a test with stubs. See
/// ``Testing/Trait/stubs(_:delays:allowsUnused:allowsUnmatched:)``.
public struct StubTrait: TestTrait, SuiteTrait, TestScoping {
    let stubs: [Stub]
    let delays: MockTransport.Delays
    let allowsUnused: Bool
    let allowsUnmatched: Bool

    /// The value is `true`, so each test of a suite has separate stubs.
    public var isRecursive: Bool { true }

    /// Runs a test with its stubs. Reports unused stubs, unmatched requests, and failed expectations of WebSocket scripts.
    public func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        let outer = MockTransport.current
        let mock = MockTransport(
            delays: outer?.delays == MockTransport.Delays.none ? .none : delays,
            stubs: StubList(stubs, before: outer?.stubs))
        try await MockTransport.$current.withValue(mock) {
            try await Session.withTransport(mock, operation: function)
        }
        func report(_ message: String) { Issue.record("\(message)", sourceLocation: test.sourceLocation) }
        let unused = mock.unusedStubs.map(\.safeDescription)
        if !allowsUnused, !unused.isEmpty { report("no request matched: \(unused.joined(separator: ", "))") }
        if !allowsUnmatched { mock.unmatchedMessages.forEach(report) }
        mock.failedExpectations.forEach(report)
    }
}

extension Trait where Self == StubTrait {
    /// Responds with stubs to all requests that the test makes in any session.
    ///
    /// A request without a matching stub fails with an error that lists the request and the stubs. The test then fails
    /// too. The test also fails if a stub matches no request, or if the script of a WebSocket receives something unexpected.
    ///
    /// ```swift
    /// @Test(.stubs(Stub(.get, "/users/{id}", .json(["name": "Ada"]))))
    /// func theNameIsShown() async throws {
    ///     #expect(try await userName(7) == "Ada")  // calls AF.request(…)
    /// }
    /// ```
    ///
    /// The stubs of a test take precedence over those of its suite. The received requests are in
    /// ``MockTransport/current``. Tests can run in parallel. See ``Session/withTransport(_:isolation:operation:)`` for
    /// the code that this trait affects.
    ///
    /// - Parameters:
    ///   - stubs: The stubs.
    ///   - delays: The delays to perform. The default is all, unless the suite's trait skips delays.
    ///   - allowsUnused: A Boolean value that indicates whether unused stubs are allowed. The default is `false`.
    ///   - allowsUnmatched: A Boolean value that indicates whether requests without a matching stub are allowed. The default is
    ///     `false`.
    public static func stubs(
        _ stubs: Stub..., delays: MockTransport.Delays = .scripted, allowsUnused: Bool = false,
        allowsUnmatched: Bool = false
    ) -> StubTrait {
        StubTrait(stubs: stubs, delays: delays, allowsUnused: allowsUnused, allowsUnmatched: allowsUnmatched)
    }
}

extension MockTransport {
    /// The mock of the current test, if the test has the trait ``Testing/Trait/stubs(_:delays:allowsUnused:allowsUnmatched:)``.
    @TaskLocal public static var current: MockTransport?
}

/// A test trait that responds to all requests of a test with a recording. See
/// ``Testing/Trait/replay(_:matching:redaction:file:)``.
public struct ReplayTrait: TestTrait, SuiteTrait, TestScoping {
    let matching: ReplayTransport.Matching
    let redaction: HAR.Redaction
    let file: URL

    /// The mode that the environment selects.
    enum Mode: Equatable {
        case replay, record

        /// - Parameters:
        ///   - variable: The value of `AFAR_RECORD`.
        ///   - exists: Whether a recording exists.
        init(_ variable: String?, exists: Bool) throws {
            switch variable {
            case nil, "", "never": self = .replay
            case "once": self = exists ? .replay : .record
            case "all": self = .record
            case let value?: throw RecordingError("AFAR_RECORD is \(value). It must be once, all or never.")
            }
        }
    }

    /// The value is `true`, so each test of a suite replays the recording from its beginning.
    public var isRecursive: Bool { true }

    /// Runs a test with the responses of its recording. If `AFAR_RECORD` enables recording, records the test's requests
    /// instead.
    public func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        let variable = ProcessInfo.processInfo.environment["AFAR_RECORD"]
        // With `once`, a test doesn't replay a recording that an earlier test of this process created. It adds to the recording instead.
        let (mode, exists) = try Self.recorded.withLock { recorded in
            let exists = FileManager.default.fileExists(atPath: file.path)
            let mode = try Mode(variable, exists: exists && recorded[file] == nil)
            if mode == .record { recorded[file] = recorded[file] ?? [] }
            return (mode, exists)
        }
        switch mode {
        case .record: try await record(function)
        case .replay:
            guard exists else {
                throw RecordingError(
                    "The recording \(file.path) doesn't exist. To create it, run the test against the real server: "
                        + "AFAR_RECORD=once swift test --filter '\(Self.filter(for: test))'")
            }
            let transport = try ReplayTransport(contentsOf: file, matching: matching, redaction: redaction)
            try await Session.withTransport(transport, operation: function)
            let unanswered = transport.unansweredRequests
            guard !unanswered.isEmpty else { return }
            Issue.record(
                """
                \(file.path) has no response for: \(unanswered.joined(separator: ", ")). To record it again, run: \
                AFAR_RECORD=all swift test --filter '\(Self.filter(for: test))'
                """, sourceLocation: test.sourceLocation)
        }
    }

    /// The entries that this process has recorded, by file. Tests and test cases can share a file.
    private static let recorded = Locked<[URL: [HAR.Entry]]>([:])

    /// Records a test. If the test throws an error, nothing is written, so an incomplete recording never replaces a complete
    /// one.
    func record(_ function: () async throws -> Void) async throws {
        // This mock is never used, because the `around` method wraps each session's own transport instead.
        let recording = RecordingTransport(around: MockTransport { _ in .status(503) }, redaction: redaction)
        try await Session.replacingTransports(by: { recording.around($0) }, operation: function)
        try Self.recorded.withLock { recorded in
            recorded[file, default: []] += recording.archive.entries
            try HAR(entries: recorded[file, default: []]).write(to: file)
        }
    }

    private static func filter(for test: Test) -> String {
        String(test.name.prefix { $0 != "(" })
    }
}

/// An error that occurs if a test has no recording.
public struct RecordingError: Error, CustomStringConvertible, Sendable {
    /// The problem and the command that solves it.
    public let description: String

    init(_ description: String) { self.description = description }
}

extension Trait where Self == ReplayTrait {
    /// Responds to all requests that the test makes in any session. The responses come from the recording `Recordings/NAME.har`
    /// next to the test's source file.
    ///
    /// ```swift
    /// @Test(.replay("ada"))
    /// func theNameIsShown() async throws {
    ///     #expect(try await userName(7) == "Ada")  // calls AF.request(…)
    /// }
    /// ```
    ///
    /// Without a recording, the test fails and prints the command that creates it. Recording uses the real servers and
    /// only happens if the environment variable `AFAR_RECORD` enables it: `once` creates missing recordings, and `all`
    /// replaces existing ones. Secrets are redacted.
    ///
    /// Tests and test cases that share a recording are recorded together. If a test throws, nothing is written. If only an
    /// expectation fails, the recording is still written. A request without a recorded response fails the test.
    ///
    /// - Parameters:
    ///   - name: The name of the recording, optionally with folders, without `.har`.
    ///   - matching: The rules that match entries to requests. The default is ``ReplayTransport/Matching/strict``.
    ///   - redaction: The secrets to remove from the recording. The default is ``HAR/Redaction/secrets``.
    ///   - file: The path of the test's source file.
    public static func replay(
        _ name: String, matching: ReplayTransport.Matching = .strict, redaction: HAR.Redaction = .secrets,
        file: String = #filePath
    ) -> ReplayTrait {
        let folder = URL(fileURLWithPath: file).deletingLastPathComponent().appendingPathComponent("Recordings")
        return ReplayTrait(
            matching: matching, redaction: redaction,
            file: folder.appendingPathComponent("\(name).har"))
    }
}
