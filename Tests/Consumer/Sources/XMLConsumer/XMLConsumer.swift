import AfarCore
import AfarXML
import Foundation

/// A transport that returns the same document for every request. AfarXML works with any transport.
struct Library: Transport {
    let capabilities = TransportCapabilities(name: "library", features: [])

    func send(_ exchange: Exchange) async throws -> TransportResponse {
        try capabilities.check(exchange)
        let head = ResponseHead(status: 200, url: exchange.url)
        return TransportResponse(head: head, body: .data(Data("<library><book id='7'>Emma</book></library>".utf8)))
    }
}

@main
struct XMLConsumer {
    static func main() async throws {
        let session = Session(transport: Library())
        let document = try await session.request("http://library/").serializing(.xml).value
        print(try document.xpath("concat(//book/@id, ': ', //book)").string)
    }
}
