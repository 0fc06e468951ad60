import AfarCore
public import Testing

/// Answers all requests that a test makes with stubs; see ``Testing/Trait/stubs(_:allowsUnused:)``.
public struct StubTrait: TestTrait, SuiteTrait, TestScoping {
    let stubs: [Stub]
    let allowsUnused: Bool

    /// On a suite, each of its tests has stubs of its own.
    public var isRecursive: Bool { true }

    /// Runs a test with its stubs, and reports those that answered nothing.
    public func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        let mock = MockTransport(stubs: stubs)
        try await MockTransport.$current.withValue(mock) {
            try await Session.withTransport(mock, operation: function)
        }
        guard !allowsUnused, !mock.unusedStubs.isEmpty else { return }
        let unused = mock.unusedStubs.map(\.description).joined(separator: ", ")
        Issue.record("no request came for: \(unused)", sourceLocation: test.sourceLocation)
    }
}

extension Trait where Self == StubTrait {
    /// Answers all requests that the test makes, with whatever session, with stubs. A request that none fits fails, with an
    /// error that names it and the stubs; a stub that no request came for fails the test.
    ///
    /// ```swift
    /// @Test(.stubs(Stub(.get, "/users/{id}", .json(["name": "Ada"]))))
    /// func theNameIsShown() async throws {
    ///     #expect(try await userName(7) == "Ada")  // calls AF.request(…)
    /// }
    /// ```
    ///
    /// ``MockTransport/current`` has what came. Tests may run in parallel. See ``Session/withTransport(_:isolation:operation:)``
    /// for how far this reaches.
    ///
    /// - Parameters:
    ///   - stubs: What is answered.
    ///   - allowsUnused: Whether it is all right when no request comes for some. The default is false.
    public static func stubs(_ stubs: Stub..., allowsUnused: Bool = false) -> StubTrait {
        StubTrait(stubs: stubs, allowsUnused: allowsUnused)
    }
}

extension MockTransport {
    /// The mock of the test that runs, where it has ``Testing/Trait/stubs(_:allowsUnused:)``.
    @TaskLocal public static var current: MockTransport?
}
