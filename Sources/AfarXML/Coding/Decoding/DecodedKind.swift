/// What the decoder must know of a type.
enum DecodedKind {
    /// Its own initializer reads it.
    case own
    case text
    case scalar(any XMLScalar.Type)
    case date
    case data
    /// An array or set.
    case list(element: any Decodable.Type, isOfChoices: Bool)
    case choice
    case placed(XMLPlacement)

    /// Whether a value is one piece of text.
    var isLeaf: Bool {
        switch self {
        case .text, .scalar, .date, .data: true
        case .own, .list, .choice, .placed: false
        }
    }
}

/// Arrays and sets, of whatever.
protocol XMLList {
    static var element: Any.Type { get }
}

extension Array: XMLList { static var element: Any.Type { Element.self } }
extension ArraySlice: XMLList { static var element: Any.Type { Element.self } }
extension ContiguousArray: XMLList { static var element: Any.Type { Element.self } }
extension Set: XMLList { static var element: Any.Type { Element.self } }
