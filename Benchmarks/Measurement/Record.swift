/// The document of the JSON workload.
public struct Record: Decodable, Sendable {
    /// What the driver checks.
    public let answer: Int
    /// A name.
    public let name: String
    /// An address.
    public let email: String
    /// Whether it is in use.
    public let isActive: Bool
    /// A number with a fraction.
    public let score: Double
    /// Some words.
    public let tags: [String]
    /// A longer text.
    public let about: String
}
