/// A value of a document: its node, and which place it has in which array or object.
struct JSONValue {
    let document: JSONDocument
    let node: UInt32
    /// The array or object that this is in; of the root, the root itself.
    let parent: UInt32
    /// An index, a key's number, or ``noPlace``.
    let place: UInt32
    /// Whether the names of an object's members are taken as they are, whatever the strategy for keys.
    var keepsKeys = false

    /// The place of what a decoder asked for and the document does not have.
    static let noPlace = UInt32.max
}
