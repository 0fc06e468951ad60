import AfarCurl
import AfarHTTP
import AfarTransport
import Foundation
import Testing

/// The transports that the suites in `Transport` test.
enum TestedTransport: String, CaseIterable {
    case curl
    case http

    /// The transport that the current test runs over.
    @TaskLocal static var current = curl

    /// `AFAR_TRANSPORT` limits a run to one of them.
    static let selected = allCases.filter { transport in
        ProcessInfo.processInfo.environment["AFAR_TRANSPORT"].map { $0 == transport.rawValue } ?? true
    }
}

/// What the tests of transports use of one.
protocol TestableTransport: CallbackTransport, AnyObject {
    var taskExecutor: any TaskExecutor { get throws }
}

extension CurlTransport: TestableTransport {}
extension HTTPTransport: TestableTransport {}

/// The settings that the transports have in common.
protocol TestableConfiguration {
    var maximumConnectionsPerHost: Int { get set }
    var maximumIdleConnections: Int { get set }
    var maximumIdleTime: TimeInterval { get set }
    var maximumThreads: Int { get set }
    var maximumLookups: Int { get set }
    var certificateBundle: URL? { get set }
}

extension CurlTransport.Configuration: TestableConfiguration {}
extension HTTPTransport.Configuration: TestableConfiguration {}

/// Makes the transport that the current test runs over.
func makeTransport(_ change: (inout any TestableConfiguration) -> Void = { _ in }) -> any TestableTransport {
    var configuration: any TestableConfiguration =
        switch TestedTransport.current {
        case .curl: CurlTransport.Configuration()
        case .http: HTTPTransport.Configuration()
        }
    change(&configuration)
    return switch configuration {
    case let configuration as HTTPTransport.Configuration: HTTPTransport(configuration: configuration)
    case let configuration as CurlTransport.Configuration: CurlTransport(configuration: configuration)
    default: CurlTransport()
    }
}

/// Runs each test once over each transport.
struct OverEachTransport: SuiteTrait, TestTrait, TestScoping {
    var isRecursive: Bool { true }

    func provideScope(
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

/// A test of something that only one transport does, with the reason.
struct OnlyOver: TestTrait, SuiteTrait {
    let transport: TestedTransport
    let reason: Comment
    var isRecursive: Bool { true }
    var comments: [Comment] { [reason] }
}

extension Trait where Self == OnlyOver {
    static func onlyOverCurl(_ reason: Comment) -> Self { Self(transport: .curl, reason: reason) }
    static func onlyOverHTTP(_ reason: Comment) -> Self { Self(transport: .http, reason: reason) }
}
