/// How a decoder or an encoder finds out where the value of a key stands.
///
/// A property wrapper, such as ``XMLAttribute``, and keys that are an ``XMLCodingKey`` go before it.
public enum XMLPlacementStrategy: Sendable {
    /// Every key is ``XMLPlacement/automatic``.
    case automatic
    /// By the key's name, at any depth; keys that are not listed are ``XMLPlacement/automatic``.
    case byName([String: XMLPlacement])
    /// As a closure says for the path of keys that ends with the key asked about.
    @preconcurrency case custom(@Sendable (_ codingPath: [any CodingKey]) -> XMLPlacement)

    /// Where the value of a key stands; nil where this strategy does not say.
    func placement(of key: any CodingKey, in codingPath: @autoclosure () -> [any CodingKey]) -> XMLPlacement? {
        switch self {
        case .automatic: nil
        case .byName(let placements): placements[key.stringValue]
        case .custom(let placement): placement(codingPath() + [key])
        }
    }
}
