import Foundation

/// Something that reads what strangers send.
struct Subject: Sendable {
    let name: String
    /// Small inputs that are valid, or nearly.
    let seeds: [Data]
    /// Pieces that mean something in the format.
    let tokens: [String]
    /// Reads an input, and tells whether it was accepted. Throws a ``Contradiction`` when what comes out of it is at odds
    /// with itself, and nothing else.
    let read: @Sendable (Data, inout SeededGenerator) throws(Contradiction) -> Bool

    init(
        _ name: String, seeds: [Data], tokens: [String],
        read: @escaping @Sendable (Data, inout SeededGenerator) throws(Contradiction) -> Bool
    ) {
        self.name = name
        self.seeds = seeds
        self.tokens = tokens
        self.read = read
    }

    init(
        _ name: String, seeds: [String], tokens: [String],
        read: @escaping @Sendable (Data, inout SeededGenerator) throws(Contradiction) -> Bool
    ) {
        self.init(name, seeds: seeds.map { Data($0.utf8) }, tokens: tokens, read: read)
    }
}

/// What two ways to read the same input must have in common, and have not.
struct Contradiction: Error {
    let description: String

    init(_ description: String) { self.description = description }

    /// Throws one unless both are the same.
    static func check<Value: Equatable>(
        _ one: Value, _ other: Value, _ description: @autoclosure () -> String
    ) throws(Contradiction) {
        guard one != other else { return }
        throw Contradiction(
            "\(description()): \("\(one)".debugDescription.prefix(2_000)) and \("\(other)".debugDescription.prefix(2_000))"
        )
    }
}

extension Subject {
    /// All of them.
    static let all =
        xml + json + fastJSON + propertyLists + streams + text + yaml + csv + protobuf + images + heads + responses
        + codings
}
