import AfarCore
import Foundation

/// A JSON value that differs between two texts.
struct JSONDifference: Equatable {
    /// The path in the syntax of jq, such as ".users[3].name". Long names are shortened.
    var path: String
    /// The value in the first text, as JSON that can be shortened; nil if it's missing.
    var first: String?
    /// The value in the second text, as JSON that can be shortened; nil if it's missing.
    var second: String?

    var lines: [ResponseDifference.Line] {
        [first.map { .first("\(path): \($0)") }, second.map { .second("\(path): \($0)") }].compactMap(\.self)
    }
}

/// The differences between two JSON values.
struct JSONDifferences {
    /// The maximum number of differences in ``first``.
    static let limit = 1000

    /// The first differences, in the order of the first value's members.
    private(set) var first: [JSONDifference] = []
    /// The number of all differences.
    private(set) var count = 0

    /// Compares two values.
    ///
    /// Elements of arrays are compared by position, after the common elements at both ends. An inserted element is therefore one
    /// difference.
    init(_ first: JSONNode, _ second: JSONNode) { compare(first, second, "") }

    private mutating func compare(_ first: JSONNode, _ second: JSONNode, _ path: String) {
        switch (first, second) {
        case (.object(let firstMembers), .object(let secondMembers)):
            for name in firstMembers.names {
                guard let value = firstMembers.values[name] else { continue }
                let path = self.path(path, name)
                if let other = secondMembers.values[name] {
                    compare(value, other, path)
                } else {
                    add(path, value, nil)
                }
            }
            for name in secondMembers.names where firstMembers.values[name] == nil {
                add(self.path(path, name), nil, secondMembers.values[name])
            }
        case (.array(let firstElements), .array(let secondElements)):
            let (start, ends) = Self.middle(firstElements, secondElements)
            let shorter = min(ends.0, ends.1)
            for index in start..<shorter {
                compare(firstElements[index], secondElements[index], self.path(path, index))
            }
            for index in shorter..<ends.0 { add(self.path(path, index), firstElements[index], nil) }
            for index in shorter..<ends.1 { add(self.path(path, index), nil, secondElements[index]) }
        default:
            if first != second { add(path.isEmpty ? "." : path, first, second) }
        }
    }

    private mutating func add(_ path: String, _ first: JSONNode?, _ second: JSONNode?) {
        count += 1
        guard !isFull else { return }
        self.first.append(
            JSONDifference(
                path: path.shortened(to: 500), first: first.map { $0.text.shortened(to: 1000) },
                second: second.map { $0.text.shortened(to: 1000) }))
    }

    /// Whether further differences are only counted, without their paths.
    private var isFull: Bool { first.count == Self.limit }

    private func path(_ path: String, _ index: Int) -> String { isFull ? "" : "\(path)[\(index)]" }

    private func path(_ path: String, _ name: JSONString) -> String {
        guard !isFull else { return "" }
        let text = name.text.shortened(to: 200)
        let isIdentifier = text.wholeMatch(of: /[A-Za-z_][A-Za-z0-9_]*/) != nil
        return isIdentifier ? "\(path).\(text)" : "\(path)[\(JSONText.string(text))]"
    }

    /// The lines of the first differences, with a note if there are more.
    var lines: [ResponseDifference.Line] {
        let rest = count - first.count
        let note = "\(Quantity.count(rest, of: "more value differs", plural: "more values differ"))."
        return first.flatMap(\.lines) + (rest > 0 ? [.note(note)] : [])
    }

    /// Skips the common elements at both ends of two arrays. Returns the start of the rest, and its end in each array.
    private static func middle(_ first: [JSONNode], _ second: [JSONNode]) -> (start: Int, ends: (Int, Int)) {
        let start = zip(first, second).prefix { $0 == $1 }.count
        let common = zip(first[start...].reversed(), second[start...].reversed()).prefix { $0 == $1 }.count
        return (start, (first.count - common, second.count - common))
    }
}

extension String {
    /// Returns the text. If it has more than this number of characters, returns its beginning and its length.
    ///
    /// Unicode scalars are counted, because a character can consist of any number of them.
    func shortened(to limit: Int) -> String {
        let scalars = unicodeScalars
        guard let end = scalars.index(scalars.startIndex, offsetBy: limit, limitedBy: scalars.endIndex),
            end < scalars.endIndex
        else { return self }
        return String(scalars[..<end]) + "… (\(scalars.count) characters)"
    }
}
