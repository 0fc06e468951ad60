import AfarCore
import AfarTestServer
import Foundation

/// Something that a bad server does, and what has to come of it.
struct Fault: Sendable {
    /// What came of a request.
    enum Outcome: String, Codable, Sendable {
        case success
        case error
    }

    /// What may come of it.
    enum Expectation: Sendable {
        case fails
        /// A success, for a reason.
        case succeeds(String)
        /// Either, for a reason: where a server's bytes may be lost on the way, say.
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
    /// What of Foundation's makes it come out otherwise over URLSession; nil where it does not.
    var urlSession: Foundation?
    /// What the request's header has beside the usual.
    var fields: HTTPHeaders = []

    /// What Foundation does with a fault.
    struct Foundation: Sendable {
        var mayTrap = false
        /// Whether it reads on and on, whatever the timeouts say.
        var mayHang = false
        var mayBe: Expectation?

        /// It takes more than it should.
        static func takes(_ reason: String) -> Foundation { Foundation(mayBe: .either(reason)) }
        /// The same, or it ends the process: there is no response when its exchange has come to its end, or the place of a
        /// redirect is no URL.
        static func takesOrTraps(_ reason: String) -> Foundation { Foundation(mayTrap: true, mayBe: .either(reason)) }
    }

    static let all: [Fault] =
        closes + resets + brokenChunks + truncatedCodings + statusLines + headerFields + lineEndings + lengths
        + chunkSyntax + drips + floods + bombs + redirects + upgrades
}
