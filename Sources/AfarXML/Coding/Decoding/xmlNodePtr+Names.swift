import CLibxml2

/// What is asked of nodes all the time. Asked of the pointer: libxml2's attributes are shorter than its nodes, and would be
/// copied as if they were as long.
extension UnsafeMutablePointer<xmlNode> {
    var isText: Bool { pointee.type == XML_TEXT_NODE || pointee.type == XML_CDATA_SECTION_NODE }

    /// Whether this bears a local name.
    @inline(__always)
    func bears(_ other: UnsafeBufferPointer<UInt8>) -> Bool {
        guard let name = pointee.name else { return false }
        // The name ends in NUL; a key that has one in it is no name.
        for index in other.indices where name[index] != other[index] || other[index] == 0 { return false }
        return name[other.count] == 0
    }

    /// One of 64 bits for the name, by how it begins. Not by its address: in what a stream keeps, equal names are apart.
    @inline(__always)
    var nameBit: UInt64 {
        guard let name = pointee.name, name[0] != 0 else { return 1 }
        return .bit(ofNameBeginning: name[0], name[1])
    }

    /// Whether this is of a namespace; "" is none.
    func isIn(_ namespace: String) -> Bool {
        guard let href = pointee.ns?.pointee.href else { return namespace.isEmpty }
        return namespace.isEmpty ? href.pointee == 0 : xmlStrEqual(href, namespace) != 0
    }

    /// Whether both are of the same namespace, or of none.
    @inline(__always)
    func isInNamespace(of other: xmlNodePtr) -> Bool {
        if pointee.ns == other.pointee.ns { return true }
        guard let own = pointee.ns, let theirs = other.pointee.ns else { return false }
        return xmlStrEqual(own.pointee.href, theirs.pointee.href) != 0
    }

    /// Whether both bear the same name in the same namespace.
    @inline(__always)
    func isNamesake(of other: xmlNodePtr) -> Bool {
        guard pointee.name == other.pointee.name || xmlStrEqual(pointee.name, other.pointee.name) != 0
        else { return false }
        return isInNamespace(of: other)
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// The bit that a node of this name has.
    @inline(__always)
    var nameBit: UInt64 { isEmpty ? 1 : .bit(ofNameBeginning: self[0], count > 1 ? self[1] : 0) }
}

extension UInt64 {
    @inline(__always)
    fileprivate static func bit(ofNameBeginning first: UInt8, _ second: UInt8) -> UInt64 {
        1 &<< UInt64((first &* 31 &+ second) & 63)
    }
}
