extension FastJSONDecoder {
    /// What an object means in which a name stands twice, which JSON leaves open (RFC 8259, section 4).
    public enum DuplicateKeyStrategy: Hashable, Sendable {
        /// The first member with the name counts.
        case useFirst
        /// The last member with the name counts.
        case useLast
        /// The object is refused when a value is decoded from it: `DecodingError.dataCorrupted`.
        case refuse
    }
}
