import CLibxml2

extension Place {
    /// Where this is, for a person: `at /feed/entry[3]/title, line 12`.
    var location: String {
        let element = isElement ? node : node.pointee.parent ?? node
        return "at \(path), line \(xmlGetLineNo(element))"
    }

    /// The way to this from the document by local names, with a number where siblings bear the same.
    var path: String {
        var steps: [String] = []
        var next: xmlNodePtr? = node
        while let step = next {
            switch step.pointee.type {
            case XML_ELEMENT_NODE: steps.append(Place(step, .value).name + Self.number(of: step))
            case XML_ATTRIBUTE_NODE: steps.append("@" + Place(step, .value).name)
            case XML_TEXT_NODE, XML_CDATA_SECTION_NODE: steps.append("text()")
            default: break
            }
            next = step.pointee.parent
        }
        let names = steps.reversed().map { "/" + $0 }
        // Nobody reads all of a long one.
        return names.count <= 20 ? names.joined() : (names.prefix(4) + ["/…"] + names.suffix(12)).joined()
    }

    private static func number(of element: xmlNodePtr) -> String {
        var before = 0
        var sibling = xmlPreviousElementSibling(element)
        while let other = sibling {
            if xmlStrEqual(other.pointee.name, element.pointee.name) != 0 { before += 1 }
            sibling = xmlPreviousElementSibling(other)
        }
        guard before == 0 else { return "[\(before + 1)]" }
        sibling = xmlNextElementSibling(element)
        while let other = sibling {
            if xmlStrEqual(other.pointee.name, element.pointee.name) != 0 { return "[1]" }
            sibling = xmlNextElementSibling(other)
        }
        return ""
    }
}
