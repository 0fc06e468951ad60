import AfarCore
import CLibxml2
import Foundation

/// What all places of one document share while a value is read. Used by one thread at a time.
final class Decoding {
    let options: XMLDecoder
    /// Whether the names in the document are the keys.
    let usesDefaultKeys: Bool
    /// Whether only keys and wrappers say where values stand.
    let placesAutomatically: Bool
    /// The nodes live as long as this.
    private let document: XML.Document
    private var kinds = TypeTable<DecodedKind>()
    private var names: [String: String] = [:]
    private var keyTypes = TypeTable<Bool>()
    private var choices: [Choice: Bool] = [:]
    private var lastLocated: String?
    var stack = StackSpace()

    private struct Choice: Hashable {
        let type: ObjectIdentifier
        // The document has each name once.
        let name: UnsafePointer<xmlChar>?
    }

    init(_ document: XML.Document, _ options: XMLDecoder) {
        self.document = document
        self.options = options
        usesDefaultKeys = if case .useDefaultKeys = options.keyDecodingStrategy { true } else { false }
        placesAutomatically = if case .automatic = options.placementStrategy { true } else { false }
    }

    /// What the decoder must know of a type.
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
                .own
            }
        default: .own
        }
    }

    /// Whether keys of a type say themselves where values stand.
    func haveKeysPlacements(_ type: any CodingKey.Type) -> Bool {
        let identifier = ObjectIdentifier(type)
        return keyTypes.recentValue(for: identifier)
            ?? keyTypes.value(for: identifier) { type is any XMLCodingKey.Type }
    }

    /// The name in the document that a key stands for, where names are not changed by a closure.
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

    /// Whether a node's name is a case of an enum.
    func isChoice(_ place: Place, of type: any Decodable.Type) -> Bool {
        let choice = Choice(type: ObjectIdentifier(type), name: place.node.pointee.name)
        if let known = choices[choice] { return known }
        let probe = ChoiceProbe(place, self)
        // What it throws is no failure: it has asked for its cases, and that was all.
        _ = try? type.init(from: probe)
        choices[choice] = probe.isCase
        return probe.isCase
    }

    /// Adds the place to an error that a value's own initializer made, once.
    func located(_ error: any Error, at place: Place) -> any Error {
        guard let error = error as? DecodingError, error.context.debugDescription != lastLocated else { return error }
        let located = "\(error.context.debugDescription) The element is \(place.location)."
        lastLocated = located
        return error.described(as: located)
    }

    /// An error that says where it happened.
    func failure(
        _ description: String, at place: Place, _ make: (DecodingError.Context) -> DecodingError,
        _ codingPath: [any CodingKey]
    ) -> DecodingError {
        let located = "\(description) \(place.location)."
        lastLocated = located
        return make(DecodingError.Context(codingPath: codingPath, debugDescription: located))
    }
}

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
