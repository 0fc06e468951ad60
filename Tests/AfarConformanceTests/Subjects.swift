import AfarConformance
import AfarTesting
import AfarTransport
import AfarURLSession
import HTTPTypes

#if os(Linux)
    import AfarCurl
    import AfarHTTP
#endif

extension ConformanceSubject {
    /// The transports of this package.
    static let all: [ConformanceSubject] = {
        #if os(Linux)
            [curl, http, urlSession, mock]
        #else
            [urlSession, mock]
        #endif
    }()

    #if os(Linux)
        static let curl = ConformanceSubject("curl") { CurlTransport() }
        static let http = ConformanceSubject("http") { HTTPTransport() }
    #endif

    private static let joinsFields =
        "Foundation keeps fields in a dictionary: those of one name are joined, their order is lost"

    static let urlSession = ConformanceSubject(
        "URLSession",
        exclusions: [
            "header fields arrive in order, with those of one name": joinsFields,
            "fields of one name are kept apart and in order": joinsFields,
            "fields come in the server's order and spelling": joinsFields,
            "nothing is added that names the client":
                "Foundation adds a User-Agent of its own to a request without one",
        ]
    ) { URLSessionTransport() }

    static let mock = ConformanceSubject("mock", hasSockets: false) {
        MockTransport { request in
            let answer = ConformanceServer.response(
                to: .init(
                    method: request.method.rawValue, target: request.exchange.request.path ?? "/",
                    fields: request.fields, body: request.body))
            var response = MockResponse(status: answer.status, fields: answer.fields, body: answer.body)
            response.delay = answer.delay
            if answer.pieces > 1 {
                response = response.chunked(into: max(1, answer.body.count / answer.pieces), every: answer.pause)
            }
            return response
        }
    }
}
