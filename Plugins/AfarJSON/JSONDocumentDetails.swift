import CJSONDocument
import CStack

/// What is needed of a document now and then.
final class JSONDocumentDetails {
    let options: FastJSONDecoder
    private(set) lazy var userInfo: [CodingUserInfoKey: Any] = options.userInfo
    let names: JSONNames
    /// Of large objects, the nodes of keys by their numbers.
    var indexes: [UInt32: [UInt32: UInt32]] = [:]
    /// Of all objects, the nodes of keys by their names in Swift, where these depend on the path.
    var namedIndexes: [UInt32: [String: UInt32]] = [:]
    /// The names of members that a decoder was asked for and that are not there.
    var absentNames: [String] = []
    var locations = JSONLocations()
    /// The path of an array or an object. The next one that is wanted is mostly that of a sibling, whose path begins alike.
    var lastPath: (node: UInt32, path: [any CodingKey]) = (0, [])
    private var stackEnd: UInt?

    init(_ options: FastJSONDecoder, _ names: JSONNames) {
        self.options = options
        self.names = names
    }

    /// Whether the stack has room for more values in each other; their own code is on it, too.
    func hasStack(at position: UInt) -> Bool {
        let end = stackEnd ?? UInt(afar_stack_end())
        stackEnd = end
        return position > end + (64 << 10)
    }
}
