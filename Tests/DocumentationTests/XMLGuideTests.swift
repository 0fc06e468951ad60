import Afar
import AfarXML
import Testing

/// Runs the samples in the XML guide and checks their output.
@Suite(.timeLimit(.minutes(1))) struct XMLGuideTests {
    private let shop = Data(SampleServer.shop.utf8)

    @Test func documentsAreTraversedAndSearched() async throws {
        try await XMLSamples.document()
        #expect(await Output.has("1 Tea"))
        #expect(await Output.has("2 Teapot"))
        XMLSamples.handler()
        #expect(await Output.has("A shop of EUR"))
        try XMLSamples.xpath(XML.Document(shop))
        #expect(await Output.has(#"["Teapot"] of 24.5"#))
        let feed = "<feed xmlns='http://www.w3.org/2005/Atom'><entry><title>One</title></entry></feed>"
        #expect(try XMLSamples.namespaces(Data(feed.utf8)) == ["One"])
    }

    @Test func valuesAreDecodedAndEncoded() async throws {
        try await XMLSamples.decoded()
        #expect(await Output.has("Tea: 4.5 EUR"))
        #expect(await Output.has("Teapot: 20 CHF"))
        let chapter = try XMLSamples.choice(
            Data("<chapter><title>I</title><p>One</p><image src='i.png'/><p>Two</p></chapter>".utf8))
        #expect(chapter.blocks.count == 3)
        guard case .image(let image) = chapter.blocks[1] else { throw NotANote() }
        #expect(image.src == "i.png")
        let article = try #require(try XMLDecoder().decode(Shop.self, from: shop).item.first)
        let sent = try await XMLSamples.uploaded(article)
        #expect(sent.hasPrefix("application/xml: <?xml"))
        #expect(
            sent.contains(#"<item id="1"><title>Tea</title><price>4.5</price><tag>green</tag><tag>fresh</tag></item>"#))
    }

    @Test func streamsDeliverTheirElements() async throws {
        await XMLSamples.streamed()
        #expect(await Output.has("Streamed Teapot"))
        #expect(await Output.has("The shop has closed"))
        let file = FileManager.default.temporaryDirectory.appending(path: "shop-\(UUID().uuidString).xml")
        try shop.write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        #expect(try await XMLSamples.fileStreamed(file) == ["Tea", "Teapot"])
    }

    @Test func pagesAndOldDocumentsAreRead() async throws {
        #expect(try await XMLSamples.links() == ["/one", "/two"])
        #expect(try await XMLSamples.options().root.text == "plain")
    }

    @Test func errorsNameTheLocation() async {
        XMLSamples.failure(Data("<shop>\n  <item></itm>\n</shop>".utf8))
        #expect(
            await Output.has("malformed at 2:15 in /shop/item: Opening and ending tag mismatch: item line 2 and itm"))
    }
}
