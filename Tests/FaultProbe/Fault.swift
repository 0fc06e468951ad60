import AfarCore
import AfarTestServer
import Foundation

/// A fault of a server, and its expected outcome.
struct Fault: Sendable {
    /// The outcome of a request.
    enum Outcome: String, Codable, Sendable {
        case success
        case error
    }

    /// The allowed outcomes.
    enum Expectation: Sendable {
        case fails
        /// A success, with the reason.
        case succeeds(String)
        /// Either outcome, with the reason, for example that the server's bytes can be lost.
        case either(String)

        var outcomes: Set<Outcome> {
            switch self {
            case .fails: [.error]
            case .succeeds: [.success]
            case .either: [.error, .success]
            }
        }
    }

    let family: String
    let name: String
    let script: [RawServer.Step]
    let expectation: Expectation
    /// The behavior of Foundation, if the outcome over URLSession differs from `expectation`.
    var urlSession: Foundation?
    /// Additional headers of the request.
    var fields: HTTPHeaders = []

    /// The behavior of Foundation.
    struct Foundation: Sendable {
        var mayTrap = false
        /// Whether Foundation continues to read regardless of the timeouts.
        var mayHang = false
        var mayBe: Expectation?

        /// Foundation accepts more than it should.
        static func accepts(_ reason: String) -> Foundation { Foundation(mayBe: .either(reason)) }
        /// Foundation accepts more than it should, or crashes if an exchange ends without a response or a redirect's
        /// URL is invalid.
        static func acceptsOrTraps(_ reason: String) -> Foundation { Foundation(mayTrap: true, mayBe: .either(reason)) }
    }

    static let all: [Fault] =
        closes + resets + brokenChunks + truncatedCodings + statusLines + headerFields + lineEndings + lengths
        + chunkSyntax + drips + floods + bombs + redirects + upgrades
}
