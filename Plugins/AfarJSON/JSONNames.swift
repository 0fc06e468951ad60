import CJSONDocument
import Foundation

/// The names of a document's members, both as written and as converted by the key decoding strategy.
final class JSONNames {
    /// The number of the first key with each converted name. Nil if names can be compared by their bytes, or if they depend on the
    /// path.
    let numbers: [String: UInt32]?
    /// Whether different keys have the same converted name.
    var areAmbiguous: Bool { firsts != nil }
    /// Whether names depend on the path. If they do, equal names don't share a number.
    var dependOnPath: Bool { convert != nil }
    private let keys: UnsafeBufferPointer<afar_json_key>
    private let converted: [String]?
    /// For each key, the number of the first key with the same converted name. Nil if all converted names are different.
    private let firsts: [UInt32]?
    private let convert: (@Sendable ([any CodingKey]) -> any CodingKey)?
    /// The requested names so far, as written in the document.
    private var written: [String?] = []

    init(
        _ keys: UnsafeBufferPointer<afar_json_key>, areASCII: Bool, _ strategy: JSONDecoder.KeyDecodingStrategy
    ) {
        self.keys = keys
        var names: [String]?
        var convert: (@Sendable ([any CodingKey]) -> any CodingKey)?
        var isConverted = false
        switch strategy {
        case .custom(let custom): convert = custom
        case .convertFromSnakeCase:
            names = keys.map { SnakeCase.camelCase(of: Self.text(of: $0)) }
            isConverted = true
        default:
            // Swift strings are equal even if they encode an accent differently.
            if !areASCII { names = keys.map { Self.text(of: $0) } }
        }
        self.convert = convert
        converted = isConverted ? names : nil
        let numbers = names.map { Dictionary(zip($0, UInt32(0)...)) { first, _ in first } }
        self.numbers = numbers
        if let names, let numbers, numbers.count < names.count {
            firsts = names.map { numbers[$0] ?? 0 }
        } else {
            firsts = nil
        }
    }

    /// Returns the number of the first key with the same converted name.
    func canonical(_ number: UInt32) -> UInt32 { firsts?[Int(number)] ?? number }

    /// Returns a name as written in the document.
    func written(_ number: UInt32) -> String {
        if written.isEmpty { written = Array(repeating: nil, count: keys.count) }
        let number = Int(number)
        if let name = written[number] { return name }
        let name = Self.text(of: keys[number])
        written[number] = name
        return name
    }

    /// Returns a converted name.
    ///
    /// - Parameter path: The path of the object.
    func name(_ number: UInt32, at path: @autoclosure () -> [any CodingKey]) -> String {
        if let converted { return converted[Int(number)] }
        guard let convert else { return written(number) }
        return convert(path() + [JSONKey(stringValue: written(number))]).stringValue
    }

    private static func text(of key: afar_json_key) -> String {
        String(decoding: UnsafeRawBufferPointer(start: key.name, count: key.length), as: UTF8.self)
    }
}

/// Converts snake-case names in the same way as `JSONDecoder`.
enum SnakeCase {
    /// Converts `user_name` to `userName`. Leading and trailing underscores are preserved.
    static func camelCase(of name: String) -> String {
        let underscore = UInt8(ascii: "_")
        let bytes = name.utf8
        guard bytes.contains(underscore), let first = bytes.firstIndex(where: { $0 != underscore }),
            let last = bytes.lastIndex(where: { $0 != underscore })
        else { return name }
        let words = name[first...last].split(separator: "_")
        guard words.count > 1 else { return name }
        return name[..<first] + words[0].lowercased() + words.dropFirst().map(\.capitalized).joined()
            + name[bytes.index(after: last)...]
    }
}
