/// A product catalog with nested structures, attributes, numbers, lists and text, as web services return it.
struct Catalog: Codable {
    let item: [Item]

    struct Item: Codable, Sendable {
        let id: Int
        let title: String
        let price: Price
        let count: Int
        let isAvailable: Bool
        let tag: [String]
        let description: String
        let weight: Double?
    }

    struct Price: Codable, Sendable {
        let currency: String
        let amount: Double
    }

    /// Returns XML of approximately the given size.
    static func xml(bytes: Int) -> String {
        var text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<catalog>\n"
        text.reserveCapacity(bytes + 1_000)
        var id = 0
        while text.utf8.count < bytes {
            text += item(id)
            id += 1
        }
        return text + "</catalog>\n"
    }

    static func item(_ id: Int) -> String {
        """
          <item id="\(id)">
            <title>Thing number \(id) &amp; its cover</title>
            <price currency="EUR"><amount>\(id % 100).\(id % 90 + 10)</amount></price>
            <count>\(id % 17)</count>
            <isAvailable>\(id % 3 == 0)</isAvailable>
            <tag>small</tag><tag>größer</tag><tag>t\(id % 50)</tag>
            <description>Made of wood and of wire, for those who know what they want and for those who don't.</description>\
        \(id % 2 == 0 ? "\n    <weight>\(Double(id % 40) / 4)</weight>" : "")
          </item>

        """
    }
}
