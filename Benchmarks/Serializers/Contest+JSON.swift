import AfarCore
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
        return [
            Contest(
                title: "JSON: decode into structures", bytes: data.count,
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
}
