import AfarCore
import HTTPTypes
public import Testing

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
