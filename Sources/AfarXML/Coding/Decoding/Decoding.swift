import AfarCore
import CLibxml2
import CStack
import Foundation

/// The state shared by all decoders of one document. It isn't thread-safe.
final class Decoding {
    let options: XMLDecoder
    /// Whether keys are the same as the names in the document.
    let usesDefaultKeys: Bool
    /// Whether the placement strategy is `automatic`. Only keys and property wrappers can then specify other
    /// placements.
    let placesAutomatically: Bool
    /// The document, which keeps the nodes alive.
    private let document: XML.Document
    private var kinds = TypeTable<DecodedKind>()
    private var names: [String: String] = [:]
    private var keyTypes = TypeTable<Bool>()
    private var choices: [Choice: Bool] = [:]
    private var lastLocated: String?
    var stack = StackSpace()

    private struct Choice: Hashable {
        let type: ObjectIdentifier
        // The pointer identifies the name, because the document stores each name once.
        let name: UnsafePointer<xmlChar>?
    }

    init(_ document: XML.Document, _ options: XMLDecoder) {
        self.document = document
        self.options = options
        usesDefaultKeys = if case .useDefaultKeys = options.keyDecodingStrategy { true } else { false }
        placesAutomatically = if case .automatic = options.placementStrategy { true } else { false }
    }

    /// Returns how to decode a type.
    func kind(of type: any Decodable.Type) -> DecodedKind {
        let identifier = ObjectIdentifier(type)
        return kinds.recentValue(for: identifier) ?? kinds.value(for: identifier) { Self.kind(of: type) }
    }

    private static func kind(of type: any Decodable.Type) -> DecodedKind {
        switch type {
        case is String.Type: .text
        case is Date.Type: .date
        case is Data.Type: .data
        case let scalar as any XMLScalar.Type: .scalar(scalar)
        case let placed as any XMLPlaced.Type: .placed(placed.placement)
        case is any XMLChoice.Type: .choice
        case let list as any XMLList.Type:
            if let element = list.element as? any Decodable.Type {
                .list(element: element, isOfChoices: element is any XMLChoice.Type)
            } else {
                .initializer
            }
        default: .initializer
        }
    }

    /// Returns whether keys of a type specify their own placements.
    func keysHavePlacements(_ type: any CodingKey.Type) -> Bool {
        let identifier = ObjectIdentifier(type)
        return keyTypes.recentValue(for: identifier)
            ?? keyTypes.value(for: identifier) { type is any XMLCodingKey.Type }
    }

    /// Returns the name in the document for a key. If a closure converts names to keys, returns the key itself.
    func name(of key: some CodingKey) -> String {
        if usesDefaultKeys { return key.stringValue }
        let text = key.stringValue
        if let name = names[text] { return name }
        let name =
            switch options.keyDecodingStrategy {
            case .convertFromSnakeCase: text.lowercasedWords(joinedBy: "_")
            case .convertFromKebabCase: text.lowercasedWords(joinedBy: "-")
            case .useDefaultKeys, .custom: text
            }
        names[text] = name
        return name
    }

    /// Returns whether a node's name is a case of an enum.
    func isChoice(_ part: NodePart, of type: any Decodable.Type) -> Bool {
        let choice = Choice(type: ObjectIdentifier(type), name: part.node.pointee.name)
        if let known = choices[choice] { return known }
        let probe = ChoiceProbe(part, self)
        // The initializer is expected to throw, because the probe has no values. The probe only records whether the
        // name is a case.
        _ = try? type.init(from: probe)
        choices[choice] = probe.isCase
        return probe.isCase
    }

    /// Adds the location to an error that a value's own initializer threw. Returns an error unchanged if it already
    /// includes a location.
    func located(_ error: any Error, at part: NodePart) -> any Error {
        guard let error = error as? DecodingError, error.context.debugDescription != lastLocated else { return error }
        let located = "\(error.context.debugDescription) The element is \(part.location)."
        lastLocated = located
        return error.described(as: located)
    }

    /// Returns an error whose description includes the location of a part.
    func failure(
        _ description: String, at part: NodePart, _ make: (DecodingError.Context) -> DecodingError,
        _ codingPath: [any CodingKey]
    ) -> DecodingError {
        let located = "\(description) \(part.location)."
        lastLocated = located
        return make(DecodingError.Context(codingPath: codingPath, debugDescription: located))
    }
}

