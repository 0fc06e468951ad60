import AfarCore
import Foundation

/// The state shared by all encoders of one document.
final class Encoding {
    let options: XMLEncoder
    var namespaces: OutputNamespaces
    /// The first error of a method that can't throw. The next throwing method throws this error.
    private var failure: EncodingError?
    private var stack = StackSpace()
    private var validNames: Set<String> = []

    /// The maximum nesting depth of elements. It is the parser's default limit, so every encoded document can be
    /// parsed.
    static let maximumDepth = XML.ParsingOptions().maximumDepth

    init(_ options: XMLEncoder) throws {
        self.options = options
        namespaces = try OutputNamespaces(options.namespaces)
    }

    /// Encodes a value as the outermost element.
    func root<Value: Encodable>(of value: Value) throws -> OutputElement {
        if Value.self is any XMLChoice.Type {
            let holder = OutputElement(QualifiedName(text: ""), depth: 0)
            try write(value, to: ElementEncoder(.content(holder, items: options.itemName), self, codingPath: []))
            guard let root = holder.onlyElement else {
                throw error(value, "The case of the enum isn't an element, but a document requires one", [])
            }
            return root
        }
        let typeName = String(describing: Value.self)
        let name = options.rootName ?? (XMLName.isValid(typeName) ? typeName : "root")
        let root = element(name, options.rootNamespace, in: nil, codingPath: [])
        try write(value, to: ElementEncoder(.content(root, items: options.itemName), self, codingPath: []))
        return root
    }

    /// Encodes a value at an encoder's destination.
    func write<Value: Encodable>(_ value: Value, to encoder: ElementEncoder) throws {
        try check()
        if try !writeLeaf(value, encoder) {
            guard stack.enter() else {
                throw error(
                    "\(Value.self)",
                    "The value is nested \(stack.depth) levels deep, and this thread's stack has no room for more",
                    encoder.codingPath)
            }
            defer { stack.leave() }
            try value.encode(to: encoder)
        }
        encoder.finish()
        try check()
    }

    /// Encodes a value that consists of a single piece of text. Returns `false` if the value must encode itself. This method
    /// isn't inlined, because its caller is part of the recursion and must have a small stack frame.
    @inline(never)
    private func writeLeaf(_ value: some Encodable, _ encoder: ElementEncoder) throws -> Bool {
        if let text = try text(of: value, encoder) {
            try encoder.write(text)
        } else if let date = value as? Date, case .custom(let write) = options.dateEncodingStrategy {
            try write(date, encoder)
        } else if let data = value as? Data, case .custom(let write) = options.dataEncodingStrategy {
            try write(data, encoder)
        } else {
            return false
        }
        return true
    }

    private func check() throws {
        if let failure { throw failure }
    }

    func fail(_ value: Any, _ description: String, _ codingPath: [any CodingKey]) {
        failure = failure ?? error(value, description, codingPath)
    }

    func error(_ value: Any, _ description: String, _ codingPath: [any CodingKey]) -> EncodingError {
        let path = codingPath.map { "/" + $0.stringValue }.joined()
        return .invalidValue(
            value,
            EncodingError.Context(
                codingPath: codingPath, debugDescription: description + (path.isEmpty ? "." : " (at \(path)).")))
    }

    /// Returns the text of a value that consists of a single piece of text, or `nil` if the value must encode itself.
    private func text(of value: some Encodable, _ encoder: ElementEncoder) throws -> String? {
        switch value {
        case let value as String: return value
        case let value as Decimal where value.isNaN:
            throw error("NaN", "XML Schema can't represent NaN as a decimal number", encoder.codingPath)
        case let value as any XMLScalar: return value.xmlText
        case let value as Date:
            switch options.dateEncodingStrategy {
            case .deferredToDate, .custom: return nil
            case .secondsSince1970: return value.timeIntervalSince1970.xmlText
            case .millisecondsSince1970: return (value.timeIntervalSince1970 * 1000).xmlText
            case .formatted(let formatter): return formatter.string(from: value)
            case .iso8601:
                guard let text = XMLDateTime.text(value) else {
                    // Foundation traps when it describes a very distant date.
                    throw error(
                        value.timeIntervalSinceReferenceDate, "The date can't be written in ISO 8601",
                        encoder.codingPath)
                }
                return text
            }
        case let value as Data:
            switch options.dataEncodingStrategy {
            case .deferredToData, .custom: return nil
            case .base64: return value.base64EncodedString()
            case .hexadecimal: return XMLBinary.hexadecimalText(value)
            }
        default: return nil
        }
    }
}

extension Encoding {
    /// Returns a new element. Adds the element to its parent unless the element's name or depth is invalid.
    func element(
        _ name: String, _ namespace: String?, in parent: OutputElement?, codingPath: [any CodingKey]
    ) -> OutputElement {
        let depth = (parent?.depth ?? 0) + 1
        let element = OutputElement(
            namespaces.elementName(name, namespace, in: parent), depth: depth)
        if depth > Self.maximumDepth {
            fail(name, "Elements would be nested more than \(Self.maximumDepth) levels deep", codingPath)
        } else if isValid(name, codingPath) {
            parent?.append(.element(element))
        }
        return element
    }

    /// Sets an attribute of an element unless its name is invalid.
    func setAttribute(
        _ name: String, _ namespace: String?, of element: OutputElement, to value: OutputElement.Value,
        codingPath: [any CodingKey]
    ) {
        guard isValid(name, codingPath) else { return }
        let qualified = namespaces.attributeName(name, namespace)
        if qualified == "xmlns" {
            fail(name, "An attribute can't be named xmlns. Use XMLEncoder.namespaces to declare namespaces", codingPath)
        } else if !element.set(qualified, to: value) {
            fail(name, "The element already has an attribute \(name)", codingPath)
        }
    }

    /// Returns whether a type is an enum whose cases are elements, or a list of such enums.
    func isChoice(_ type: any Any.Type) -> Bool {
        (type as? any XMLList.Type)?.element is any XMLChoice.Type || type is any XMLChoice.Type
    }

    /// Returns the text if a document can contain it; otherwise throws an error.
    func checked(_ text: String, _ codingPath: [any CodingKey]) throws -> String {
        guard let character = XMLCharacters.firstForbidden(in: text) else { return text }
        let code = String(character.value, radix: 16, uppercase: true)
        throw error(
            text,
            "XML 1.0 can't represent the character U+\(String(repeating: "0", count: 4 - code.count))\(code). Encode it as Data",
            codingPath)
    }

    private func isValid(_ name: String, _ codingPath: [any CodingKey]) -> Bool {
        if validNames.contains(name) { return true }
        guard XMLName.isValid(name) else {
            let hint = name.contains(":") ? ". Use XMLPlacement instead of a prefix for its namespace" : ""
            fail(name, "\(name.debugDescription) isn't a valid XML name for an element or attribute\(hint)", codingPath)
            return false
        }
        validNames.insert(name)
        return true
    }
}
