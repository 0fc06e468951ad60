import Foundation

/// An argument after the URL that adds something to the request, in httpie's syntax.
struct RequestItem: Equatable {
    /// What an item adds. The raw value is the item's separator.
    enum Kind: String, CaseIterable {
        /// A header; without a value, the header isn't sent.
        case header = ":"
        /// A header that is sent without a value. It has nothing after the separator.
        case emptyHeader = ";"
        /// A parameter of the query.
        case query = "=="
        /// A member of the body whose value is a text.
        case text = "="
        /// A member of the body whose value is JSON.
        case json = ":="
        /// A file in a multipart form.
        case file = "@"
        /// A member whose value is the text of a file.
        case textFile = "=@"
        /// A member whose value is the JSON in a file.
        case jsonFile = ":=@"
        /// A header whose value is the text of a file.
        case headerFile = ":@"
        /// A parameter of the query whose value is the text of a file.
        case queryFile = "==@"

        /// Whether the item is a part of the body.
        var isData: Bool {
            switch self {
            case .text, .json, .file, .textFile, .jsonFile: true
            case .header, .emptyHeader, .query, .headerFile, .queryFile: false
            }
        }

        var isHeader: Bool { self == .header || self == .emptyHeader || self == .headerFile }

        /// The kinds whose separators can be followed by a value.
        static let withValue = allCases.filter { $0 != .emptyHeader }
    }

    var kind: Kind
    var name: ItemName
    var value: String

    /// Parses an item. A backslash before a character of a separator makes the character a part of the name.
    ///
    /// - Throws: ``NotAnItem`` if the text contains no separator.
    init(_ text: String) throws {
        var name = ItemName()
        var rest = text[...]
        while let next = rest.first {
            if next == "\\", let escaped = rest.dropFirst().first {
                rest = rest.dropFirst(2)
                if ":=@[]\\".contains(escaped) {
                    name.append(escaped, isEscaped: true)
                } else {
                    name.append("\\", isEscaped: false)
                    name.append(escaped, isEscaped: false)
                }
                continue
            }
            // The longest separator at the first position applies.
            let possible = Kind.withValue.filter { rest.hasPrefix($0.rawValue) }
            if let kind = possible.max(by: { $0.rawValue.count < $1.rawValue.count }) {
                guard !name.text.isEmpty else { throw NotAnItem(text: text) }
                self.init(kind: kind, name: name, value: String(rest.dropFirst(kind.rawValue.count)))
                return
            }
            name.append(next, isEscaped: false)
            rest.removeFirst()
        }
        guard name.text.last == ";", name.text.count > 1 else { throw NotAnItem(text: text) }
        // As in curl, "X-Name;" is a header without a value.
        name.removeLast()
        self.init(kind: .emptyHeader, name: name, value: "")
    }

    init(kind: Kind, name: ItemName, value: String) {
        (self.kind, self.name, self.value) = (kind, name, value)
    }

    /// Thrown for an argument that isn't an item.
    struct NotAnItem: Error {
        let text: String
    }

    /// The text of the value, which can be in a file.
    var text: String {
        get throws {
            switch kind {
            case .textFile, .jsonFile, .headerFile, .queryFile:
                let text = String(data: try InputBytes.file(value, option: label), encoding: .utf8)
                guard let text else { throw Failure(.usage, "\(label): the file isn't UTF-8 text.") }
                return text
            case .header, .emptyHeader, .query, .text, .json, .file: return value
            }
        }
    }

    /// The header that the item adds or removes.
    var header: HeaderArgument {
        get throws {
            kind == .emptyHeader
                ? HeaderArgument(name: name.text, content: .empty) : HeaderArgument(name: name.text, text: try text)
        }
    }

    /// The text for the item in error messages. It contains the name of a file, but no other value, because values can be secrets.
    var label: String { "\(name.text)\(kind.rawValue)\(kind.rawValue.hasSuffix("@") ? value : "…")" }
}

/// The name of an item. Escaped brackets are part of a JSON name.
struct ItemName: Equatable {
    private(set) var text = ""
    private var escapes: [Bool] = []

    init() {}

    /// Creates a name without nested members.
    init(verbatim text: String) { for character in text { append(character, isEscaped: true) } }

    mutating func append(_ character: Character, isEscaped: Bool) {
        text.append(character)
        escapes.append(isEscaped)
    }

    mutating func removeLast() {
        text.removeLast()
        escapes.removeLast()
    }

    /// A step from a JSON value to a value inside it.
    enum Step: Equatable {
        case member(String)
        case element(Int)
        /// The place after the last element.
        case end
    }

