/// An element that is being written.
final class OutputElement {
    let name: String
    /// How many elements this is in, itself included.
    let depth: Int
    /// Whether `xmlns=""` stands on this or around it.
    let isOutsideDefaultNamespace: Bool
    private(set) var attributes: [(name: String, value: Value)] = []
    private(set) var content: [Content] = []
    private var attributeNames: Set<String> = []

    /// An attribute's value.
    enum Value {
        case text(String)
        case words(WordList)
    }

    /// What can be in an element.
    enum Content {
        case element(OutputElement)
        case text(String)
        case words(WordList)
    }

    init(_ name: QualifiedName, depth: Int) {
        self.name = name.text
        self.depth = depth
        isOutsideDefaultNamespace = name.isOutsideDefaultNamespace
        if name.undeclaresDefaultNamespace { attributes.append(("xmlns", .text(""))) }
    }

    func append(_ part: Content) {
        if case .text("") = part { return }
        content.append(part)
    }

    /// Whether the attribute is a new one.
    func set(_ name: String, to value: Value) -> Bool {
        guard attributeNames.insert(name).inserted else { return false }
        attributes.append((name, value))
        return true
    }

    /// The one element in here; nil where there is something else.
    var onlyElement: OutputElement? {
        guard content.count == 1, case .element(let element) = content[0] else { return nil }
        return element
    }

    var hasText: Bool {
        content.contains { if case .element = $0 { false } else { true } }
    }
}
