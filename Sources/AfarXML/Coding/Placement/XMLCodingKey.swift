/// Keys that say where in an element their values stand.
///
/// ```swift
/// enum CodingKeys: String, XMLCodingKey {
///     case id, creator
///
///     var placement: XMLPlacement {
///         switch self {
///         case .id: .attribute
///         case .creator: .child(namespace: "http://purl.org/dc/elements/1.1/")
///         }
///     }
/// }
/// ```
public protocol XMLCodingKey: CodingKey {
    /// Where the value stands.
    var placement: XMLPlacement { get }
}
