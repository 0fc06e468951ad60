import AfarTransport
import HTTPTypes
import Testing

@testable import AfarCurl

struct HTTPVersionTests {
    private let request = HTTPRequest(method: .get, scheme: "https", authority: "host", path: "/")

    private func version(
        _ wanted: ExchangeOptions.HTTPVersion, authentication: ConnectionAuthentication? = nil, isSecure: Bool = true,
        delivery: ResponseDelivery = .collect(), _ change: (inout CurlLibrary) -> Void = { _ in }
    ) -> HTTPVersion {
        var exchange = Exchange(request: request, delivery: delivery)
        exchange.options.httpVersion = wanted
        exchange.options.connectionAuthentication = authentication
        var library = CurlLibrary.shared
        (library.supportsHTTP2, library.pausesStreams, library.sendsBodiesOverHTTP2) = (true, true, true)
        change(&library)
        return HTTPVersion(Hop(exchange), isSecure: isSecure, library: library)
    }

    @Test(arguments: [ExchangeOptions.HTTPVersion.automatic, .http2]) func secureRequestsNegotiate(
        wanted: ExchangeOptions.HTTPVersion
    ) {
        #expect(version(wanted) == .negotiated)
        #expect(version(wanted, isSecure: false) == .http1)
        #expect(version(wanted, delivery: .stream()) == .negotiated)
    }

    /// Negotiate and NTLM authenticate the connection. With HTTP/2, requests of other users could share it.
    @Test(arguments: [ExchangeOptions.HTTPVersion.automatic, .http2]) func anAuthenticatedConnectionIsNotShared(
        wanted: ExchangeOptions.HTTPVersion
    ) {
        for scheme in [ConnectionAuthentication.Scheme.negotiate, .ntlm] {
            let authentication = ConnectionAuthentication(
                scheme, user: "", password: "", origin: Origin(request))
            #expect(version(wanted, authentication: authentication) == .http1)
        }
    }

    @Test func aLibraryWhoseStreamsBlockEachOther() {
        #expect(version(.automatic) { $0.pausesStreams = false } == .http1)
        #expect(version(.http2) { $0.pausesStreams = false } == .negotiated)
        #expect(version(.http2, delivery: .stream()) { $0.pausesStreams = false } == .http1)
    }
}
