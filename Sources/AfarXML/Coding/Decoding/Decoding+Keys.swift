import CLibxml2

extension Decoding {
    /// Whether a closure makes the keys.
    var hasCustomKeys: Bool {
        guard !usesDefaultKeys, case .custom = options.keyDecodingStrategy else { return false }
        return true
    }

    /// The key that a name in the document is.
    func key(of place: Place, in codingPath: @autoclosure () -> [any CodingKey]) -> String {
        let name = place.name
        guard case .custom(let convert) = options.keyDecodingStrategy, name != Place.textKey else { return name }
        return convert(codingPath() + [XMLKey(stringValue: name)]).stringValue
    }

    /// A key as the type has it: of the name itself, or of the name in camel case where the strategy changes it so.
    func key<Key: CodingKey>(_ type: Key.Type, for name: String) -> Key? {
        Key(stringValue: name)
            ?? {
                switch options.keyDecodingStrategy {
                case .convertFromSnakeCase: Key(stringValue: name.camelCased(wordsJoinedBy: "_"))
                case .convertFromKebabCase: Key(stringValue: name.camelCased(wordsJoinedBy: "-"))
                case .useDefaultKeys, .custom: nil
                }
            }()
    }

    /// The place of an enum's value at a child or a text, if that is a case; nil for white space.
    func choice(at node: xmlNodePtr, of type: any Decodable.Type) -> Place? {
        switch node.pointee.type {
        case XML_ELEMENT_NODE: break
        case XML_TEXT_NODE, XML_CDATA_SECTION_NODE:
            // Only the first of a run, in which comments may be.
            var before = node.pointee.prev
            while let other = before, other.pointee.type == XML_COMMENT_NODE || other.pointee.type == XML_PI_NODE {
                before = other.pointee.prev
            }
            if let before, before.isText { return nil }
            guard Place(node, .run).withOwnText({ text, _ in !text.trimmed.isEmpty }) else { return nil }
        default: return nil
        }
        let place = Place(node, .choice)
        return isChoice(place, of: type) ? place : nil
    }
}

extension String {
    /// Words in camel case.
    fileprivate func camelCased(wordsJoinedBy separator: Character) -> String {
        let words = split(separator: separator)
        return words.dropFirst().reduce(words.first?.lowercased() ?? self) {
            $0 + $1.prefix(1).uppercased() + $1.dropFirst()
        }
    }
}
