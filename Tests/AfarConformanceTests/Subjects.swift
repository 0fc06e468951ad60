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
    /// The transports to test.
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
        "Foundation stores header fields in a dictionary, which joins fields of the same name and loses the order"

    static let urlSession = ConformanceSubject(
        "URLSession",
        exclusions: [
            "header fields arrive in order, also with repeated names": joinsFields,
            "repeated fields stay separate and in order": joinsFields,
            "fields keep the server's order and spelling": joinsFields,
            "no field that identifies the client is added":
                "Foundation adds a User-Agent to requests without one",
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
