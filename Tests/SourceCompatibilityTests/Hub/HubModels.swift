import Afar

struct Repository: Codable, Equatable, Sendable {
    let id: Int
    let fullName: String
    let isPrivate: Bool
    let stars: Int
    let pushedAt: Date

    enum CodingKeys: String, CodingKey {
        case id
        case fullName = "full_name"
        case isPrivate = "private"
        case stars = "stargazers_count"
        case pushedAt = "pushed_at"
    }
}

struct Ticket: Codable, Equatable, Sendable {
    enum State: String, Codable, Sendable {
        case open, closed
    }

    let number: Int
    var title: String
    var state: State
    var labels: [String]
}

struct NewTicket: Encodable, Sendable {
    let title: String
    let labels: [String]
}

struct IssueFilter: Encodable, Sendable {
    var state: Ticket.State = .open
    var labels: [String] = []
    var page = 1
}

struct Asset: Decodable, Equatable, Sendable {
    let name: String
    let size: Int
}

struct Event: Decodable, Equatable, Sendable {
    let kind: String
    let actor: String
}

/// The body of the service's error responses.
struct Refusal: Decodable, Sendable {
    let message: String
}

enum HubError: Error {
    case refused(status: Int, message: String)
    case notFound
    case transport(AFError)
}
