import CLibxml2

/// The way through a list's elements.
struct Walk {
    private let list: ElementDecoder
    private let route: Route

    private enum Route {
        case nothing
        /// The children.
        case children
        /// The children that are a case of an enum.
        case choices(any Decodable.Type)
        /// What bears the same name in the same namespace.
        case namesakes
        /// The same, found before.
        case listed([xmlNodePtr])
        /// The words of a text.
        case words(UnsafeBufferPointer<UInt8>)
    }

    init(_ list: ElementDecoder) {
        self.list = list
        let place = list.place
        route =
            switch place.role {
            case .absent, .choice: .nothing
            case .choices(let type): .choices(type)
            case .ownText, .run, .word: .words(list.keptText)
            case .item, .content: place.isElement ? .children : .words(list.keptText)
            case .value where place.isAttribute: .words(list.keptText)
            case .value:
                if let namesakes = list.parent?.indexedNamesakes(of: place.node, list.key) {
                    .listed(namesakes)
                } else {
                    .namesakes
                }
            }
    }

    var first: Place? {
        let place = list.place
        return switch route {
        case .nothing: nil
        case .children: element(from: place.node.pointee.children)
        case .choices(let type): choice(from: place.node.pointee.children, type)
        case .namesakes: Place(place.node, .item)
        case .listed(let nodes): nodes.first.map { Place($0, .item) }
        case .words(let text): word(in: text)
        }
    }

    /// What follows an element; `index` is its place in the list.
    func after(_ place: Place, at index: Int) -> Place? {
        switch route {
        case .nothing: return nil
        case .children: return element(from: place.node.pointee.next)
        case .choices(let type): return choice(from: place.node.pointee.next, type)
        case .listed(let nodes): return index < nodes.count ? Place(nodes[index], .item) : nil
        case .words(let text):
            guard case .word(let word) = place.role, let start = text.baseAddress, let end = word.baseAddress
            else { return nil }
            return self.word(in: UnsafeBufferPointer(rebasing: text[(end - start + word.count)...]))
        case .namesakes:
            var next = place.node.pointee.next
            while let node = next {
                if node.pointee.type == XML_ELEMENT_NODE, node.isNamesake(of: place.node) {
                    return Place(node, .item)
                }
                next = node.pointee.next
            }
            return nil
        }
    }

    private func element(from start: xmlNodePtr?) -> Place? {
        var next = start
        while let node = next {
            if node.pointee.type == XML_ELEMENT_NODE { return Place(node, .item) }
            next = node.pointee.next
        }
        return nil
    }

    private func choice(from start: xmlNodePtr?, _ type: any Decodable.Type) -> Place? {
        var next = start
        while let node = next {
            if let choice = list.decoding.choice(at: node, of: type) { return choice }
            next = node.pointee.next
        }
        return nil
    }

    private func word(in text: UnsafeBufferPointer<UInt8>) -> Place? {
        guard let start = text.firstIndex(where: { !$0.isXMLSpace }) else { return nil }
        let end = text[start...].firstIndex(where: \.isXMLSpace) ?? text.endIndex
        return Place(list.place.node, .word(UnsafeBufferPointer(rebasing: text[start..<end])))
    }
}
