import AfarCore
public import AfarHAR
import Foundation
import HTTPTypes
public import Testing

// MARK: - Stubs

/// Answers all requests that a test makes with stubs; see ``Testing/Trait/stubs(_:allowsUnused:allowsUnmatched:)``.
public struct StubTrait: TestTrait, SuiteTrait, TestScoping {
    let stubs: [Stub]
    let allowsUnused: Bool
    let allowsUnmatched: Bool

    /// On a suite, each of its tests has stubs of its own.
    public var isRecursive: Bool { true }

    /// Runs a test with its stubs, and reports those that answered nothing.
    public func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        let mock = MockTransport(stubs: StubList(stubs, before: MockTransport.current?.stubs))
        try await MockTransport.$current.withValue(mock) {
            try await Session.withTransport(mock, operation: function)
        }
        func report(_ words: String, _ descriptions: [String]) {
            guard !descriptions.isEmpty else { return }
            Issue.record("\(words): \(descriptions.joined(separator: ", "))", sourceLocation: test.sourceLocation)
        }
        if !allowsUnused { report("no request came for", mock.unusedStubs.map(\.description)) }
        if !allowsUnmatched {
            report("no stub fits", mock.unmatchedRequests.map { "\($0.method.rawValue) \($0.url)" })
        }
    }
}

extension Trait where Self == StubTrait {
    /// Answers all requests that the test makes, with whatever session, with stubs. A request that none fits fails with an
    /// error that names it and the stubs, and fails the test; so does a stub that no request came for.
    ///
    /// ```swift
    /// @Test(.stubs(Stub(.get, "/users/{id}", .json(["name": "Ada"]))))
    /// func theNameIsShown() async throws {
    ///     #expect(try await userName(7) == "Ada")  // calls AF.request(…)
    /// }
    /// ```
    ///
    /// The stubs of a test come before those of its suite. ``MockTransport/current`` has what came. Tests may run in parallel.
    /// See ``Session/withTransport(_:isolation:operation:)``
    /// for how far this reaches.
    ///
    /// - Parameters:
    ///   - stubs: What is answered.
    ///   - allowsUnused: Whether it is all right when no request comes for some. The default is false.
    ///   - allowsUnmatched: Whether it is all right when none fits a request. The default is false.
    public static func stubs(
        _ stubs: Stub..., allowsUnused: Bool = false, allowsUnmatched: Bool = false
    ) -> StubTrait {
        StubTrait(stubs: stubs, allowsUnused: allowsUnused, allowsUnmatched: allowsUnmatched)
    }
}

extension MockTransport {
    /// The mock of the test that runs, where it has ``Testing/Trait/stubs(_:allowsUnused:allowsUnmatched:)``.
    @TaskLocal public static var current: MockTransport?
}

// MARK: - Recordings

/// Answers all requests that a test makes with a recording; see ``Testing/Trait/replay(_:matching:redaction:file:)``.
public struct ReplayTrait: TestTrait, SuiteTrait, TestScoping {
    let matching: ReplayTransport.Matching
    let redaction: HAR.Redaction
    let file: URL

    /// What the environment says about recording.
    enum Mode: Equatable {
        case replay, record

        /// - Parameters:
        ///   - variable: The value of `AFAR_RECORD`.
        ///   - exists: Whether there is a recording.
        init(_ variable: String?, exists: Bool) throws {
            switch variable {
            case nil, "", "never": self = .replay
            case "once": self = exists ? .replay : .record
            case "all": self = .record
            case let value?: throw RecordingError("AFAR_RECORD is \(value); it may be once, all or never.")
            }
        }
    }

    /// On a suite, each of its tests replays the recording from its beginning.
    public var isRecursive: Bool { true }

    /// Runs a test over its recording, or records it.
    public func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        let variable = ProcessInfo.processInfo.environment["AFAR_RECORD"]
        // Who comes to a recording that this process makes adds to it.
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
                    "There is no recording \(file.path). Make it by running the test against the real server: "
                        + "AFAR_RECORD=once swift test --filter '\(Self.filter(for: test))'")
            }
            let transport = try ReplayTransport(contentsOf: file, matching: matching, redaction: redaction)
            try await Session.withTransport(transport, operation: function)
            let unanswered = transport.unansweredRequests
            guard !unanswered.isEmpty else { return }
            Issue.record(
                """
                \(file.path) has no answer for: \(unanswered.joined(separator: ", ")). Record it anew by: \
                AFAR_RECORD=all swift test --filter '\(Self.filter(for: test))'
                """, sourceLocation: test.sourceLocation)
        }
    }

    /// What this process has recorded, by file: tests and their cases may share one.
    private static let recorded = Guarded<[URL: [HAR.Entry]]>([:])

    /// Nothing is written when the test throws, so that no recording is replaced by half of one.
    func record(_ function: () async throws -> Void) async throws {
        // Its own transport is not used: it wraps those of the sessions.
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

/// Why a test has no recording.
public struct RecordingError: Error, CustomStringConvertible, Sendable {
    /// What is missing, and the command that makes it.
    public let description: String

    init(_ description: String) { self.description = description }
}

extension Trait where Self == ReplayTrait {
    /// Answers all requests that the test makes, with whatever session, with what was recorded of them in
    /// `Recordings/NAME.har` beside the test's file.
    ///
    /// ```swift
    /// @Test(.replay("ada"))
    /// func theNameIsShown() async throws {
    ///     #expect(try await userName(7) == "Ada")  // calls AF.request(…)
    /// }
    /// ```
    ///
    /// Without a recording the test fails, with the command that makes one. Recording goes to the real servers, and happens
    /// only when the environment's `AFAR_RECORD` asks for it: `once` records what has no recording yet, `all` records anew.
    /// Secrets are redacted. Tests and cases of a test that share a recording are recorded into it together. A test that throws
    /// writes nothing, one with a failed expectation does. A request that the recording has no answer for fails the test.
    ///
    /// - Parameters:
    ///   - name: The name of the recording, with folders if it has any, without `.har`.
    ///   - matching: When an entry of it fits a request. The default is ``ReplayTransport/Matching/strict``.
    ///   - redaction: What is hidden in it. The default is ``HAR/Redaction/secrets``.
    ///   - file: The test's file.
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
