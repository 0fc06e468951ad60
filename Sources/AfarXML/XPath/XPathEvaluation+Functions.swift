import CLibxml2

extension XPathEvaluation {
    /// Returns the value of a function (XPath 1.0, section 4). The compiler has checked the number of arguments.
    func call(
        _ function: XPathFunction, _ arguments: [XPathExpression], _ context: Context
    ) throws(XML.Error) -> XPathValue {
        switch function {
        case .last: return .number(Double(context.size))
        case .position: return .number(Double(context.position))
        case .count: return .number(Double(try nodes(arguments[0], context).count))
        case .id: return .nodes(try elements(named: evaluate(arguments[0], context)))
        case .localName, .namespaceURI, .name:
            let node = try arguments.first.map { argument throws(XML.Error) in try nodes(argument, context).first }
            return .text(try name(of: node ?? (arguments.isEmpty ? context.node : nil), function))
        case .boolean: return .boolean(try isTrue(arguments[0], context))
        case .not: return .boolean(try !isTrue(arguments[0], context))
        case .true: return .boolean(true)
        case .false: return .boolean(false)
        case .lang: return .boolean(try isLanguage(text(arguments[0], context), of: context.node))
        case .number: return .number(try number(of: argument(arguments, context)))
        case .sum:
            var sum = 0.0
            for node in try nodes(arguments[0], context) { sum += try number(of: node) }
            return .number(sum)
        case .floor: return .number(try number(arguments[0], context).rounded(.down))
        case .ceiling: return .number(try number(arguments[0], context).rounded(.up))
        case .round: return .number(try number(arguments[0], context).roundedHalfUp)
        case .string: return .text(try text(of: argument(arguments, context)))
        case .stringLength:
            return .number(Double(try text(of: argument(arguments, context)).count(where: \.beginsCharacter)))
        case .normalizeSpace:
            return .text(try text(of: argument(arguments, context)).withSpaceNormalized)
        case .concat, .startsWith, .contains, .substringBefore, .substringAfter, .substring, .translate:
            var texts: [[UInt8]] = []
            for argument in arguments.prefix(function == .substring ? 1 : .max) {
                texts.append(try text(argument, context))
                try spend(forBytes: texts[texts.count - 1].count)
            }
            guard function == .substring else { return try combine(texts, function) }
            let start = try number(arguments[1], context).roundedHalfUp
            let length = arguments.count == 3 ? try number(arguments[2], context).roundedHalfUp : .infinity
            return .text(texts[0].characters(from: start, to: start + length))
        }
    }

    /// Returns the value of the only argument or, without arguments, the context node.
    private func argument(_ arguments: [XPathExpression], _ context: Context) throws(XML.Error) -> XPathValue {
        guard let argument = arguments.first else { return .nodes([context.node]) }
        return try evaluate(argument, context)
    }

    private func combine(_ texts: [[UInt8]], _ function: XPathFunction) throws(XML.Error) -> XPathValue {
        switch function {
        case .startsWith: return .boolean(texts[0].starts(with: texts[1]))
        case .contains: return .boolean(try find(texts[1], in: texts[0]) != nil)
        case .substringBefore:
            return .text(try find(texts[1], in: texts[0]).map { Array(texts[0][..<$0]) } ?? [])
        case .substringAfter:
            return .text(try find(texts[1], in: texts[0]).map { Array(texts[0][($0 + texts[1].count)...]) } ?? [])
        case .translate: return .text(try translate(texts[0], from: texts[1], to: texts[2]))
        default: return .text(Array(texts.joined()))
        }
    }

    /// Returns the first position of one text in another. Comparisons count as steps, because their number can be the
    /// product of both lengths.
    private func find(_ wanted: [UInt8], in text: [UInt8]) throws(XML.Error) -> Int? {
        guard let first = wanted.first else { return 0 }
        var start = 0
        while text.count - start >= wanted.count, let found = text[start...].firstIndex(of: first) {
            var length = 1
            while length < wanted.count, found + length < text.count, text[found + length] == wanted[length] {
                length += 1
            }
            if length == wanted.count { return found }
            try spend(forBytes: length)
            start = found + 1
        }
        return nil
    }

    private func translate(
        _ text: [UInt8], from old: [UInt8], to new: [UInt8]
    ) throws(XML.Error) -> [UInt8] {
        // Count a step for each byte, because processing a character costs more than copying its bytes.
        try spend(text.count + old.count + new.count)
        let replacements = Array(String(decoding: new, as: UTF8.self).unicodeScalars)
        var table: [Unicode.Scalar: Unicode.Scalar?] = [:]
        for (index, character) in String(decoding: old, as: UTF8.self).unicodeScalars.enumerated()
        where table[character] == nil {
            table[character] = .some(index < replacements.count ? replacements[index] : nil)
        }
        var result = String.UnicodeScalarView()
        for character in String(decoding: text, as: UTF8.self).unicodeScalars {
            if let replacement = table[character] ?? character { result.append(replacement) }
        }
        return Array(String(result).utf8)
    }
}

