import AfarCore
import AfarTestServer
import Foundation
import Testing

@testable import AfarCurl

extension TransportTests {
    @Suite struct LookupTests {
        /// One call to libcurl can complete a lookup, open the connection and send the request. The connection's socket
        /// then has the same number as the lookup's socket, which was just closed.
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
