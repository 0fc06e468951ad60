import CJSONDocument
import CStack
import Foundation

/// What a document consists of. It stands at an address that stays good after the document was closed, and is then used for
/// another one; the generation tells them apart.
struct JSONDocumentContents {
    /// Another number for each document, and for none.
    private(set) var generation: UInt32
    let text: UnsafePointer<CChar>
    let nodes: UnsafeMutablePointer<afar_json_node>
    let index: afar_json_document
    var types: DecodedTypes
    /// See ``JSONNames/dependOnPath``.
    let namesDependOnPath: Bool
    /// Whether different names are one in Swift.
    let namesAreAmbiguous: Bool
    /// Where on the stack decoding began.
    let stackStart: UInt
    let details: Unmanaged<JSONDocumentDetails>

    typealias Address = UnsafeMutablePointer<JSONDocumentContents>

    private static let lock = NSLock()
    /// The addresses that no document uses: as many as documents were open at a time.
    // Safe because it is used under the lock only.
    private nonisolated(unsafe) static var free: [Address] = []

    /// Keeps a document; nil if there is none in the index.
    static func make(_ index: afar_json_document, _ options: FastJSONDecoder) -> Address? {
        guard let text = index.text, let nodes = index.nodes else { return nil }
        let keys = UnsafeBufferPointer(start: index.keys, count: Int(index.key_count))
        let names = JSONNames(keys, areASCII: index.keys_are_ascii, options.keyDecodingStrategy)
        let details = JSONDocumentDetails(options, names)
        func contents(generation: UInt32, types: DecodedTypes) -> JSONDocumentContents {
            JSONDocumentContents(
                generation: generation, text: text, nodes: nodes, index: index, types: types,
                namesDependOnPath: names.dependOnPath, namesAreAmbiguous: names.areAmbiguous,
                stackStart: UInt(afar_stack_position()), details: .passRetained(details))
        }
        guard let address = lock.withLock({ free.popLast() }) else {
            let address = Address.allocate(capacity: 1)
            address.initialize(to: contents(generation: 1, types: DecodedTypes()))
            return address
        }
        address.pointee = contents(generation: address.pointee.generation, types: address.pointee.types)
        return address
    }

    /// Frees a document.
    static func close(_ address: Address) {
        let contents = address.pointee
        address.pointee.generation &+= 1
        lock.withLock { free.append(address) }
        contents.details.release()
        withUnsafePointer(to: contents.index) { afar_json_close($0) }
    }
}
