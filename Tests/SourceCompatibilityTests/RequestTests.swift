import Afar
import AfarTestServer
import Testing

/// Requests in all common forms.
@Suite struct RequestTests {
    enum Router: URLRequestConvertible {
        case list(page: Int, server: URL)
        case create(Account, server: URL)
        case remove(id: Int, server: URL)

        var method: HTTPMethod {
            switch self {
            case .list: .get
            case .create: .post
            case .remove: .delete
            }
        }

        func asURLRequest() throws -> URLRequest {
            switch self {
            case let .list(page, server):
                let request = try URLRequest(url: server.appendingPathComponent("get"), method: method)
                return try URLEncoding.default.encode(request, with: ["page": page])
            case let .create(account, server):
                var request = URLRequest(url: server.appendingPathComponent("post"))
                request.method = method
                request.headers.add(.accept("application/json"))
                return try JSONParameterEncoder.default.encode(account, into: request)
            case let .remove(id, server):
                var request = URLRequest(url: server.appendingPathComponent("delete"))
                request.httpMethod = method.rawValue
                request.headers = ["X-Identifier": "\(id)", "Accept": "application/json"]
                return try URLEncoding(destination: .queryString, arrayEncoding: .noBrackets, boolEncoding: .literal)
                    .encode(request, with: ["id": id, "tags": ["a", "b"], "force": true])
            }
        }
    }

    @Test func aRouterMakesItsRequests() async throws {
        let server = try await TestServer.start()
        let list = try await AF.request(Router.list(page: 2, server: server.url)).serializingDecodable(Echo.self).value
        #expect(list.query == "page=2")
        let create = try await AF.request(Router.create(Account(name: "Ada", age: 36), server: server.url))
            .validate().serializingDecodable(Echo.self).value
        #expect(create.method == "POST")
        #expect(create.headers["content-type"] == "application/json")
        let remove = try await AF.request(Router.remove(id: 7, server: server.url))
            .serializingDecodable(Echo.self).value
        #expect(remove.query == "force=true&id=7&tags=a&tags=b")
        #expect(remove.headers["x-identifier"] == "7")
        #expect(Router.list(page: 1, server: server.url).urlRequest?.url?.query == "page=1")
        await server.stop()
    }

    @Test func allFormsOfRequest() async throws {
        let server = try await TestServer.start()
        let get = server.url("/get")
        let post = server.url("/post")
        let headers: HTTPHeaders = ["X-Own": "1", "Accept": "application/json"]
        let list: HTTPHeaders = [.authorization(bearerToken: "token"), .accept("application/json")]
        let parameters: Parameters = ["name": "Ada", "numbers": [1, 2], "nested": ["key": true]]
        let account = Account(name: "Ada", age: 36)
        let requests = [
            AF.request(get),
            AF.request("\(get)"),
            AF.request(get, method: .get),
            AF.request(get, headers: headers),
            AF.request(get, parameters: ["q": "x"]),
            AF.request(get, parameters: parameters, headers: list),
            AF.request(get, method: .get, parameters: parameters, encoding: URLEncoding.queryString),
            AF.request(
                get, method: .get, parameters: parameters, encoding: URLEncoding(arrayEncoding: .indexInBrackets)),
            AF.request(get, parameters: account),
            AF.request(get, parameters: account, encoder: .urlEncodedForm),
            AF.request(get, parameters: account, encoder: URLEncodedFormParameterEncoder(destination: .queryString)),
            AF.request(
                get, parameters: account,
                encoder: URLEncodedFormParameterEncoder(
                    encoder: URLEncodedFormEncoder(arrayEncoding: .brackets, keyEncoding: .convertToSnakeCase),
                    destination: .methodDependent)),
            AF.request(post, method: .post),
            AF.request(post, method: .post, parameters: parameters),
            AF.request(post, method: .post, parameters: parameters, encoding: JSONEncoding.default, headers: headers),
            AF.request(post, method: .post, parameters: parameters, encoding: JSONEncoding(options: .sortedKeys)),
            AF.request(post, method: .post, parameters: parameters, encoding: URLEncoding.httpBody),
            AF.request(post, method: .post, parameters: account, encoder: JSONParameterEncoder.default),
            AF.request(post, method: .post, parameters: account, encoder: .json),
            AF.request(post, method: .post, parameters: account, encoder: .json(encoder: JSONEncoder())),
            AF.request(post, method: .post, parameters: account, encoder: JSONParameterEncoder.prettyPrinted),
            AF.request(post, method: .post, parameters: account, encoder: JSONParameterEncoder(encoder: JSONEncoder())),
            AF.request(post, method: .post, parameters: [account], encoder: JSONParameterEncoder.sortedKeys),
            AF.request(get, interceptor: TokenInterceptor()),
            AF.request(get, shouldAutomaticallyResume: true),
            AF.request(get) { $0.timeoutInterval = 5 },
            AF.request(get, requestModifier: { $0.headers.update(.userAgent("Own/1")) }),
            AF.request(URLRequest(url: get)),
            AF.request(try URLRequest(url: get, method: .get, headers: headers), interceptor: TokenInterceptor()),
            AF.request(URLComponents(url: get, resolvingAgainstBaseURL: false) ?? URLComponents()),
            Session.default.request(get),
        ]
        for request in requests {
            let response = await request.validate(statusCode: 200..<300).serializingData().response
            #expect(response.error == nil, "\(request)")
        }
        await server.stop()
    }

