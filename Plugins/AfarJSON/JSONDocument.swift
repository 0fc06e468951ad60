import AfarSerializers
import CJSONDocument
import Foundation

/// A text that is JSON, and what is to be known for decoding from it.
final class JSONDocument {
    let options: FastJSONDecoder
    let userInfo: [CodingUserInfoKey: Any]
    let names: JSONNames
    let text: UnsafePointer<CChar>
    let nodes: UnsafeMutablePointer<afar_json_node>
    let keys: UnsafePointer<afar_json_key>
    private let storage: afar_json_document

    /// How deep arrays and objects may be nested: what Foundation's parsers take.
    private static let maximumDepth: UInt32 = 512

    /// Reads a text.
    ///
    /// - Throws: `DecodingError.dataCorrupted`.
    init(_ data: Data, options: FastJSONDecoder) throws {
        let utf8: Data
        do {
            utf8 = try JSONText.utf8(data)
        } catch {
            throw DecodingError.dataCorrupted(by: error)
        }
        var storage = afar_json_document()
        let status = utf8.withUnsafeBytes {
            afar_json_open($0.baseAddress, $0.count, Self.maximumDepth, &storage)
        }
        guard status == afar_json_ok, let text = storage.text, let nodes = storage.nodes, let keys = storage.keys else {
            throw DecodingError.dataCorrupted(by: Self.fault(in: utf8, status, at: storage.length))
        }
        self.storage = storage
        self.options = options
        self.text = text
        self.nodes = nodes
        self.keys = keys
        names = JSONNames(
            UnsafeBufferPointer(start: keys, count: Int(storage.key_count)), options.keyDecodingStrategy)
        userInfo = options.userInfo
    }

    deinit { withUnsafePointer(to: storage) { afar_json_close($0) } }

    var length: Int { storage.length }

    var root: JSONValue { JSONValue(document: self, node: 0, parent: 0, place: JSONValue.noPlace) }

    /// What stands for a value that is not there.
    func absent(in parent: UInt32) -> JSONValue {
        JSONValue(document: self, node: storage.node_count, parent: parent, place: JSONValue.noPlace)
    }

    // MARK: Nodes

    /// A value's first byte, which tells what it is.
    func first(_ node: UInt32) -> UInt8 { UInt8(bitPattern: text[Int(nodes[Int(node)].offset)]) }

    func isNull(_ node: UInt32) -> Bool { first(node) == UInt8(ascii: "n") }

    func container(_ node: UInt32) -> UnsafeMutablePointer<afar_json_container> {
        UnsafeMutableRawPointer(nodes + Int(node)).assumingMemoryBound(to: afar_json_container.self)
    }

    /// How many elements or members an array or an object has.
    func count(of node: UInt32) -> Int { Int(container(node).pointee.count & ~afar_json_has_duplicates) }

    /// The number of the name in a key's node.
    func keyNumber(_ node: UInt32) -> UInt32 { nodes[Int(node)].extent }

    /// The node behind a value.
    func end(of node: UInt32) -> UInt32 {
        let first = first(node)
        return first == UInt8(ascii: "{") || first == UInt8(ascii: "[") ? nodes[Int(node)].extent : node + 1
    }

    /// The bytes of a string between the quotation marks, or of a number.
    func bytes(_ node: UInt32) -> UnsafeRawBufferPointer {
        let isString = first(node) == UInt8(ascii: "\"")
        let start = text + Int(nodes[Int(node)].offset) + (isString ? 1 : 0)
        return UnsafeRawBufferPointer(start: start, count: Int(nodes[Int(node)].extent & afar_json_length))
    }

    // MARK: Faults

    private static func fault(in text: Data, _ status: afar_json_status, at offset: Int) -> InvalidJSON {
        let problem: String
        switch status {
        case afar_json_too_large: problem = "The text has 2 GiB or more"
        case afar_json_out_of_memory: problem = "There is not enough memory for the text"
        case afar_json_lone_surrogate: problem = "A string has half of a surrogate pair"
        default:
            if let fault = JSONText.fault(in: text) { return fault }
            problem = "The text is no JSON"
        }
        return InvalidJSON(problem: problem, location: JSONLocation(of: offset, in: text))
    }
}
