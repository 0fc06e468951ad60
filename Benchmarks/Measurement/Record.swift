/// The document of the JSON workload.
public struct Record: Decodable, Sendable {
    /// The value that Bench checks.
    public let answer: Int
    /// A name.
    public let name: String
    /// An address.
    public let email: String
    /// A Boolean value that indicates whether the record is active.
    public let isActive: Bool
    /// A fractional number.
    public let score: Double
    /// Short strings.
    public let tags: [String]
    /// A longer text.
    public let about: String
}
