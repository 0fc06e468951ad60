import Foundation
public import Testing

/// The transports on Linux that some suites test one after the other.
public enum TestedTransport: String, CaseIterable, Codable, Sendable {
    case curl
    case http

    /// The transport for the current test run.
    @TaskLocal public static var current = http

    /// The transports to test. `AFAR_TRANSPORT` limits the run to one of them.
    static let selected = allCases.filter { transport in
        ProcessInfo.processInfo.environment["AFAR_TRANSPORT"].map { $0 == transport.rawValue } ?? true
    }
}

/// Runs each test once over each transport.
public struct OverEachTransport: SuiteTrait, TestTrait, TestScoping {
    /// Creates the trait.
    public init() {}

    /// A Boolean value that indicates that the trait applies to each test in a suite.
    public var isRecursive: Bool { true }

    /// Runs a test case once over each transport.
    public func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        guard testCase != nil else { return try await function() }
        let limits = test.traits.compactMap { ($0 as? OnlyOver)?.transport }
        for transport in TestedTransport.selected where limits.allSatisfy({ $0 == transport }) {
            await TestedTransport.$current.withValue(transport) {
                do {
                    try await function()
                } catch {
                    Issue.record(error, "over \(transport)")
                }
            }
        }
    }
}

/// A trait for features that only one transport supports, with the reason.
public struct OnlyOver: TestTrait, SuiteTrait {
    let transport: TestedTransport
    let reason: Comment
    /// A Boolean value that indicates that the limit applies to each test in a suite.
    public var isRecursive: Bool { true }
    /// The reason for the limit.
    public var comments: [Comment] { [reason] }
}

extension Trait where Self == OnlyOver {
    /// Limits a test to `CurlTransport`.
    public static func onlyOverCurl(_ reason: Comment) -> Self { Self(transport: .curl, reason: reason) }
    /// Limits a test to `HTTPTransport`.
    public static func onlyOverHTTP(_ reason: Comment) -> Self { Self(transport: .http, reason: reason) }
}