    @Test func aRequestIsStartedSuspendedAndCancelled() async throws {
        let server = try await TestServer.start()
        let session = Session(startRequestsImmediately: false)
        let request = session.request(server.url("/get"))
        #expect(request.state == .initialized && request.isInitialized)
        request.suspend().resume().cancel().suspend().resume()
        #expect(request.isCancelled)
        let response: AFDataResponse<Data?> = await withCheckedContinuation { continuation in
            request.response(queue: .global()) { continuation.resume(returning: $0) }
        }
        switch request.state {
        case .initialized, .resumed, .suspended, .finished: Issue.record("not cancelled: \(request.state)")
        case .cancelled: break
        }
        #expect(response.error?.isExplicitlyCancelledError == true)
        let states: [Request.State] = [.initialized, .resumed, .suspended, .cancelled, .finished]
        #expect(Set(states).count == 5)
        let held = AF.request(server.url("/get"), shouldAutomaticallyResume: false)
        let task = held.serializingData()
        #expect(held.isInitialized && held.shouldAutomaticallyResume == false)
        held.resume()
        #expect(await task.response.error == nil)
        await server.stop()
    }

    @Test func sessionsWithSomeOfTheArguments() async throws {
        let server = try await TestServer.start()
        let configuration = URLSessionConfiguration.af.default
        configuration.timeoutIntervalForRequest = 30
        configuration.headers.add(name: "X-Session", value: "1")
        #expect(configuration.headers["User-Agent"] == HTTPHeader.defaultUserAgent.value)
        #expect(URLSessionConfiguration.af.ephemeral.headers["Accept-Encoding"] != nil)
        let queue = DispatchQueue(label: "queue")
        let sessions = [
            Session(),
            Session(configuration: configuration),
            Session(configuration: .default),
            Session(configuration: URLSessionConfiguration.ephemeral, startRequestsImmediately: true),
            Session(interceptor: TokenInterceptor()),
            Session(startRequestsImmediately: true, interceptor: TokenInterceptor()),
            Session(configuration: configuration, rootQueue: queue, requestSetup: .eager, requestQueue: queue),
            Session(
                configuration: configuration, delegate: SessionDelegate(), rootQueue: DispatchQueue(label: "root"),
                startRequestsImmediately: true, requestQueue: DispatchQueue(label: "request"),
                serializationQueue: DispatchQueue(label: "serialization"), interceptor: TokenInterceptor()),
        ]
        for session in sessions {
            let echo = try await session.request(server.url("/get")).serializingDecodable(Echo.self).value
            #expect(echo.method == "GET")
        }
        let echo = try await sessions[1].request(server.url("/get")).serializingDecodable(Echo.self).value
        #expect(echo.headers["x-session"] == "1")
        await server.stop()
    }
}

struct Account: Codable, Sendable, Equatable {
    let name: String
    let age: Int
}

/// The server's description of the request.
struct Echo: Decodable, Sendable {
    let method: String
    let query: String?
    let headers: [String: String]
    let data: String?
}
