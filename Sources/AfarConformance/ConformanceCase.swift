public import AfarTransport

/// A requirement on transports, and the test for it.
public struct ConformanceCase: Sendable, CustomStringConvertible {
    /// The subject of a case.
    public enum Area: String, Sendable, Hashable, CaseIterable {
        /// The request line and the header fields.
        case requests = "Requests"
        /// The request's body.
        case uploads = "Request bodies"
        /// The response's head.
        case responses = "Responses"
        /// The delivery of the response's body.
        case delivery = "Delivery"
        /// The decision about the response when its head arrives.
        case decisions = "The decision at the head"
        /// Events and metrics.
        case events = "Observers and metrics"
        /// Limits and timeouts.
        case limits = "Limits and timeouts"
        /// Canceling and suspending exchanges.
        case control = "Cancellation and suspension"
        /// Reusing, handing over and ending connections.
        case connections = "Connections"
        /// Errors.
        case failures = "Failures"
    }

    /// A short description, such as "an empty body is sent as a body".
    public let name: String
    /// The subject of the case.
    public let area: Area
    /// The features that the case requires of a transport.
    public let needs: TransportCapabilities.Features
    /// Whether the case requires a transport that connects to a server through a socket.
    public let needsSockets: Bool
    private let body: @Sendable (ConformanceTrial) async throws -> Void

    init(
        _ area: Area, _ name: String, needs: TransportCapabilities.Features = [], needsSockets: Bool = false,
        _ body: @escaping @Sendable (ConformanceTrial) async throws -> Void
    ) {
        (self.name, self.area, self.needs, self.needsSockets, self.body) = (name, area, needs, needsSockets, body)
    }

    /// The area and the name.
    public var description: String { "\(area.rawValue): \(name)" }

    /// Runs the case with a transport. The case fails if it doesn't end within a minute.
    ///
    /// - Throws: A ``ConformanceFailure`` that describes what was expected, or the transport's error.
    public func run(_ subject: ConformanceSubject) async throws {
        let trial = try await ConformanceTrial(subject)
        let outcome = Deferred<Result<Void, any Error>>()
        let work = Task {
            do {
                try await body(trial)
                outcome.fulfill(.success(()))
            } catch { outcome.fulfill(.failure(error)) }
        }
        let watchdog = Task {
            try await Task.sleep(for: .seconds(60))
            outcome.fulfill(.failure(ConformanceFailure(description: "expected the case to end within a minute")))
        }
        let result = await outcome.value
        watchdog.cancel()
        work.cancel()
        await trial.end()
        try result.get()
    }

    /// All cases.
    public static var all: [ConformanceCase] {
        requests + uploads + responses + delivery + decisions + events + limits + control + connections + failures
    }
}

/// A transport to test.
public struct ConformanceSubject: Sendable, CustomStringConvertible {
    /// The name of the transport.
    public let name: String
    /// Creates the transport. Called once for each case.
    public let makeTransport: @Sendable () -> any Transport
    /// Whether the transport connects to servers on this machine. Otherwise, the transport must return the responses of
    /// ``ConformanceServer/response(to:)``.
    public let hasSockets: Bool
    /// The names of the cases that are left out, each with the reason.
    public let exclusions: [String: String]

    /// Creates the description of a transport.
    public init(
        _ name: String, hasSockets: Bool = true, exclusions: [String: String] = [:],
        _ makeTransport: @escaping @Sendable () -> any Transport
    ) {
        (self.name, self.hasSockets, self.exclusions, self.makeTransport) = (
            name, hasSockets, exclusions, makeTransport
        )
    }

    /// The name of the transport.
    public var description: String { name }

    /// Returns the reason that a case is left out; nil if it isn't left out.
    public func exclusionReason(for test: ConformanceCase) -> String? {
        if let reason = exclusions[test.name] { return reason }
        if test.needsSockets, !hasSockets { return "the transport has no sockets" }
        let missing = test.needs.subtracting(makeTransport().capabilities.features)
        return missing.isEmpty ? nil : "not supported: \(missing.names.joined(separator: ", "))"
    }

    /// Runs cases, several at a time. Cases that are left out don't run.
    ///
    /// - Returns: The cases that failed, with their errors.
    public func failures(of cases: [ConformanceCase]) async -> [(test: ConformanceCase, error: any Error)] {
        await withTaskGroup(of: (ConformanceCase, (any Error)?).self) { group in
            var failures: [(test: ConformanceCase, error: any Error)] = []
            var rest = cases.filter { exclusionReason(for: $0) == nil }[...]
            func start(_ test: ConformanceCase) {
                group.addTask {
                    do {
                        try await test.run(self)
                        return (test, nil)
                    } catch { return (test, error) }
                }
            }
            for _ in 0..<6 { rest.popFirst().map(start) }
            for await (test, error) in group {
                if let error { failures.append((test, error)) }
                rest.popFirst().map(start)
            }
            return failures
        }
    }
}

/// A difference between the expected and the actual behavior of a transport.
public struct ConformanceFailure: Error, CustomStringConvertible, Sendable {
    /// The expected and the actual behavior.
    public let description: String
}
