import CJSONDocument
import Foundation

/// The names of a document's members, as the strategy for keys has them in Swift.
struct JSONNames {
    /// How names are compared with those that a type asks for.
    enum Comparison {
        /// By their bytes.
        case asWritten
        /// By what they are converted to, which is different for each.
        case converted([String])
        /// Each object needs an index of its own: two names may be converted to one, or by their path.
        case byIndex
    }

    let comparison: Comparison
    private let keys: UnsafeBufferPointer<afar_json_key>
    private let convert: (@Sendable ([any CodingKey]) -> any CodingKey)?
    private let converted: [String]

    init(_ keys: UnsafeBufferPointer<afar_json_key>, _ strategy: JSONDecoder.KeyDecodingStrategy) {
        self.keys = keys
        switch strategy {
        case .convertFromSnakeCase:
            convert = nil
            converted = keys.map { SnakeCase.camelCase(of: Self.written($0)) }
            let isUnambiguous = Set(converted).count == converted.count
            comparison = isUnambiguous ? .converted(converted) : .byIndex
        case .custom(let convert):
            self.convert = convert
            converted = []
            comparison = .byIndex
        default:
            convert = nil
            converted = []
            comparison = .asWritten
        }
    }

    /// A name as it is written.
    func written(_ key: UInt32) -> String { Self.written(keys[Int(key)]) }

    /// A name in Swift.
    ///
    /// - Parameter path: Where the object is.
    func name(_ key: UInt32, at path: @autoclosure () -> [any CodingKey]) -> String {
        if !converted.isEmpty { return converted[Int(key)] }
        let name = written(key)
        guard let convert else { return name }
        return convert(path() + [JSONKey(stringValue: name)]).stringValue
    }

    private static func written(_ key: afar_json_key) -> String {
        String(decoding: UnsafeRawBufferPointer(start: key.name, count: key.length), as: UTF8.self)
    }
}
