import Foundation

/// Code that parses untrusted input.
struct Subject: Sendable {
    let name: String
    /// Small inputs that are valid or almost valid.
    let seeds: [Data]
    /// Text with a special meaning in the format.
    let tokens: [String]
    /// Parses an input and returns whether it was accepted. Throws only a ``Contradiction``, if the results are
    /// inconsistent.
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

/// A difference between two ways of parsing the same input.
struct Contradiction: Error {
    let description: String

    init(_ description: String) { self.description = description }

    /// Throws an error if the values differ.
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
    /// All subjects.
    static let all =
        xml + json + fastJSON + propertyLists + streams + text + yaml + csv + api + protobuf + images + heads
        + responses + codings + structuredFields + multipart + dns
}
