public import AfarTransport

/// One thing that every transport does alike, as a value: what it is, what it needs, and how it is tried.
public struct ConformanceCase: Sendable, CustomStringConvertible {
    /// What a case is about.
    public enum Area: String, Sendable, Hashable, CaseIterable {
        /// The request's line and header fields.
        case requests = "Requests"
        /// The request's body.
        case uploads = "Request bodies"
        /// The response's head.
        case responses = "Responses"
        /// Where the response's body goes.
        case delivery = "Delivery"
        /// The decision at the head.
        case decisions = "The decision at the head"
        /// What is told meanwhile, and measured.
        case events = "Observers and metrics"
        /// Limits and timeouts.
        case limits = "Limits and timeouts"
        /// Cancelling and holding.
        case control = "Cancelling and suspending"
        /// Connections.
        case connections = "Connections"
        /// Failures.
        case failures = "Failures"
    }

    /// What is the case, in a few words: "an empty body is a body".
    public let name: String
    /// What it is about.
    public let area: Area
    /// What a transport has to be able to do for it.
    public let needs: TransportCapabilities.Features
    /// Whether the server has to be at the other end of a socket.
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

    /// Tries a transport. One that does not end within a minute has failed.
    ///
    /// - Throws: A ``ConformanceFailure`` that says what was expected, or whatever the transport has thrown.
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
            outcome.fulfill(.failure(ConformanceFailure(description: "expected an end within a minute")))
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

/// A transport that is tried.
public struct ConformanceSubject: Sendable, CustomStringConvertible {
    /// Its name.
    public let name: String
    /// Makes one, anew for each case.
    public let makeTransport: @Sendable () -> any Transport
    /// Whether it reaches servers on this machine. One that does not answers by
    /// ``ConformanceServer/response(to:)`` instead.
    public let hasSockets: Bool
    /// The names of cases that it leaves out, each with the reason.
    public let exclusions: [String: String]

    /// Describes a transport.
    public init(
        _ name: String, hasSockets: Bool = true, exclusions: [String: String] = [:],
        _ makeTransport: @escaping @Sendable () -> any Transport
    ) {
        (self.name, self.hasSockets, self.exclusions, self.makeTransport) = (
            name, hasSockets, exclusions, makeTransport
        )
    }

    /// The name.
    public var description: String { name }

    /// Why a case is left out; nil when it is not.
    public func reasonAgainst(_ test: ConformanceCase) -> String? {
        if let reason = exclusions[test.name] { return reason }
        if test.needsSockets, !hasSockets { return "there is no socket" }
        let missing = test.needs.subtracting(makeTransport().capabilities.features)
        return missing.isEmpty ? nil : "it does not have \(missing.names.joined(separator: ", "))"
    }

    /// Tries the transport with cases, some at a time, but for those that it leaves out.
    ///
    /// - Returns: The cases that it does not pass, with what was thrown.
    public func failures(of cases: [ConformanceCase]) async -> [(test: ConformanceCase, error: any Error)] {
        await withTaskGroup(of: (ConformanceCase, (any Error)?).self) { group in
            var failures: [(test: ConformanceCase, error: any Error)] = []
            var rest = cases.filter { reasonAgainst($0) == nil }[...]
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

/// What a transport did that it should not, or the other way round.
public struct ConformanceFailure: Error, CustomStringConvertible, Sendable {
    /// What was expected, and what was found.
    public let description: String
}
