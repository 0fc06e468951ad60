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

    /// Which of its namesakes an element is, in brackets, if there are some.
    private static func number(of element: xmlNodePtr) -> String {
        guard let before = namesakes(of: element, xmlPreviousElementSibling) else { return "[…]" }
        if before > 0 { return "[\(before + 1)]" }
        return namesakes(of: element, xmlNextElementSibling) == 0 ? "" : "[1]"
    }

    /// How many siblings in one direction bear the same name; nil among very many, since a list of as many errors would
    /// take the square of its length.
    private static func namesakes(of element: xmlNodePtr, _ next: (xmlNodePtr?) -> xmlNodePtr?) -> Int? {
        var count = 0
        var sibling = next(element)
        for _ in 0..<1000 {
            guard let other = sibling else { return count }
            if xmlStrEqual(other.pointee.name, element.pointee.name) != 0 { count += 1 }
            sibling = next(other)
        }
        return nil
    }
}
