import Afar
import AfarAPI
import AfarTestServer
import AfarTesting
import Foundation
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Sequences of pages from servers on loopback.
@Suite(.timeLimit(.minutes(2))) struct PaginationTests {
    private struct Items: Codable, Sendable {
        var items: [Int]
        var next: String?
    }

    /// Starts a server with three pages of two numbers at `/items`, which `Link` headers connect.
    private static func server() async throws -> TestServer {
        let server = try await TestServer.start()
        server.route("/items") { request in
            let page = request.arguments.first { $0.name == "page" }.flatMap { Int($0.value) } ?? 1
            let response = try ServerResponse.json([2 * page - 1, 2 * page])
            return page < 3 ? response.adding("Link", "<?page=\(page + 1)>; rel=\"next last\"") : response
        }
        return server
    }

    private static func pages(
        _ url: URL, over session: Session = Session(), limit: Int = 1_000
    ) -> PageSequence<[Int]> {
        session.pages(url, serializing: .decodable(of: [Int].self), limit: limit)
    }

    /// Returns the values of all pages, and the error that ended the iteration.
    private static func collect<Value>(_ pages: PageSequence<Value>) async -> ([Value], (any Error)?) {
        var values: [Value] = []
        do {
            for try await page in pages { values.append(page.value) }
            return (values, nil)
        } catch {
            return (values, error)
        }
    }

    // MARK: Links

    @Test func linksLeadToAllPages() async throws {
        let server = try await Self.server()
        var numbers: [Int] = []
        for try await page in Self.pages(server.url("/items")) {
            numbers.append(page.number)
            #expect(page.value == [2 * page.number - 1, 2 * page.number])
            #expect(page.response?.statusCode == 200)
        }
        #expect(numbers == [1, 2, 3])
        #expect(server.requestCount == 3)
        await server.stop()
    }

    @Test func elementsAreThoseOfAllPages() async throws {
        let server = try await Self.server()
        let pages = Self.pages(server.url("/items"))
        var elements: [Int] = []
        for try await element in pages.elements { elements.append(element) }
        #expect(elements == [1, 2, 3, 4, 5, 6])
        elements = []
        for try await element in pages.elements({ $0.prefix(1) }) { elements.append(element) }
        #expect(elements == [1, 3, 5])
        await server.stop()
    }

    @Test func aPageIsRequestedWhenItIsNeeded() async throws {
        let server = try await Self.server()
        var iterator = Self.pages(server.url("/items")).elements.makeAsyncIterator()
        #expect(server.requestCount == 0)
        for (element, count) in [(1, 1), (2, 1), (3, 2), (4, 2), (5, 3)] {
            #expect(try await iterator.next() == element)
            #expect(server.requestCount == count)
        }
        await server.stop()
    }

    @Test func eachIterationStartsAgain() async throws {
        let server = try await Self.server()
        let pages = Self.pages(server.url("/items"))
        #expect(await Self.collect(pages).0.count == 3)
        #expect(await Self.collect(pages).0.count == 3)
        #expect(server.requestCount == 6)
        await server.stop()
    }

    @Test func linksAreRelativeToTheFinalURL() async throws {
        let server = try await TestServer.start()
        server.route("/start") { _ in ServerResponse(status: 302).adding("Location", "/v2/items/1") }
        server.route("/v2/items/{page}") { request in
            let response = try ServerResponse.json([Int(request.parameters["page"] ?? "") ?? 0])
            return request.parameters["page"] == "1" ? response.adding("Link", "<2>; rel=next") : response
        }
        #expect(await Self.collect(Self.pages(server.url("/start"))).0 == [[1], [2]])
        await server.stop()
    }

    @Test func otherLinksAreIgnored() async throws {
        let session = Session(
            transport: MockTransport { _ in
                .json([1]).adding("Link", "<b>; rel=prev, <c>; rel=next; anchor=\"/other\", <d>")
                    .adding("Link", "<e>; rel=\"nextpage\"")
            })
        #expect(await Self.collect(session.pages("http://mock/a", serializing: .decodable(of: [Int].self))).0 == [[1]])
    }

    @Test func theAnchorCanBeThePageItself() async {
        let session = Session(
            transport: MockTransport { request in
                let response = MockResponse.json([1])
                guard request.target == "/a?x" else { return response }
                return response.adding("Link", "</b>; rel=NEXT; anchor=\"\", <c>; rel=next")
            })
        #expect(
            await Self.collect(session.pages("http://mock/a?x", serializing: .decodable(of: [Int].self))).0.count == 2)
    }

    @Test func aMalformedLinkIsAnError() async {
        let session = Session(transport: MockTransport { _ in .json([1]).adding("Link", "</b>; rel=\"next") })
        let (values, error) = await Self.collect(session.pages("http://mock/", serializing: .decodable(of: [Int].self)))
        #expect(values == [[1]])
        #expect(error is Link.SyntaxError)
    }

    @Test(arguments: ["http://[/", "http://a:b/", "//"])
    func anInvalidLinkIsAnError(link: String) async {
        let session = Session(transport: MockTransport { _ in .json([1]).adding("Link", "<\(link)>; rel=next") })
        let (values, error) = await Self.collect(session.pages("http://mock/", serializing: .decodable(of: [Int].self)))
        #expect(values == [[1]])
        let isRefused = error?.asAFError.map { $0.isCreateURLRequestError || $0.isInvalidURLError }
        #expect(error is PaginationError || isRefused == true)
    }

    @Test func linksToOtherSchemesAreNotFollowed() async {
        for link in ["ftp://mock/b", "file:///etc/passwd", "javascript:1"] {
            let transport = MockTransport { _ in .json([1]).adding("Link", "<\(link)>; rel=next") }
            let pages = Session(transport: transport).pages("http://mock/", serializing: .decodable(of: [Int].self))
            let (values, error) = await Self.collect(pages)
            #expect(values == [[1]])
            #expect(error != nil)
            #expect(transport.requests.count == 1)
        }
    }

    // MARK: Limits

    @Test func aLoopIsAnError() async throws {
        let server = try await TestServer.start()
        server.route("/a") { _ in try .json([1]).adding("Link", "<b>; rel=next") }
        server.route("/b") { _ in try .json([2]).adding("Link", "<a#x>; rel=next") }
        let (values, error) = await Self.collect(Self.pages(server.url("/a")))
        #expect(values == [[1], [2]])
        #expect(error as? PaginationError == .repeatedPage(server.url("/a").absoluteString))
        await server.stop()
    }

    @Test(arguments: [("limit", 1, 1), ("limit", 2, 2), ("limit", 0, 1), ("end", 3, 3)])
    func moreThanTheLimitIsAnError(ending: String, limit: Int, count: Int) async throws {
        let server = try await Self.server()
        let (values, error) = await Self.collect(Self.pages(server.url("/items"), limit: limit))
        #expect(values.count == count)
        #expect(error as? PaginationError == (ending == "end" ? nil : .tooManyPages(limit: max(1, limit))))
        #expect(server.requestCount == count)
        await server.stop()
    }

    @Test func anErrorEndsTheIteration() async throws {
        let session = Session(
            transport: MockTransport { request in
                request.path == "/a" ? .json([1]).adding("Link", "<b>; rel=next") : .json([2], status: 500)
            })
        var iterator = session.pages("http://mock/a", serializing: .decodable(of: [Int].self)).makeAsyncIterator()
        #expect(try await iterator.next()?.value == [1])
        await #expect { try await iterator.next() } throws: { $0.asAFError?.responseCode == 500 }
        #expect(try await iterator.next() == nil)
    }

    @Test func cancellationEndsTheRequest() async throws {
        let server = try await RawServer.start([.receiveHead, .waitForever])
        let url = server.url
        let task = Task { await Self.collect(Self.pages(url)).1 }
        _ = try await server.head()
        task.cancel()
        #expect(await task.value?.asAFError?.isExplicitlyCancelledError == true)
        try await server.peerClosed(0)
        await server.stop()
    }

    @Test func aCanceledTaskSendsNothing() async throws {
        let transport = MockTransport { _ in .json([1]) }
        let session = Session(transport: transport)
        let error = await Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await Self.collect(session.pages("http://mock/", serializing: .decodable(of: [Int].self))).1
        }.value
        #expect(error?.asAFError?.isExplicitlyCancelledError == true)
        #expect(transport.requests.isEmpty)
    }

    // MARK: Requests

    @Test func everyRequestIsPreparedAndIntercepted() async throws {
        let server = try await TestServer.start()
        server.route("/{page}") { request in
            guard request.headers["X-Token"] == "7", request.headers["X-Own"] == "yes" else {
                return .content("application/problem+json", Data(#"{"title":"No token"}"#.utf8), status: 401)
            }
            let response = try ServerResponse.json([1])
            return request.path == "/a" ? response.adding("Link", "<b>; rel=next") : response
        }
        func pages(token: String) -> PageSequence<[Int]> {
            let adapter = Adapter { urlRequest, _, completion in
                var urlRequest = urlRequest
                urlRequest.headers.add(name: "X-Token", value: token)
                completion(.success(urlRequest))
            }
            return Session(startRequestsImmediately: false).pages(
                server.url("/a"), headers: ["X-Own": "yes"], serializing: .decodable(of: [Int].self),
                interceptor: Interceptor(adapters: [adapter])
            ) { $0.validate(decoding: ProblemDetails.self) }
        }
        #expect(await Self.collect(pages(token: "7")).0.count == 2)
        #expect(await Self.collect(pages(token: "8")).1?.decoded(as: ProblemDetails.self)?.title == "No token")
        await server.stop()
    }

    @Test func linksAreRetrievedWithGET() async throws {
        let server = try await TestServer.start()
        server.route("/search") { _ in try .json([1]).adding("Link", "</results>; rel=next") }
        server.route("/results") { _ in try .json([2]) }
        var request = try URLRequest(url: server.url("/search"), method: .post, headers: [.contentType("text/plain")])
        request.httpBody = Data("query".utf8)
        request.headers.add(name: "X-Own", value: "yes")
        let pages = Session().pages(request, serializing: .decodable(of: [Int].self))
        #expect(await Self.collect(pages).0 == [[1], [2]])
        #expect(server.lastRequest(path: "/search")?.text == "query")
        let next = try #require(server.lastRequest(path: "/results"))
        #expect(next.method == "GET")
        #expect(next.bodyLength == 0)
        #expect(next.headers["Content-Type"] == nil)
        #expect(next.headers["X-Own"] == "yes")
        await server.stop()
    }

    @Test func tokensAreAddedToTheFirstRequest() async throws {
        let server = try await TestServer.start()
        server.route("/items") { request in
            switch request.query {
            case "a%20b=1&page=0&page+token=x": try .json(Items(items: [1], next: "ä&="))
            case "a%20b=1&page=0&page%20token=%C3%A4%26%3D": try .json(Items(items: [2], next: "last"))
            case "a%20b=1&page=0&page%20token=last": try .json(Items(items: [3], next: ""))
            default: .text(request.query, status: 400)
            }
        }
        let pages = Session().pages(
            server.url("/items?a%20b=1&page=0&page+token=x"), serializing: .decodable(of: Items.self),
            next: .token(\.next, parameter: "page token"))
        var items: [Int] = []
        for try await item in pages.elements(\.items) { items.append(item) }
        #expect(items == [1, 2, 3])
        await server.stop()
    }

    @Test func tokensCanBeAddedAnywhere() async throws {
        let transport = MockTransport { request in
            let token = String(decoding: request.body, as: UTF8.self)
            return .json(Items(items: [], next: ["": "1", "1": "2", "2": "1"][token]))
        }
        let pages = Session(transport: transport).pages(
            try URLRequest(url: "http://mock/", method: .post), serializing: .decodable(of: Items.self),
            next: .token(\.next) { token, request in request.httpBody = Data(token.utf8) })
        let (values, error) = await Self.collect(pages)
        #expect(values.count == 3)
        #expect(error as? PaginationError == .repeatedPage("1"))
    }

    @Test func urlsInPagesAreFollowed() async throws {
        let server = try await TestServer.start()
        server.route("/items") { request in
            try .json(
                Items(items: [1], next: ["": "?page[number]=2", "page%5Bnumber%5D=2": "items?last"][request.query]))
        }
        let pages = Session().pages(
            server.url("/items"), serializing: .decodable(of: Items.self), next: .urls { $0.value.next })
        #expect(await Self.collect(pages).0.count == 3)
        await server.stop()
    }

    @Test func requestsOfAClosureAreSent() async throws {
        let transport = MockTransport { request in .json(Int(request["X-Page"] ?? "1") ?? 0) }
        let first = try URLRequest(url: "http://mock/", method: .get)
        func pages(last: Int) -> PageSequence<Int> {
            Session(transport: transport).pages(
                first, serializing: .decodable(of: Int.self),
                next: .requests { page in
                    var next = first
                    next.headers.add(name: "X-Page", value: "\(min(page.value + 1, last))")
                    return page.number < 4 ? next : nil
                })
        }
        #expect(await Self.collect(pages(last: 10)).0 == [1, 2, 3, 4])
        let (values, error) = await Self.collect(pages(last: 2))
        #expect(values == [1, 2])
        #expect(error as? PaginationError == .repeatedPage("http://mock/"))
    }

    @Test func userinfoStaysOnTheOrigin() async throws {
        let transport = MockTransport { request in
            guard request["Authorization"] != nil else { return .challenge("Basic realm=\"a\"") }
            return request.path == "/a" ? .json([1]).adding("Link", "</b?x=%2F>; rel=next") : .json([2])
        }
        let pages = Session(transport: transport).pages(
            "http://ada:s%2Fx@mock/a", serializing: .decodable(of: [Int].self))
        #expect(await Self.collect(pages).0 == [[1], [2]])
        #expect(transport.requests.last?.target == "/b?x=%2F")
        #expect(transport.requests.last?["Authorization"] == "Basic " + Data("ada:s/x".utf8).base64EncodedString())
    }

    @Test func descriptionsAreSafeToPrint() throws {
        let url = try #require(URL(string: "http://ada:pw@h/?token=x"))
        let errors: [PaginationError] = [
            .tooManyPages(limit: 2), .repeatedPage("http://ada:pw@h/?token=x\u{1B}[2J"), .insecureLink(url),
            .invalidLink("http://ada:pw@h:x/\u{202E}"),
        ]
        for error in errors {
            let text = error.localizedDescription
            #expect(text == "\(error)")
            #expect(!text.contains("pw") && !text.contains("token=x"))
            #expect(!text.unicodeScalars.contains { $0 == "\u{1B}" || $0 == "\u{202E}" })
        }
    }
}
