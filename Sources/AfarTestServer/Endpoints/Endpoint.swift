extension TestServer {
    /// One of the routes that every ``TestServer`` has.
    public struct Endpoint: Sendable {
        /// The path, with `{names}` for what may be filled in; a last `*` stands for any rest.
        public let pattern: String
        /// The methods that it answers, or `nil` for all. HEAD goes with GET.
        public let methods: Set<String>?
        /// What it does, and which arguments it reads from the query.
        public let summary: String

        private let makeAnswer: @Sendable () -> @Sendable (ServerRequest) throws -> ServerResponse

        /// The answer is made anew for each server, so that what an endpoint counts begins at 0 there.
        init(
            _ pattern: String,
            methods: Set<String>? = nil,
            _ summary: String,
            _ answer: @autoclosure @escaping @Sendable () -> @Sendable (ServerRequest) throws -> ServerResponse
        ) {
            self.pattern = pattern
            self.methods = methods
            self.summary = summary
            makeAnswer = answer
        }

        func route() -> Route {
            Route(pattern, methods: methods, handler: .immediate(makeAnswer()))
        }
    }

    /// The built-in routes.
    public static var endpoints: [Endpoint] { Endpoints.all }
}

/// An argument that an endpoint cannot use; it is answered with status 400.
struct BadArgument: Error {
    let reason: String
}

extension ServerRequest {
    /// A number from the path, or else from the query.
    func number<Number: LosslessStringConvertible & Comparable>(
        _ name: String,
        in range: ClosedRange<Number>,
        default: Number? = nil
    ) throws -> Number {
        guard let text = parameters[name] ?? argument(name) else {
            if let `default` { return `default` }
            throw BadArgument(reason: "\(name) is missing")
        }
        guard let number = Number(text), range.contains(number) else {
            let wanted = "a number from \(range.lowerBound) to \(range.upperBound)"
            throw BadArgument(reason: "\(name) is \(text), not \(wanted)")
        }
        return number
    }

    /// A count from the path, or else from the query.
    func count(_ name: String, default: Int? = nil) throws -> Int {
        try number(name, in: 0...(1 << 50), default: `default`)
    }

    /// Seconds from the path, or else from the query, at most a day.
    func seconds(_ name: String, default: Double? = nil) throws -> Double {
        try number(name, in: 0...86_400, default: `default`)
    }
}