// MARK: - Values

extension Decoding {
    /// Decodes the value of a part.
    func value<Value: Decodable>(
        _ type: Value.Type, at part: NodePart, inside parent: ElementDecoder?, key: (any CodingKey)?
    ) throws -> Value {
        let kind = kind(of: type)
        if kind.isLeaf { return try leaf(type, kind, part, ElementDecoder(part, self, inside: parent, key: key)) }
        return try composite(type, kind, ElementDecoder(part, self, inside: parent, key: key))
    }

    /// Decodes the value of a decoder's part.
    func value<Value: Decodable>(_ type: Value.Type, here decoder: ElementDecoder) throws -> Value {
        let kind = kind(of: type)
        if kind.isLeaf { return try leaf(type, kind, decoder.part, decoder) }
        return try composite(type, kind, decoder)
    }

    /// Decodes a value with its type's initializer.
    private func composite<Value: Decodable>(
        _ type: Value.Type, _ kind: DecodedKind, _ decoder: ElementDecoder
    ) throws -> Value {
        let decoder = decoder.adjusted(to: kind)
        guard stack.enter() else { throw decoder.tooDeep(stack.depth) }
        defer { stack.leave() }
        do {
            return try Value(from: decoder)
        } catch {
            throw located(error, at: decoder.part)
        }
    }

    /// Decodes a value that consists of a single piece of text. This method isn't inlined, because its caller is part of the
    /// recursion and must have a small stack frame.
    @inline(never)
    private func leaf<Value: Decodable>(
        _ type: Value.Type, _ kind: DecodedKind, _ part: NodePart, _ decoder: @autoclosure () -> ElementDecoder
    ) throws -> Value {
        // Comparing types is faster than a dynamic cast. The difference matters for long lists.
        if type == String.self {
            if !part.isNil, !part.isList { return unsafeBitCast(part.text, to: type) }
        } else if type == Int.self {
            if !part.isNil, let value = part.scalar(Int.self) { return unsafeBitCast(value, to: type) }
        } else if type == Double.self {
            if !part.isNil, let value = part.scalar(Double.self) { return unsafeBitCast(value, to: type) }
        }
        let decoder = decoder()
        switch kind {
        case .scalar(let scalar):
            if part.isNil { throw decoder.valueNotFound(type) }
            if let value = part.value(scalar) as? Value { return value }
            throw decoder.unreadable(scalar.expectation)
        case .date: if let date = try date(decoder) as? Value { return date }
        case .data: if let data = try data(decoder) as? Value { return data }
        case .text, .initializer, .list, .choice, .placed: break
        }
        throw part.isNil ? decoder.valueNotFound(type) : decoder.mismatch(type, "Expected text, found a list")
    }

    /// Decodes a date with the date strategy.
    private func date(_ decoder: ElementDecoder) throws -> Date {
        switch options.dateDecodingStrategy {
        case .deferredToDate: return try Date(from: decoder)
        case .secondsSince1970:
            return Date(timeIntervalSince1970: try decoder.decode(Double.self))
        case .millisecondsSince1970:
            return Date(timeIntervalSince1970: try decoder.decode(Double.self) / 1000)
        case .iso8601:
            if decoder.part.isNil { throw decoder.valueNotFound(Date.self) }
            guard let date = decoder.part.withTrimmedText(XMLDateTime.date) else {
                throw decoder.unreadable(XMLDateTime.expectation)
            }
            return date
        case .formatted(let formatter):
            let text = try decoder.decode(String.self)
            guard let date = formatter.date(from: text.trimmingCharacters(in: .whitespacesAndNewlines)) else {
                throw decoder.unreadable("a date of the format \(formatter.dateFormat ?? "of the formatter")")
            }
            return date
        case .custom(let read): return try read(decoder)
        }
    }

