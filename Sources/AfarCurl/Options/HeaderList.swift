import CLibcurl
import Foundation
import HTTPTypes

/// Header lines as libcurl's linked list: nodes and text in one allocation.
final class HeaderList: @unchecked Sendable {
    // Sendable because nothing changes after init: libcurl only reads the list.
    let first: UnsafeMutablePointer<curl_slist>?
    private let block: UnsafeMutableRawPointer?
    /// The list that the last node goes on with; held so that it lives as long.
    private let next: HeaderList?

    /// Makes the lines of `fields`, then those of `extra`, then goes on with the nodes of `next`.
    ///
    /// An empty value takes a form of its own, `Name;`, because `Name:` makes libcurl leave the header out. Lines of that
    /// second kind are what `extra` is for.
    init(_ fields: some Collection<HTTPField>, extra: [StaticString] = [], next: HeaderList? = nil) {
        self.next = next
        let count = fields.count + extra.count
        guard count > 0 else {
            (block, first) = (nil, next?.first)
            return
        }
        var textBytes = 0
        for field in fields { textBytes += field.name.rawName.utf8.count + field.valueLength + 3 }
        for line in extra { textBytes += line.utf8CodeUnitCount + 1 }
        let nodeBytes = count * MemoryLayout<curl_slist>.stride
        let block = UnsafeMutableRawPointer.allocate(
            byteCount: nodeBytes + textBytes, alignment: MemoryLayout<curl_slist>.alignment)
        let nodes = block.bindMemory(to: curl_slist.self, capacity: count)
        var text = (block + nodeBytes).bindMemory(to: CChar.self, capacity: textBytes)
        var index = 0

        func endNode(startingAt line: UnsafeMutablePointer<CChar>) {
            text.pointee = 0
            text += 1
            let following = index + 1 < count ? nodes + index + 1 : next?.first
            (nodes + index).initialize(to: curl_slist(data: line, next: following))
            index += 1
        }

        for field in fields {
            let line = text
            Self.copy(field.name.rawName, to: &text)
            if field.valueLength == 0 {
                Self.copy(";", to: &text)
            } else {
                Self.copy(": ", to: &text)
                field.withUnsafeBytesOfValue { Self.copy($0, to: &text) }
            }
            endNode(startingAt: line)
        }
        for line in extra {
            let start = text
            line.withUTF8Buffer { bytes in
                for byte in bytes {
                    text.pointee = CChar(bitPattern: byte)
                    text += 1
                }
            }
            endNode(startingAt: start)
        }
        self.block = block
        first = nodes
    }

    deinit { block?.deallocate() }

    private static func copy(_ string: String, to text: inout UnsafeMutablePointer<CChar>) {
        var string = string
        string.withUTF8 { copy($0, to: &text) }
    }

    private static func copy(_ bytes: UnsafeBufferPointer<UInt8>, to text: inout UnsafeMutablePointer<CChar>) {
        guard let source = bytes.baseAddress else { return }
        memcpy(text, source, bytes.count)
        text += bytes.count
    }
}

extension HTTPField {
    fileprivate var valueLength: Int { withUnsafeBytesOfValue { $0.count } }
}
