import CJSONDocument
import Foundation

/// The names of a document's members, as they are written and as the strategy for keys has them in Swift.
final class JSONNames {
    /// The key's number for each name in Swift; nil if names are as in the document, or two are converted to one, or where
    /// they stand decides.
    let convertedNumbers: [String: UInt32]?
    /// Whether an object's members are found by an index of its own, because there are no numbers for all objects.
    let needIndex: Bool
    private let keys: UnsafeBufferPointer<afar_json_key>
    private let converted: [String]?
    private let convert: (@Sendable ([any CodingKey]) -> any CodingKey)?
    /// Those that were asked for.
    private var written: [String?] = []

    init(_ keys: UnsafeBufferPointer<afar_json_key>, _ strategy: JSONDecoder.KeyDecodingStrategy) {
        self.keys = keys
        switch strategy {
        case .convertFromSnakeCase:
            let names = keys.map { SnakeCase.camelCase(of: Self.text(of: $0)) }
            let numbers = Dictionary(zip(names, UInt32(0)...)) { first, _ in first }
            converted = names
            convert = nil
            convertedNumbers = numbers.count == names.count ? numbers : nil
            needIndex = numbers.count != names.count
        case .custom(let convert):
            converted = nil
            self.convert = convert
            convertedNumbers = nil
            needIndex = true
        default:
            converted = nil
            convert = nil
            convertedNumbers = nil
            needIndex = false
        }
    }

    /// A name as it is written.
    func written(_ number: UInt32) -> String {
        if written.isEmpty { written = Array(repeating: nil, count: keys.count) }
        let number = Int(number)
        if let name = written[number] { return name }
        let name = Self.text(of: keys[number])
        written[number] = name
        return name
    }

    /// A name in Swift.
    ///
    /// - Parameter path: Where the object is.
    func name(_ number: UInt32, at path: @autoclosure () -> [any CodingKey]) -> String {
        if let converted { return converted[Int(number)] }
        guard let convert else { return written(number) }
        return convert(path() + [JSONKey(stringValue: written(number))]).stringValue
    }

    private static func text(of key: afar_json_key) -> String {
        String(decoding: UnsafeRawBufferPointer(start: key.name, count: key.length), as: UTF8.self)
    }
}