    /// Decodes bytes with the data strategy.
    private func data(_ decoder: ElementDecoder) throws -> Data {
        let read: (UnsafeBufferPointer<UInt8>) -> Data?
        switch options.dataDecodingStrategy {
        case .deferredToData: return try Data(from: decoder)
        case .custom(let read): return try read(decoder)
        case .base64: read = XMLBinary.base64
        case .hexadecimal: read = XMLBinary.hexadecimal
        }
        if decoder.part.isNil { throw decoder.valueNotFound(Data.self) }
        guard let data = decoder.part.withTrimmedText(read) else {
            throw decoder.unreadable(options.dataDecodingStrategy.expectation)
        }
        return data
    }
}

extension XMLDecoder.DataDecodingStrategy {
    fileprivate var expectation: String {
        switch self {
        case .base64: "bytes in base64"
        case .hexadecimal: "bytes in hexadecimal digits"
        case .deferredToData, .custom: "bytes"
        }
    }
}

// MARK: - Kinds of types

/// The way in which a type is decoded.
enum DecodedKind {
    /// By the type's own initializer.
    case initializer
    case text
    case scalar(any XMLScalar.Type)
    case date
    case data
    /// As an array or a set.
    case list(element: any Decodable.Type, isOfChoices: Bool)
    case choice
    case placed(XMLPlacement)

    /// Whether a value of the type consists of a single piece of text.
    var isLeaf: Bool {
        switch self {
        case .text, .scalar, .date, .data: true
        case .initializer, .list, .choice, .placed: false
        }
    }
}

/// An array or a set.
protocol XMLList {
    static var element: Any.Type { get }
}

extension Array: XMLList { static var element: Any.Type { Element.self } }
extension ArraySlice: XMLList { static var element: Any.Type { Element.self } }
extension ContiguousArray: XMLList { static var element: Any.Type { Element.self } }
extension Set: XMLList { static var element: Any.Type { Element.self } }

/// A table of values by type. Recently used types are found without hashing.
struct TypeTable<Value> {
    private var recent: [(type: ObjectIdentifier, value: Value)?] = Array(repeating: nil, count: 32)
    private var all: [ObjectIdentifier: Value] = [:]

    /// Returns the value of a recently used type.
    @inline(__always)
    func recentValue(for type: ObjectIdentifier) -> Value? {
        guard let entry = recent[Self.slot(of: type)], entry.type == type else { return nil }
        return entry.value
    }

    mutating func value(for type: ObjectIdentifier, make: () -> Value) -> Value {
        let value = all[type] ?? make()
        all[type] = value
        recent[Self.slot(of: type)] = (type, value)
        return value
    }

    @inline(__always)
    private static func slot(of type: ObjectIdentifier) -> Int {
        // The lowest bits are the same in all addresses.
        Int(truncatingIfNeeded: (UInt64(UInt(bitPattern: type)) &* 0x9E37_79B9_7F4A_7C15) >> 59)
    }
}

// MARK: - Errors

extension DecodingError {
    fileprivate var context: Context {
        switch self {
        case .typeMismatch(_, let context), .valueNotFound(_, let context), .keyNotFound(_, let context): context
        case .dataCorrupted(let context): context
        @unknown default: Context(codingPath: [], debugDescription: "\(self)")
        }
    }

    fileprivate func described(as description: String) -> DecodingError {
        let context = Context(
            codingPath: context.codingPath, debugDescription: description, underlyingError: context.underlyingError)
        return switch self {
        case .typeMismatch(let type, _): .typeMismatch(type, context)
        case .valueNotFound(let type, _): .valueNotFound(type, context)
        case .keyNotFound(let key, _): .keyNotFound(key, context)
        case .dataCorrupted: .dataCorrupted(context)
        @unknown default: self
        }
    }
}

// MARK: - Stack space

/// Checks whether the thread's stack has room for another level of nested values. The code of users' types needs stack
/// space too, so a fixed limit isn't enough.
struct StackSpace {
    /// The number of levels that are always safe and need no check.
    private static let safeDepth = 24
    /// The number of bytes to reserve for the code of users' types.
    private static let reserve: UInt = 64 << 10

    private(set) var depth = 0
    private var end: UInt?

    /// Enters a level. Returns whether the stack has room for it.
    mutating func enter() -> Bool {
        depth += 1
        guard depth >= Self.safeDepth else { return true }
        let end = end ?? UInt(afar_stack_end())
        self.end = end
        return UInt(afar_stack_position()) > end + Self.reserve
    }

    mutating func leave() { depth -= 1 }
}
