import AfarCore
import AfarTestServer
import Foundation
import Testing

@testable import AfarCurl

extension TransportTests {
    @Suite struct LookupTests {
        /// A name's look-up ends in the same call of libcurl's that opens the connection and sends the request, and the
        /// connection's socket takes the number that the look-up's socket has just given back.
        @Test func hostsWithNamesAnswer() async throws {
            try await withServer { server in
                let port = try #require(server.url.port)
                let url = try #require(URL(string: "http://localhost:\(port)/get"))
                for _ in 0..<10 {
                    let transport = makeTransport()
                    let response = try await transport.send(Exchange(url).with { $0.idleTimeout = 3 })
                    #expect(response.head.status == 200)
                }
            }
        }
    }
}