extension XPathEvaluation {
    private func name(of node: xmlNodePtr?, _ function: XPathFunction) throws(XML.Error) -> [UInt8] {
        guard let node else { return [] }
        let names: [UnsafePointer<xmlChar>?]
        switch (node.pointee.type, function) {
        case (XML_ELEMENT_NODE, .namespaceURI), (XML_ATTRIBUTE_NODE, .namespaceURI):
            names = [node.pointee.ns.flatMap { UnsafePointer($0.pointee.href) }]
        case (XML_ELEMENT_NODE, .name), (XML_ATTRIBUTE_NODE, .name):
            names = [node.pointee.ns.flatMap { UnsafePointer($0.pointee.prefix) }, UnsafePointer(node.pointee.name)]
        case (_, .namespaceURI): names = []
        case (XML_ELEMENT_NODE, _), (XML_ATTRIBUTE_NODE, _), (XML_PI_NODE, _):
            names = [UnsafePointer(node.pointee.name)]
        case (XML_NAMESPACE_DECL, _): names = [UnsafePointer(node.namespace.pointee.prefix)]
        default: names = []
        }
        let text = names.compactMap { $0.map { String(cString: $0) } }.joined(separator: ":").utf8
        try spend(forBytes: text.count)
        return Array(text)
    }

    /// Returns the elements whose ID is one of the words in a value.
    private func elements(named value: XPathValue) throws(XML.Error) -> [xmlNodePtr] {
        var texts: [[UInt8]] = []
        if case .nodes(let nodes) = value {
            for node in nodes { texts.append(try text(of: node)) }
        } else {
            texts.append(try text(of: value))
        }
        var found = XPathNodes()
        for text in texts {
            var rest = text[...].drop(while: \.isXMLSpace)
            while !rest.isEmpty {
                let word = rest.prefix { !$0.isXMLSpace }
                try spend(forBytes: word.count)
                if let element = try element(withID: Array(word)) { found.append(element) }
                rest = rest.dropFirst(word.count).drop(while: \.isXMLSpace)
            }
        }
        return try sorted(found)
    }

    private func languageAttribute(of node: xmlNodePtr) throws(XML.Error) -> xmlAttrPtr? {
        guard node.pointee.type == XML_ELEMENT_NODE else { return nil }
        var next = node.pointee.properties
        while let attribute = next {
            try spend(1)
            if xmlStrEqual(attribute.pointee.name, "lang") != 0, let namespace = attribute.pointee.ns,
                xmlStrEqual(namespace.pointee.href, afar_xml_namespace()) != 0
            {
                return attribute
            }
            next = attribute.pointee.next
        }
        return nil
    }

    /// Returns whether the language of a node is the wanted language or a variant of it. The closest `xml:lang`
    /// attribute, on the node or an ancestor, specifies the language.
    private func isLanguage(_ wanted: [UInt8], of node: xmlNodePtr) throws(XML.Error) -> Bool {
        var next: xmlNodePtr? = node
        while let current = next {
            try spend(1)
            next = current.parent
            guard let attribute = try languageAttribute(of: current) else { continue }
            let language = try text(of: afar_xml_node(attribute)).map(\.lowercased)
            let name = wanted.map(\.lowercased)
            return language == name || language.starts(with: name + [UInt8(ascii: "-")])
        }
        return false
    }
}

extension [UInt8] {
    /// The text without surrounding white space. One space replaces each run of white space inside the text (section 4.2).
    fileprivate var withSpaceNormalized: [UInt8] {
        var result: [UInt8] = []
        var endsWord = false
        for byte in self {
            guard !byte.isXMLSpace else {
                endsWord = !result.isEmpty
                continue
            }
            if endsWord { result.append(0x20) }
            endsWord = false
            result.append(byte)
        }
        return result
    }
}

extension Double {
    /// The closest integer. Halves are rounded up (section 4.4).
    fileprivate var roundedHalfUp: Double {
        let down = rounded(.down)
        // Rounding down after adding 0.5 could lose precision.
        let result = self - down >= 0.5 ? down + 1 : down
        return result == 0 && self < 0 ? -0.0 : result
    }
}

extension UInt8 {
    /// Whether the byte is the first of a UTF-8 character.
    fileprivate var beginsCharacter: Bool { self & 0xC0 != 0x80 }

    fileprivate var lowercased: UInt8 { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) ? self | 0x20 : self }
}

extension [UInt8] {
    /// Returns the characters from one position up to but not including another. Positions begin at 1 (section 4.2).
    fileprivate func characters(from start: Double, to end: Double) -> [UInt8] {
        var place = 0.0
        return filter { byte in
            if byte.beginsCharacter { place += 1 }
            return place >= start && place < end
        }
    }
}
