import AfarCore
import AfarYAML
import Foundation

struct Service: Codable, Sendable, Equatable {
    var name: String
    var ports: [Int]
    var labels: [String: String]? = nil
}

extension Service {
    static let web = Service(name: "web", ports: [80, 443], labels: ["tier": "front"])
    static let yaml = """
        name: web
        ports: [80, 443]
        labels:
          tier: front

        """
}

extension AFError {
    /// The limit that the document exceeded.
    var limit: YAMLLimitExceeded.Limit? { (underlyingError as? YAMLLimitExceeded)?.limit }
}
