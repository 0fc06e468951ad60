import Afar
import ArgumentParser

/// What every request can be told about how it is sent.
struct SendingOptions: ParsableArguments {
    @Option(
        name: [.customShort("H"), .customLong("header")], parsing: .unconditionalSingleValue,
        help: ArgumentHelp("A header. Repeat it for more.", valueName: "'Name: value'"))
    var headers: [String] = []

    @Option(
        name: .customLong("query"), parsing: .unconditionalSingleValue,
        help: ArgumentHelp("Adds to the URL's query, encoded for you. Repeat it for more.", valueName: "name=value"))
    var query: [String] = []

    @Option(help: ArgumentHelp("How long all of it may take.", valueName: "seconds"))
    var timeout: Double?

    @Option(help: "What carries the request.")
    var transport = TransportChoice.standard

    func validate() throws {
        if let timeout {
            guard timeout > 0, timeout <= 604_800 else {
                throw ValidationError("--timeout is in seconds, more than 0 and at most 604800 (a week).")
            }
        }
    }

    /// Makes the session that the request is sent with.
    ///
    /// - Parameter wrap: Puts a transport of its own around the one chosen.
    func makeSession(wrap: (any Transport) -> any Transport) -> Session {
        var configuration = SessionConfiguration.default
        configuration.headers.update(.userAgent("afar/\(AFInfo.version)"))
        if let timeout {
            configuration.timeoutIntervalForResource = timeout
            configuration.timeoutIntervalForRequest = timeout
        }
        return Session(
            configuration: configuration, transport: wrap(transport.makeTransport(for: configuration)))
    }
}
