import Afar
import Testing

/// Members that other libraries add to `af`.
@Suite struct ExtensionPointTests {
    @Test func foreignTypesCanHaveMembers() {
        #expect(Shelf(books: ["a", "b"]).af.count == 2)
        #expect(Shelf.af.empty.books.isEmpty)
        #expect(Drawer().af.label == "drawer")
        #expect(BigDrawer().af.label == "big drawer")
        #expect("https://example.com/a?b".af.isSecure)
        #expect(AlamofireExtension(Shelf(books: [])).type.books.isEmpty)
    }

    @Test func membersCanMutateTheirBase() {
        let drawer = Drawer()
        drawer.af.content = "socks"
        #expect(drawer.content == "socks")
        var shelf = Shelf(books: [])
        shelf.af.note = "dusty"
        #expect(Shelf.notes == ["dusty"])
    }

    @Test func configurationsHaveTheDefaultHeaders() {
        #expect(URLSessionConfiguration.af.default.headers["User-Agent"] == HTTPHeader.defaultUserAgent.value)
        let configuration: URLSessionConfiguration = .af.ephemeral
        #expect(configuration.headers.value(for: "Accept-Encoding") == HTTPHeader.defaultAcceptEncoding.value)
        #expect(URLSessionConfiguration.default.af.isDefault)
    }
}

private struct Shelf {
    nonisolated(unsafe) static var notes: [String] = []
    var books: [String]
}

extension Shelf: AlamofireExtended {}

extension AlamofireExtension where ExtendedType == Shelf {
    fileprivate var count: Int { type.books.count }

    fileprivate static var empty: Shelf { Shelf(books: []) }

    fileprivate var note: String {
        get { Shelf.notes.last ?? "" }
        set { Shelf.notes.append(newValue) }
    }
}

private class Drawer: AlamofireExtended {
    var content = ""
    var name: String { "drawer" }
}

private final class BigDrawer: Drawer {
    override var name: String { "big drawer" }
}

extension AlamofireExtension where ExtendedType: Drawer {
    fileprivate var label: String { type.name }

    fileprivate var content: String {
        get { type.content }
        nonmutating set { type.content = newValue }
    }
}

extension String: @retroactive AlamofireExtended {}

extension AlamofireExtension where ExtendedType == String {
    fileprivate var isSecure: Bool { type.hasPrefix("https://") }
}

extension AlamofireExtension where ExtendedType: URLSessionConfiguration {
    fileprivate var isDefault: Bool { type.identifier == nil }
}
