/// Where in an element the value of a key stands.
///
/// Names are local names, without a prefix. Where no namespace is given, a child in the namespace of its parent, or an
/// attribute in none, is taken before others of the same name.
public struct XMLPlacement: Hashable, Sendable {
    let kind: Kind
    let namespace: String?

    enum Kind: Hashable {
        case automatic
        case child
        case attribute
        case text
        case wrapped(item: String?)
    }

    private init(_ kind: Kind, namespace: String? = nil) {
        self.kind = kind
        self.namespace = namespace
    }

    /// A child element; where there is none, an attribute. It is written as a child element. The key `#text` is the
    /// element's own text.
    public static let automatic = XMLPlacement(.automatic)
    /// A child element, or several: an array is one element after another of the same name.
    public static let child = XMLPlacement(.child)
    /// An attribute. An array is words with white space between them.
    public static let attribute = XMLPlacement(.attribute)
    /// The element's own text, without that of the elements in it.
    public static let text = XMLPlacement(.text)

    /// A child element of a namespace.
    ///
    /// - Parameter namespace: The namespace's name, which is a URI; "" for none.
    public static func child(namespace: String) -> XMLPlacement { XMLPlacement(.child, namespace: namespace) }

    /// An attribute of a namespace.
    ///
    /// - Parameter namespace: The namespace's name, which is a URI; "" for none.
    public static func attribute(namespace: String) -> XMLPlacement { XMLPlacement(.attribute, namespace: namespace) }

    /// A child element that holds nothing but an array's elements: `<items><item/><item/></items>`.
    ///
    /// - Parameters:
    ///   - item: The name of the elements when they are written; with nil the encoder's
    ///     ``XMLEncoder/itemName`` serves. Elements of any name are read.
    ///   - namespace: The name of the namespace; "" for none, nil for any.
    public static func wrapped(item: String? = nil, namespace: String? = nil) -> XMLPlacement {
        XMLPlacement(.wrapped(item: item), namespace: namespace)
    }
}
