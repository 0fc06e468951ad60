import CLibxml2

/// Finds elements with too many attributes before libxml2 does, whose time grows with their square.
struct AttributeCounter {
    private var counter = afar_xml_counter()
    private let maximum: Int

    init(_ options: XML.ParsingOptions) { maximum = options.maximumAttributes }

    /// Looks at the document's next bytes, in UTF-8.
    mutating func count(_ bytes: UnsafeRawBufferPointer) throws(XML.Error) {
        let start = bytes.bindMemory(to: UInt8.self).baseAddress
        guard !afar_xml_count_attributes(&counter, start, bytes.count, Int32(clamping: maximum)) else { return }
        throw XML.Error(.limitExceeded, "an element has more than \(maximum) attributes", byteOffset: counter.tag)
    }
}
