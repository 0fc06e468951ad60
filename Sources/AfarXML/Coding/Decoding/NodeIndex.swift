import CLibxml2

/// The children and attributes of an element by key.
///
/// Made where all keys are asked for, as a dictionary does, so that looking up each takes no look at all others; and where a
/// closure makes the keys.
struct NodeIndex {
    /// The keys in the order of the document.
    private(set) var keys: [String] = []
    private(set) var nodes: [String: [xmlNodePtr]] = [:]

    init(_ element: xmlNodePtr, _ key: (Place) -> String) {
        var next = element.pointee.children
        while let node = next {
            add(node, key)
            next = node.pointee.next
        }
        next = UnsafeMutableRawPointer(element.pointee.properties)?.assumingMemoryBound(to: xmlNode.self)
        while let node = next {
            add(node, key)
            next = node.pointee.next
        }
    }

    private mutating func add(_ node: xmlNodePtr, _ key: (Place) -> String) {
        let place = Place(node, .value)
        guard place.isElement || place.isAttribute else { return }
        let name = key(place)
        if nodes[name] == nil { keys.append(name) }
        nodes[name, default: []].append(node)
    }
}
