import Afar
import AfarXML

struct Shop: Codable {
    @XMLAttribute var currency: String
    var item: [Article]
}

struct Article: Codable, Sendable {
    @XMLAttribute var id: Int
    var title: String
    var price: Price
    var tag: [String]
    var soldOut: Date?
}

struct Price: Codable, Sendable {
    @XMLAttribute var unit: String?
    @XMLText var amount: Decimal
}

enum Block: Codable, XMLChoice {
    case p(String)
    case image(Image)

    struct Image: Codable {
        @XMLAttribute var src: String
    }
}

struct Chapter: Codable {
    var title: String
    var blocks: [Block]
}

enum XMLSamples {
    static func document() async throws {
        let shop = try await AF.request("https://api.example.com/shop.xml").validate().serializing(.xml).value
        for item in shop.root.children(named: "item") {
            print(item["id"] ?? "-", item.first(named: "title")?.text ?? "untitled")
        }
    }

    static func handler() {
        AF.request("https://api.example.com/shop.xml").response(.xml) { response in
            switch response.result {
            case .success(let document): print("A \(document.root.name) of \(document.root["currency"] ?? "-")")
            case .failure(let error): print(error)
            }
        }
    }

    static func xpath(_ shop: XML.Document) throws {
        let dear = try shop.xpath("/shop/item[price > 10]/title").nodes.map(\.text)
        let total = try shop.xpath("sum(//price)").number
        print("\(dear) of \(total)")
    }

    static func namespaces(_ data: Data) throws -> [String] {
        let feed = try XML.Document(data)
        return try feed.xpath("//a:entry/a:title", namespaces: ["a": "http://www.w3.org/2005/Atom"]).nodes.map(\.text)
    }

    static func decoded() async throws {
        let shop = try await AF.request("https://api.example.com/shop.xml")
            .serializingDecodable(Shop.self, decoder: XMLDecoder())
            .value
        for item in shop.item { print("\(item.title): \(item.price.amount) \(item.price.unit ?? shop.currency)") }
    }

    static func choice(_ data: Data) throws -> Chapter {
        try XMLDecoder().decode(Chapter.self, from: data)
    }

    static func uploaded(_ article: Article) async throws -> String {
        let encoder = XMLParameterEncoder(encoder: XMLEncoder(rootName: "item"))
        return try await AF.request(
            "https://api.example.com/notes", method: .post, parameters: article, encoder: encoder
        ).serializingString().value
    }

    static func streamed() async {
        let request = AF.streamRequest("https://api.example.com/shop.xml").validate()
        for await stream in request.serializing(.xmlElements(matching: "/shop/item", as: Article.self)) {
            switch stream.event {
            case .stream(.success(let article)): print("Streamed \(article.title)")
            case .stream(.failure(let error)): print("Not an article: \(error)")
            case .complete(let completion): print(completion.error?.localizedDescription ?? "The shop has closed")
            }
        }
    }

    static func fileStreamed(_ file: URL) async throws -> [String] {
        var titles: [String] = []
        var parser = XML.ElementParser(matching: "item") { $0.first(named: "title")?.text ?? "" }
        let handle = try FileHandle(forReadingFrom: file)
        while let chunk = try handle.read(upToCount: 65_536), !chunk.isEmpty {
            for result in parser.parse(chunk) { titles.append(try result.get()) }
        }
        for result in parser.finish() { titles.append(try result.get()) }
        return titles
    }

    static func links() async throws -> [String] {
        let page = try await AF.request("https://api.example.com/page.html").serializing(.xml(format: .html)).value
        return try page.xpath("//a/@href").nodes.map(\.text)
    }

    static func options() async throws -> XML.Document {
        let options = XML.ParsingOptions(maximumBytes: 1 << 20, maximumDepth: 32, documentType: .ignored)
        return try await AF.request("https://api.example.com/old.xml").serializing(.xml(options: options)).value
    }

    static func failure(_ data: Data) {
        do {
            _ = try XML.Document(data)
        } catch {
            print("\(error.kind) at \(error.line ?? 0):\(error.column ?? 0) in \(error.path ?? "-"): \(error.message)")
        }
    }
}
