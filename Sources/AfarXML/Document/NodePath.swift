import CLibxml2

extension UnsafeMutablePointer<xmlNode> {
    /// The way to this from the document by local names, with a number where siblings bear the same.
    var path: String {
        var steps: [String] = []
        var next: xmlNodePtr? = self
        while let step = next {
            let name = step.pointee.name.map { String(xml: $0, atMost: 100) } ?? ""
            switch step.pointee.type {
            case XML_ELEMENT_NODE: steps.append(name + step.number)
            case XML_ATTRIBUTE_NODE: steps.append("@" + name)
            case XML_TEXT_NODE, XML_CDATA_SECTION_NODE: steps.append("text()")
            case XML_COMMENT_NODE: steps.append("comment()")
            case XML_PI_NODE: steps.append("processing-instruction()")
            default: break
            }
            next = step.pointee.parent
        }
        let names = steps.reversed().map { "/" + $0 }
        // Nobody reads all of a long one.
        return names.count <= 20 ? names.joined() : (names.prefix(4) + ["/…"] + names.suffix(12)).joined()
    }

    /// Which of its namesakes an element is, in brackets, if there are some.
    private var number: String {
        guard let before = namesakes(xmlPreviousElementSibling) else { return "[…]" }
        if before > 0 { return "[\(before + 1)]" }
        return namesakes(xmlNextElementSibling) == 0 ? "" : "[1]"
    }

    /// How many siblings in one direction bear the same name; nil among very many, since asking each of a long list would take
    /// the square of its length.
    private func namesakes(_ next: (xmlNodePtr?) -> xmlNodePtr?) -> Int? {
        var count = 0
        var sibling = next(self)
        for _ in 0..<1000 {
            guard let other = sibling else { return count }
            if xmlStrEqual(other.pointee.name, pointee.name) != 0 { count += 1 }
            sibling = next(other)
        }
        return nil
    }
}
