import Foundation

/// What the tool's exit code says; `afar --help` lists the same.
///
/// - 0: all went well
/// - 1: nothing matches the XPath expression of `afar xml`
/// - 2: bad usage, a bad URL, a request that must not be sent
/// - 3: the host was not found, did not accept the connection, TLS could not be agreed on, or `afar reach` found no way
/// - 4: the status is not 2xx, with `--check-status` (the body is printed all the same), `--sse` or in a download
/// - 5: a timeout passed
/// - 6: the response broke off, was malformed, too large or (with `--sse`) no stream of events, or a redirect leads nowhere
/// - 70: anything else, and a step of `afar demo` that did not come out as expected
enum ExitReason: Int32, CaseIterable {
    case success = 0
    case noMatch = 1
    case usage = 2
    case connection = 3
    case httpStatus = 4
    case timeout = 5
    case response = 6
    case other = 70

    var meaning: String {
        switch self {
        case .success: "all went well"
        case .noMatch: "nothing matches the XPath expression of afar xml"
        case .usage: "bad usage, a bad URL, a request that must not be sent"
        case .connection: "host not found, connection refused, no TLS, or no network"
        case .httpStatus: "the status is not 2xx, with --check-status, --sse or in a download"
        case .timeout: "timeout"
        case .response:
            "the response broke off, was malformed, too large or no stream of events, or a redirect leads nowhere"
        case .other: "anything else; a step of the demo that went wrong"
        }
    }

    /// Ends the process.
    func exit() -> Never { Foundation.exit(rawValue) }

    /// All codes and their meanings, one a line, for the help.
    static var table: String {
        allCases.map { status in
            let code = "\(status.rawValue)"
            return String(repeating: " ", count: 4 - code.count) + "\(code)  \(status.meaning)"
        }.joined(separator: "\n")
    }
}
