import AfarCore
import AfarXML
import Foundation
import RawXML
import XMLCoder

extension Contest {
    static func xml() throws -> [Contest] {
        let text = Catalog.xml(bytes: 10_000_000)
        let data = Data(text.utf8)
        // Decoding is slower than parsing, so it gets a smaller document.
        let small = Data(Catalog.xml(bytes: 2_500_000).utf8)
        let raw = Array(data.map { CChar(bitPattern: $0) })
        let document = try XML.Document(data)
        guard let rawDocument = raw_xml_open(raw, Int32(raw.count)) else { throw CocoaError(.fileReadCorruptFile) }
        let value = try AfarXML.XMLDecoder().decode(Catalog.self, from: small)
        let wanted = "/catalog/item[@id > 100]/price[@currency = 'EUR']/amount"

        return [
            Contest(
                title: "XML: parse 10 MB into a tree", bytes: data.count,
                entries: [
                    Entry(name: "libxml2 in C") { _ = raw_xml_parse(raw, Int32(raw.count)) },
                    Entry(name: "XML.Document") { _ = try XML.Document(data) },
                ]),
            Contest(
                title: "XML: an XPath expression over 10 MB", bytes: data.count,
                entries: [
                    Entry(name: "libxml2 in C") { _ = raw_xml_xpath(rawDocument, wanted) },
                    Entry(name: "xpath") { _ = try document.xpath(wanted).nodes },
                ]),
            Contest(
                title: "XML: decode into structures", bytes: data.count,
                entries: [
                    Entry(name: "libxml2 in C, tree only") { _ = raw_xml_parse(raw, Int32(raw.count)) },
                    Entry(name: "AfarXML.XMLDecoder") {
                        _ = try AfarXML.XMLDecoder().decode(Catalog.self, from: data)
                    },
                    Entry(name: "XMLCoder", share: Double(small.count) / Double(data.count)) {
                        _ = try XMLCoder.XMLDecoder().decode(Catalog.self, from: small)
                    },
                ]),
            Contest(
                title: "XML: stream 10 MB in chunks of 64 KiB", bytes: data.count,
                entries: [
                    Entry(name: "libxml2 in C, counting only") { _ = raw_xml_stream(raw, Int32(raw.count), 65_536) },
                    Entry(name: "XML.EventParser") { try pass(data, through: XML.EventParser()) },
                    Entry(name: "XML.ElementParser, decoding") {
                        try pass(data, through: XML.ElementParser(matching: "item", as: Catalog.Item.self))
                    },
                ]),
            Contest(
                title: "XML: encode structures", bytes: small.count,
                entries: [
                    Entry(name: "AfarXML.XMLEncoder") { _ = try AfarXML.XMLEncoder().encode(value) },
                    Entry(name: "XMLCoder") { _ = try XMLCoder.XMLEncoder().encode(value) },
                ]),
        ]
    }

    private static func pass<Parser: DataStreamParser>(_ data: Data, through parser: Parser) throws {
        var parser = parser
        var rest = data
        while !rest.isEmpty {
            for result in parser.parse(rest.prefix(65_536)) { _ = try result.get() }
            rest = rest.dropFirst(65_536)
        }
        for result in parser.finish() { _ = try result.get() }
    }
}
