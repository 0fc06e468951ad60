/// The namespaces that a document declares, all on its outermost element.
struct OutputNamespaces {
    private let defaultNamespace: String?
    private var prefixes: [String: String] = [XMLNamespaces.xml: "xml"]
    private var declared: [(prefix: String, namespace: String)] = []
    private let taken: Set<String>

    /// - Throws: `EncodingError.invalidValue` for a prefix that is none.
    init(_ namespaces: [String: String]) throws {
        defaultNamespace = namespaces[""].flatMap { $0.isEmpty ? nil : $0 }
        taken = Set(namespaces.keys)
        for (prefix, namespace) in namespaces.sorted(by: { $0.key < $1.key }) where !prefix.isEmpty && prefix != "xml" {
            guard XMLName.isValid(prefix), prefix != "xmlns" else {
                throw Self.failure(prefix, "is no prefix for a namespace")
            }
            guard !namespace.isEmpty, namespace != XMLNamespaces.xml, XMLCharacters.firstForbidden(in: namespace) == nil
            else {
                throw Self.failure(namespace, "is no namespace that the prefix \(prefix) can stand for")
            }
            prefixes[namespace] = prefixes[namespace] ?? prefix
            declared.append((prefix, namespace))
        }
        if let defaultNamespace {
            guard XMLCharacters.firstForbidden(in: defaultNamespace) == nil else {
                throw Self.failure(defaultNamespace, "is no namespace")
            }
            declared.insert(("", defaultNamespace), at: 0)
        }
    }

    /// The declarations, as attributes.
    var declarations: [(name: String, value: OutputElement.Value)] {
        declared.map { ($0.prefix.isEmpty ? "xmlns" : "xmlns:\($0.prefix)", .text($0.namespace)) }
    }

    /// The name of an element in a namespace; nil means the default one, "" none.
    mutating func elementName(_ name: String, _ namespace: String?, in parent: OutputElement?) -> QualifiedName {
        let isOutside = parent?.isOutsideDefaultNamespace ?? false
        switch namespace {
        case nil:
            return QualifiedName(text: name, isOutsideDefaultNamespace: isOutside)
        case "" where defaultNamespace == nil || isOutside:
            return QualifiedName(text: name, isOutsideDefaultNamespace: isOutside)
        case "":
            return QualifiedName(text: name, undeclaresDefaultNamespace: true, isOutsideDefaultNamespace: true)
        case defaultNamespace where !isOutside:
            return QualifiedName(text: name)
        case let namespace?:
            return QualifiedName(text: "\(prefix(for: namespace)):\(name)", isOutsideDefaultNamespace: isOutside)
        }
    }

    /// The name of an attribute in a namespace; nil and "" mean none.
    mutating func attributeName(_ name: String, _ namespace: String?) -> String {
        guard let namespace, !namespace.isEmpty else { return name }
        return "\(prefix(for: namespace)):\(name)"
    }

    private mutating func prefix(for namespace: String) -> String {
        if let prefix = prefixes[namespace] { return prefix }
        var prefix = namespace == XMLNamespaces.schemaInstance ? "xsi" : "ns1"
        var number = 1
        while taken.contains(prefix) || declared.contains(where: { $0.prefix == prefix }) {
            number += 1
            prefix = "ns\(number)"
        }
        prefixes[namespace] = prefix
        declared.append((prefix, namespace))
        return prefix
    }

    private static func failure(_ text: String, _ reason: String) -> EncodingError {
        .invalidValue(
            text, EncodingError.Context(codingPath: [], debugDescription: "\(text.debugDescription) \(reason)."))
    }
}
