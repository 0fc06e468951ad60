extension XML {
    /// An attribute.
    public struct Attribute: NodeProtocol {
        /// This as a plain node.
        public let node: Node

        init(_ node: Node) { self.node = node }

        /// The value.
        public var value: String { text }
    }
}
