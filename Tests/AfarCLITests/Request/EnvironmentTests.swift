import AfarTestServer
import Foundation
import Testing

/// The effects of environment variables on requests, with each transport.
struct EnvironmentTests {
    @Test(arguments: ["afar", "urlsession"])
    func proxiesAreUsed(transport: String) async throws {
        let proxy = try await RawServer.start([.respond("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nproxy")])
        let environment = ["http_proxy": proxy.url.absoluteString, "no_proxy": ""]
        let through = try await Tool.run(
            "get", "http://example.invalid/x", "--transport", transport, environment: environment)
        #expect(through.text == "proxy")
        #expect(proxy.requests.first?.hasPrefix("GET http://example.invalid/x HTTP/1.1\r\n") == true)
    }

    /// The server's certificate doesn't need to be trusted, because TLS derives the keys before it verifies the
    /// certificate.
    @Test(arguments: ["afar", "urlsession"])
    func tlsKeysAreLoggedOnRequest(transport: String) async throws {
        let directory = try ScratchDirectory()
        let script = """
            openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout key.pem -out cert.pem \\
                -subj /CN=server -days 2 2> openssl.txt || exit 99
            exec 3< <(exec openssl s_server -accept 127.0.0.1:0 -cert cert.pem -key key.pem -www 2>> openssl.txt)
            server=$!
            while read -r -u 3 word address; do [ "$word" = ACCEPT ] && break; done
            unset SSLKEYLOGFILE
            "$afar" get "https://$address/" --transport \(transport)
            [ -e keys ] && exit 98
            SSLKEYLOGFILE=keys "$afar" get "https://$address/" --transport \(transport)
            kill -KILL $server
            """
        let outcome = try await Tool.bash(script, directory: directory.url)
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(outcome.errors.contains("certificate"))
        let keys = String(decoding: try directory.contents(of: "keys"), as: UTF8.self)
        #expect(keys.contains("SERVER_HANDSHAKE_TRAFFIC_SECRET "))
    }
}
