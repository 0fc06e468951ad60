import AfarTesting
import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import AfarCore

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite struct SessionTests {
    @Test func defaultHeadersAreSentUnlessTheRequestOverridesThem() async throws {
        let transport = MockTransport { _ in .text("ok") }
        var configuration = SessionConfiguration()
        configuration.headers = ["X-Default": "session", "User-Agent": "Tester/1"]
        let session = Session(configuration: configuration, transport: transport)
        _ = await session.request("http://mock/", headers: ["user-agent": "Own/2"])
            .serializingResponse(using: Bytes()).response
        let fields = try #require(transport.requests.first?.fields)
        #expect(fields[values: .userAgent] == ["Own/2"])
        #expect(fields[try #require(HTTPField.Name("X-Default"))] == "session")
    }

    @Test func acceptEncodingListsTheTransportsCodings() throws {
        var capabilities = TransportCapabilities.mock
        capabilities.contentCodings = ["br", "gzip"]
        let transport = MockTransport(capabilities: capabilities) { _ in .text("ok") }
        let options = try SessionConfiguration().exchangeOptions(for: transport)
        #expect(options.defaultFields.fields[.acceptEncoding] == "br, gzip")
    }

    @Test func aGETWithABodyFailsBeforeAnythingIsSent() async {
        let transport = MockTransport { _ in .text("ok") }
        let session = Session(transport: transport)
        let response = await session.request("http://mock/", parameters: ["a": 1], encoding: JSONEncoding.default)
            .serializingResponse(using: Bytes()).response
        guard case .urlRequestValidationFailed(.bodyDataInGETRequest) = response.error else {
            Issue.record("not the body's error: \(String(describing: response.error))")
            return
        }
        #expect(transport.requests.isEmpty)
    }

    @Test(arguments: ["a\r\nX-Injected: 1", "a\nb", "a\u{0}b", "a\rb"])
    func aHeaderValueWithALineBreakIsRejected(value: String) async {
        let transport = MockTransport { _ in .text("ok") }
        let session = Session(transport: transport)
        let response = await session.request("http://mock/", headers: ["X-Own": value])
            .serializingResponse(using: Bytes()).response
        guard case .invalidHeaderValue(let name)? = response.error?.invalidRequest else {
            Issue.record("not the header's error: \(String(describing: response.error))")
            return
        }
        #expect(name == "X-Own")
        #expect(transport.requests.isEmpty)
    }

    @Test(arguments: [
        HTTPHeader(name: "X-Session", value: "a\r\nX-Injected: 1"), HTTPHeader(name: "X Session", value: "1"),
    ])
    func aDefaultHeaderThatCannotBeSentFailsTheRequests(header: HTTPHeader) async {
        let transport = MockTransport { _ in .text("ok") }
        var configuration = SessionConfiguration()
        configuration.headers.add(header)
        let session = Session(configuration: configuration, transport: transport)
        let response = await session.request("http://mock/").serializingResponse(using: Bytes()).response
        #expect(response.error?.invalidRequest != nil, "\(response)")
        #expect(transport.requests.isEmpty)
    }

    @Test(arguments: ["", "A B", "X:", "Ä", "a\r\n"])
    func anInvalidHeaderNameIsRejected(name: String) async {
        let session = Session(transport: MockTransport { _ in .text("ok") })
        let response = await session.request("http://mock/", headers: HTTPHeaders([.init(name: name, value: "1")]))
            .serializingResponse(using: Bytes()).response
        guard case .invalidHeaderName? = response.error?.invalidRequest else {
            Issue.record("not the name's error: \(String(describing: response.error))")
            return
        }
    }

    @Test(arguments: ["", "GET /x", "A\r\nB", "é"])
    func anInvalidMethodIsRejected(method: String) async {
        let session = Session(transport: MockTransport { _ in .text("ok") })
        let response = await session.request("http://mock/", method: HTTPMethod(rawValue: method))
            .serializingResponse(using: Bytes()).response
        guard case .invalidMethod? = response.error?.invalidRequest else {
            Issue.record("not the method's error: \(String(describing: response.error))")
            return
        }
    }

    @Test(arguments: ["4", "+5", "05", "5, 5", "five", ""])
    func aContradictoryContentLengthIsRejected(length: String) async throws {
        let session = Session(transport: MockTransport { _ in .text("ok") })
        var urlRequest = URLRequest(url: try #require(URL(string: "http://mock/")))
        urlRequest.httpMethod = "POST"
        urlRequest.httpBody = Data("12345".utf8)
        urlRequest.setValue(length, forHTTPHeaderField: "Content-Length")
        let response = await session.request(urlRequest).serializingResponse(using: Bytes()).response
        guard case .conflictingContentLength? = response.error?.invalidRequest else {
            Issue.record("not the length's error: \(String(describing: response.error))")
            return
        }
    }

    @Test func userinfoInTheURLIsMovedToAHeader() async throws {
        let transport = MockTransport { _ in .text("ok") }
        let session = Session(transport: transport)
        _ = await session.request("http://ada:secret@mock/x").serializingResponse(using: Bytes()).response
        let request = try #require(transport.requests.first)
        #expect(request.url == "http://mock/x")
        #expect(request.fields[.authorization] == "Basic YWRhOnNlY3JldA==")
    }

    @Test func unsupportedFeaturesAreRejectedBeforeSending() async throws {
        var configuration = SessionConfiguration()
        configuration.tlsMinimumSupportedProtocolVersion = .v13
        let transport = MockTransport(capabilities: TransportCapabilities(name: "small", features: [])) { _ in
            .text("ok")
        }
        let session = Session(configuration: configuration, transport: transport)
        let response = await session.request("https://mock/").serializingResponse(using: Bytes()).response
        let cause = try #require((response.error?.underlyingError as? URLError)?.userInfo[NSUnderlyingErrorKey])
        #expect((cause as? TransportError)?.code == .unsupportedByTransport)
        #expect(transport.requests.isEmpty)
    }

    @Test func aBackgroundSessionIsRejectedBeforeSending() async throws {
        var configuration = SessionConfiguration()
        configuration.identifier = "org.example.background"
        let transport = MockTransport { _ in .text("ok") }
        let session = Session(configuration: configuration, transport: transport)
        let response = await session.request("https://mock/").serializingResponse(using: Bytes()).response
        let cause = try #require((response.error?.underlyingError as? URLError)?.userInfo[NSUnderlyingErrorKey])
        #expect((cause as? TransportError)?.code == .unsupportedByTransport)
        #expect((cause as? TransportError)?.description.contains("org.example.background") == true)
        #expect(transport.requests.isEmpty)
    }

    /// A request that should use a proxy must not bypass it.
    @Test func transportsWithoutProxySupportRejectProxies() async throws {
        let foundation = URLSessionConfiguration.ephemeral
        foundation.connectionProxyDictionary = ["HTTPEnable": 1, "HTTPProxy": "proxy", "HTTPPort": 3128]
        let features = TransportCapabilities.mock.features.subtracting([.proxies, .networkSettings])
        let transport = MockTransport(capabilities: TransportCapabilities(name: "direct", features: features)) { _ in
            .text("ok")
        }
        let session = Session(configuration: SessionConfiguration(foundation), transport: transport)
        let error = await session.request("http://mock/").serializingResponse(using: Bytes()).response.error
        let cause = try #require((error?.underlyingError as? URLError)?.userInfo[NSUnderlyingErrorKey])
        #expect((cause as? TransportError)?.code == .unsupportedByTransport)
        #expect(error?.localizedDescription.contains("URLSessionTransport(configuration:)") == true)
        #expect(transport.requests.isEmpty)
        foundation.connectionProxyDictionary = [:]
        let other = Session(configuration: SessionConfiguration(foundation), transport: transport)
        #expect(await other.request("http://mock/").serializingResponse(using: Bytes()).response.error == nil)
    }

    @Test func aCopiedConfigurationKeepsTheProxies() async {
        let foundation = URLSessionConfiguration.ephemeral
        foundation.connectionProxyDictionary = ["HTTPEnable": 1, "HTTPProxy": "proxy", "HTTPPort": 3128]
        let copy = SessionConfiguration(foundation).urlSessionConfiguration
        #expect(copy.connectionProxyDictionary?["HTTPProxy"] as? String == "proxy")
        let features = TransportCapabilities.mock.features.subtracting([.proxies, .networkSettings])
        let transport = MockTransport(capabilities: TransportCapabilities(name: "direct", features: features)) { _ in
            .text("ok")
        }
        let session = Session(configuration: SessionConfiguration(copy), transport: transport)
        #expect(await session.request("http://mock/").serializingResponse(using: Bytes()).response.error != nil)
        #expect(transport.requests.isEmpty)
    }

    @Test func afterFinishRequestsAndInvalidateNewRequestsFailAtOnce() async {
        let session = Session(transport: MockTransport { _ in .text("ok") })
        session.finishRequestsAndInvalidate()
        let error = await session.request("http://mock/").serializingResponse(using: Bytes()).response.error
        #expect(error?.isSessionInvalidatedError == true)
    }

    @Test func transportsWithoutProtocolClassesRejectThem() async throws {
        final class Stub: URLProtocol {}
        let foundation = URLSessionConfiguration.ephemeral
        foundation.protocolClasses = [Stub.self]
        let transport = MockTransport { _ in .text("ok") }
        let session = Session(configuration: SessionConfiguration(foundation), transport: transport)
        let response = await session.request("https://mock/").serializingResponse(using: Bytes()).response
        let cause = try #require((response.error?.underlyingError as? URLError)?.userInfo[NSUnderlyingErrorKey])
        #expect((cause as? TransportError)?.code == .unsupportedByTransport)
        #expect((cause as? TransportError)?.url == "https://mock/")
        #expect(transport.requests.isEmpty)
    }

    @Test func foundationsClassesAndIdentifierAreConverted() throws {
        final class Stub: URLProtocol {}
        let foundation = URLSessionConfiguration.default
        #expect(SessionConfiguration(foundation).identifier == nil)
        #expect(SessionConfiguration(foundation).foreignProtocolClasses == nil)
        foundation.protocolClasses = []
        #expect(SessionConfiguration(foundation).foreignProtocolClasses == nil)
        foundation.protocolClasses = (URLSessionConfiguration.default.protocolClasses ?? []) + [Stub.self]
        let classes = try #require(SessionConfiguration(foundation).foreignProtocolClasses)
        #expect(classes.map(ObjectIdentifier.init) == foundation.protocolClasses?.map(ObjectIdentifier.init))
        #if canImport(Darwin)
            #expect(SessionConfiguration(URLSessionConfiguration.background(withIdentifier: "x")).identifier == "x")
        #endif
    }

    @Test func theRequestsTimeoutIsTheIdleTimeout() async throws {
        let transport = MockTransport { _ in .text("ok") }
        let session = Session(transport: transport)
        // A timeout of 0 means the default timeout.
        for timeout in [3, 0, 60] as [TimeInterval] {
            let request = session.request("http://mock/") { $0.timeoutInterval = timeout }
            _ = await request.serializingResponse(using: Bytes()).response
        }
        #expect(transport.requests.map(\.exchange.options.idleTimeout) == [3, 60, 60])
    }

    @Test func anEagerSessionMakesTheURLRequestBeforeTheRequestIsResumed() async {
        struct Counting: URLRequestConvertible {
            let made: Deferred<Void>
            func asURLRequest() throws -> URLRequest {
                made.fulfill(())
                return try URLRequest(url: "http://mock/", method: .get)
            }
        }
        let transport = MockTransport { _ in .text("ok") }
        let session = Session(
            startRequestsImmediately: false, requestSetup: .eager, transport: transport)
        let made = Deferred<Void>()
        let request = session.request(Counting(made: made))
        await made.value
        #expect(request.isInitialized)
        #expect(transport.requests.isEmpty)
        request.cancel()
    }

    @Test func settingsOfAnEagerRequestApplyBeforeItIsResumed() async {
        let transport = MockTransport { request in
            request.path == "/here" ? .redirect(302, to: "/there") : .text("arrived")
        }
        let session = Session(startRequestsImmediately: false, requestSetup: .eager, transport: transport)
        let request = session.request("http://mock/here")
        try? await waitWhile { request.performedRequests.isEmpty }
        let progress = request.redirect(using: .doNotFollow).downloadProgress
        let response = await request.resume().serializingResponse(using: Bytes()).response
        #expect(response.response?.statusCode == 302)
        #expect(progress.completedUnitCount == Int64(response.data?.count ?? 0))
        #expect(progress.completedUnitCount > 0)
        #expect(transport.requests.count == 1)
    }
}
