import AfarTransport
import Foundation
import Testing

@testable import AfarHTTP

@Suite struct ConnectionAttemptTests {
    private func addresses(_ texts: String...) throws -> [SocketAddress] {
        try texts.flatMap { try SocketAddress.lookUp($0, isAddress: true) }
    }

    @Test func familiesAlternate() throws {
        let mixed = try addresses("::1", "::2", "::3", "127.0.0.1")
        #expect(
            ConnectionAttempt.alternating(mixed).map { $0.numbers?.address } == ["::1", "127.0.0.1", "::2", "::3"])
        let old = try addresses("127.0.0.1", "127.0.0.2", "::1")
        #expect(
            ConnectionAttempt.alternating(old).map { $0.numbers?.address } == ["127.0.0.1", "::1", "127.0.0.2"])
        #expect(ConnectionAttempt.alternating([]).isEmpty)
    }
}
