import AfarXML
import Foundation
import Measurement

/// Measures the memory used while the elements of a long stream are decoded.
struct StreamedMemory {
    let mebibytes: Int

    func measure() throws {
        let before = Usage.peakKilobytes
        let start = Usage.now
        var parser = XML.ElementParser(matching: "/catalog/item", as: Catalog.Item.self)
        var (bytes, values) = (0, 0)
        func feed(_ text: String) throws {
            let chunk = Data(text.utf8)
            bytes += chunk.count
            for result in parser.parse(chunk) {
                _ = try result.get()
                values += 1
            }
        }
        try feed("<catalog>")
        while bytes < mebibytes << 20 {
            // As on a network, chunks end anywhere.
            let text = (0..<130).map { Catalog.item(values + $0) }.joined()
            let middle = text.index(text.startIndex, offsetBy: text.count / 3)
            try feed(String(text[..<middle]))
            try feed(String(text[middle...]))
        }
        try feed("</catalog>")
        for result in parser.finish() { _ = try result.get() }
        let seconds = Usage.now.cpuSeconds - start.cpuSeconds
        print(
            "\(bytes >> 20) MiB, \(values) elements: peak \(Usage.peakKilobytes / 1024) MB of memory (\(before / 1024) at the",
            "start), \(String(format: "%.1f", Double(bytes) / 1e6 / seconds)) MB/s, making the text included")
    }
}
