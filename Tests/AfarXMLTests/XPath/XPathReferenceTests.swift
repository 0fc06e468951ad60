import CLibxml2
import Foundation
import Testing

@testable import AfarXML

/// The results are the same as those of libxml2's evaluator, which is widely used.
@Suite struct XPathReferenceTests {
    @Test(arguments: 0..<40) func randomExpressionsMatchLibxml2(seed: UInt64) throws {
        var random = SplitMix(state: seed)
        let text = RandomXPath.document(&random)
        let document = try XML.Document(text)
        // Separate, because the evaluator modifies it.
        let reference = try XML.Document(text)
        for _ in 0..<100 {
            let expression = RandomXPath.expression(.random(in: 0...3, using: &random), &random)
            let expected = Reference.result(of: expression, in: reference)
            let found: Reference.Result
            do {
                found = Reference.Result(try document.xpath(expression, namespaces: RandomXPath.namespaces))
            } catch {
                found = .failure
            }
            #expect(found == expected, "\(expression) in \(text)")
        }
    }
}

/// libxml2's evaluator.
private enum Reference {
    enum Result: Equatable {
        case nodes([String])
        case string(String)
        case number(String)
        case boolean(Bool)
        case failure

        init(_ result: XML.XPathResult) {
            self =
                switch result {
                case .nodes(let nodes): .nodes(nodes.map { Self.place(of: $0.pointer) })
                case .string(let text): .string(text)
                // NaN isn't equal to itself, but its text is.
                case .number(let number): .number("\(number)")
                case .boolean(let value): .boolean(value)
                }
        }

        /// Returns a node's position as the number of siblings before it and before each of its ancestors. The position
        /// is the same in two trees of one document.
        static func place(of node: xmlNodePtr) -> String {
            var steps: [String] = []
            var next: xmlNodePtr? = node
            while let current = next {
                var before = 0
                var sibling = current.pointee.prev
                while let other = sibling {
                    before += 1
                    sibling = other.pointee.prev
                }
                steps.append("\(current.pointee.type.rawValue).\(before)")
                next = current.pointee.parent
            }
            return steps.reversed().joined(separator: "/")
        }
    }

    static func result(of expression: String, in document: XML.Document) -> Result {
        guard let context = xmlXPathNewContext(document.pointer) else { return .failure }
        defer { xmlXPathFreeContext(context) }
        context.pointee.node = afar_xml_node(document.pointer)
        context.pointee.proximityPosition = 1
        context.pointee.contextSize = 1
        context.pointee.error = { _, _ in }
        for (prefix, name) in RandomXPath.namespaces { xmlXPathRegisterNs(context, prefix, name) }
        guard let result = xmlXPathEvalExpression(expression, context) else { return .failure }
        defer { xmlXPathFreeObject(result) }
        switch result.pointee.type {
        case XPATH_NODESET:
            guard let set = result.pointee.nodesetval else { return .nodes([]) }
            xmlXPathNodeSetSort(set)
            let nodes = (0..<Int(set.pointee.nodeNr)).compactMap { set.pointee.nodeTab[$0] }
            if nodes.contains(where: { $0.pointee.type == XML_NAMESPACE_DECL }) { return .failure }
            return .nodes(nodes.map(Result.place))
        case XPATH_STRING: return .string(result.pointee.stringval.map { String(cString: $0) } ?? "")
        case XPATH_NUMBER: return .number("\(result.pointee.floatval)")
        case XPATH_BOOLEAN: return .boolean(result.pointee.boolval != 0)
        default: return .failure
        }
    }
}