    /// Returns the path to the value in a JSON object or array: `a[b][]` is a new last element of the member "b" of the member "a".
    func path() throws -> [Step] {
        let characters = Array(zip(text, escapes))
        func isBracket(_ index: Int, _ bracket: Character) -> Bool {
            index < characters.count && characters[index].0 == bracket && !characters[index].1
        }
        var index = 0
        while index < characters.count, !isBracket(index, "[") { index += 1 }
        var steps: [Step] = index == 0 ? [] : [.member(String(characters[..<index].map(\.0)))]
        while index < characters.count {
            let start = index + 1
            var end = start
            while end < characters.count, !isBracket(end, "]"), !isBracket(end, "[") { end += 1 }
            guard isBracket(index, "["), isBracket(end, "]") else {
                throw Failure(
                    .usage,
                    "\(text): brackets enclose the names and positions inside a member, as in a[b][0]. For a bracket in a "
                        + "name, write \\[ or \\].")
            }
            let key = characters[start..<end]
            let name = String(key.map(\.0))
            if key.isEmpty {
                steps.append(.end)
            } else if key.allSatisfy({ $0.0.isASCII && $0.0.isNumber && !$0.1 }) {
                guard let position = Int(name), position < JSONTree.positionLimit else {
                    throw Failure(.usage, "\(text): a position in an array is less than \(JSONTree.positionLimit).")
                }
                steps.append(.element(position))
            } else {
                steps.append(.member(name))
            }
            index = end + 1
        }
        return steps
    }
}

/// A JSON value that is built from items. Members keep the order in which they are added.
indirect enum JSONTree: Equatable {
    /// A position at which no value has been added.
    case missing
    /// JSON text.
    case value(String)
    case object([(name: String, value: JSONTree)])
    case array([JSONTree])

    /// The maximum number of elements in an array.
    static let positionLimit = 10_000

    var text: String {
        switch self {
        case .missing: "null"
        case .value(let text): text
        case .object(let members):
            "{" + members.map { "\(JSONText.string($0.name)):\($0.value.text)" }.joined(separator: ",") + "}"
        case .array(let elements): "[" + elements.map(\.text).joined(separator: ",") + "]"
        }
    }

    static func == (first: JSONTree, second: JSONTree) -> Bool { first.text == second.text }

    /// Adds a value at a path. Creates the objects and arrays on the way.
    mutating func add(_ value: String, at path: ArraySlice<ItemName.Step>, of name: String) throws {
        guard let step = path.first else {
            guard case .missing = self else { throw Failure(.usage, "\(name) is set twice.") }
            self = .value(value)
            return
        }
        if case .missing = self {
            if case .member = step { self = .object([]) } else { self = .array([]) }
        }
        switch (self, step) {
        case (.object(var members), .member(let key)):
            let index = members.firstIndex { $0.name == key } ?? members.endIndex
            if index == members.endIndex { members.append((key, .missing)) }
            try members[index].value.add(value, at: path.dropFirst(), of: name)
            self = .object(members)
        case (.array(var elements), .element), (.array(var elements), .end):
            var index = elements.endIndex
            if case .element(let position) = step { index = position }
            guard index < Self.positionLimit else {
                throw Failure(.usage, "\(name): an array has at most \(Self.positionLimit) elements.")
            }
            while elements.endIndex <= index { elements.append(.missing) }
            try elements[index].add(value, at: path.dropFirst(), of: name)
            self = .array(elements)
        case (.object, _): throw Failure(.usage, "\(name): another item makes this an object, not an array.")
        case (.array, _): throw Failure(.usage, "\(name): another item makes this an array, not an object.")
        case (.value, _), (.missing, _):
            throw Failure(.usage, "\(name): another item makes this a value, not an object or an array.")
        }
    }

    /// Returns the text of the object or array that the items describe.
    static func text(of items: [RequestItem]) throws -> String {
        var tree = JSONTree.missing
        for item in items {
            let path = try item.name.path()
            guard path.count <= JSONText.depthLimit else {
                throw Failure(.usage, "\(item.label): at most \(JSONText.depthLimit) levels are supported.")
            }
            try tree.add(try value(of: item), at: path[...], of: item.name.text)
        }
        return tree.text
    }

    private static func value(of item: RequestItem) throws -> String {
        let text = try item.text
        guard item.kind == .json || item.kind == .jsonFile else { return JSONText.string(text) }
        guard JSONText.isValid(text) else {
            // The message omits the value, which can be a secret.
            let place =
                item.kind == .jsonFile
                ? "the file isn't valid JSON."
                : ":= requires a JSON value, such as 3, true or [1,2]. For text, write \(item.name.text)=…"
            throw Failure(.usage, "\(item.label): \(place)")
        }
        return text.trimmingCharacters(in: .whitespacesAndNewlines)
    }
}
