import AfarCore
import AfarJSON
import AfarSerializers
import AfarXML
import Foundation

extension Contest {
    static func json() throws -> [Contest] {
        let catalog = try XMLDecoder().decode(Catalog.self, from: Data(Catalog.xml(bytes: 2_600_000).utf8))
        let data = try JSONEncoder().encode(catalog)
        let lines = try catalog.item.map { try JSONEncoder().encode($0) + Data("\n".utf8) }.reduce(into: Data(), +=)
        let input = SerializationInput(request: nil, head: nil, data: data, error: nil)
        let serializer = DecodableResponseSerializer<Catalog>()
        let plain = JSONResponseSerializer()
        let sizes = [("1 kB", 3, 10_000), ("100 kB", 300, 100), ("10 MB", 30_000, 1)]
        return try sizes.map { try structures($0, of: catalog, items: $1, times: $2) } + [
            Contest(
                title: "JSON: decode into structures, serializers", bytes: data.count,
                entries: [
                    Entry(name: "JSONDecoder alone") { _ = try JSONDecoder().decode(Catalog.self, from: data) },
                    Entry(name: "serializer") { _ = try serializer.serialize(input) },
                    Entry(name: "lines of a stream") {
                        var parser = JSONLinesParser<Catalog.Item>()
                        var rest = lines
                        while !rest.isEmpty {
                            for result in parser.parse(rest.prefix(65_536)) { _ = try result.get() }
                            rest = rest.dropFirst(65_536)
                        }
                    },
                ]),
            Contest(
                title: "JSON: into dictionaries and arrays", bytes: data.count,
                entries: [
                    Entry(name: "JSONSerialization alone") { _ = try JSONSerialization.jsonObject(with: data) },
                    Entry(name: "serializer") { _ = try plain.serialize(input) },
                ]),
        ]
    }

    /// Decodes a document repeatedly, so that small documents take a measurable time.
    private static func structures(
        _ size: String, of catalog: Catalog, items: Int, times: Int
    ) throws -> Contest {
        let repeated = (0..<items).map { catalog.item[$0 % catalog.item.count] }
        let data = try JSONEncoder().encode(Catalog(item: repeated))
        let python = try CPython(decoding: data, times: times)
        return Contest(
            title: "JSON: decode into structures, \(size)", bytes: data.count * times,
            entries: [
                Entry(name: "JSONDecoder") {
                    for _ in 0..<times { _ = try JSONDecoder().decode(Catalog.self, from: data) }
                },
                Entry(name: "FastJSONDecoder") {
                    for _ in 0..<times { _ = try FastJSONDecoder().decode(Catalog.self, from: data) }
                },
                .measured("CPython's json, into dictionaries", by: python.seconds),
            ])
    }
}
