import AfarTransport
import Foundation
import Testing

@Suite struct SocketAddressTests {
    @Test(arguments: [
        ("127.0.0.1", "127.0.0.1:80"), ("2130706433", "127.0.0.1:80"), ("0x7f.1", "127.0.0.1:80"), ("::1", "[::1]:80"),
        ("::FFFF:127.0.0.1", "[::ffff:127.0.0.1]:80"), ("0:0::2", "[::2]:80"),
    ])
    func numericFormsAreAddresses(text: String, description: String) {
        #expect(SocketAddress(text, port: 80)?.description == description)
    }

    @Test(arguments: ["", "localhost", "a.example", "[::1]", "127.0.0.1:80", "256.0.0.1", "1.2.3.4\u{0}", "::1%none0"])
    func otherTextsAreNot(text: String) { #expect(SocketAddress(text) == nil) }

    @Test func partsAreReadable() throws {
        let address = try #require(SocketAddress("10.1.2.3", port: 65_537))
        #expect(address.bytes == [10, 1, 2, 3] && address.port == 1)
        #expect(try #require(SocketAddress("::1")).bytes == Array(repeating: 0, count: 15) + [1])
        let unix = try #require(SocketAddress(unixSocket: "/run/x"))
        #expect(unix.bytes == nil && unix.port == 0 && unix.description == "/run/x")
    }

    @Test func equalAddressesHaveEqualBytes() throws {
        #expect(SocketAddress("127.1", port: 1) == SocketAddress("127.0.0.1", port: 1))
        #expect(SocketAddress("127.1", port: 1) != SocketAddress("127.1", port: 2))
        #expect(SocketAddress("::ffff:127.0.0.1") != SocketAddress("127.0.0.1"))
        #expect(SocketAddress("fe80::1%lo") != SocketAddress("fe80::1"))
        #expect(SocketAddress(unixSocket: "/a") == SocketAddress(unixSocket: "/a"))
        #expect(SocketAddress(unixSocket: "/a") != SocketAddress(unixSocket: "/b"))
        #expect(Set(["127.1", "127.0.0.1", "::1"].map { SocketAddress($0) }).count == 2)
    }
}
