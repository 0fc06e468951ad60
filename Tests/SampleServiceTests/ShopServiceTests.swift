import Afar
import AfarAPI
import AfarResilience
import AfarTestServer
import AfarTesting
import Configuration
import Foundation
import TestServers
import Testing

@testable import SampleService

/// A service with the plug-ins for servers, and a catalog that fails. Time passes only when a test advances it.
@Suite(.timeLimit(.minutes(2))) struct ShopServiceTests {
    private let clock = ManualClock()

    /// A catalog with three products on two pages, which responds with 503 during an outage.
    private final class Catalog: Sendable {
        let server: TestServer
        let isDown = Locked(false)

        init() async throws {
            server = try await TestServer.start()
            server.route("/v1/products/{id}") { [isDown] request in
                if isDown.withLock({ $0 }) { return .text("down", status: 503) }
                guard let id = request.parameters["id"].flatMap(Int.init), id <= 3 else {
                    return .content(
                        "application/problem+json", Data(#"{"title":"no such product","status":404}"#.utf8), status: 404
                    )
                }
                return try .json(ShopService.Product(id: id, name: "product \(id)"))
            }
            server.route("/v1/products") { request in
                let isFirst = request.query.isEmpty
                let ids = isFirst ? [1, 2] : [3]
                var response = try ServerResponse.json(ids.map { ShopService.Product(id: $0, name: "product \($0)") })
                if isFirst { response.headers["Link"] = "<?page=2>; rel=next" }
                return response
            }
        }
    }

    private func shop(
        _ catalog: Catalog, _ resilience: Resilience = Resilience(),
        wrapping wrap: (any Transport) -> any Transport = { $0 }
    ) async throws -> ShopService {
        let values: [AbsoluteConfigKey: ConfigValue] = [
            "catalog.base-url": ConfigValue(.string(catalog.server.url("/v1/").absoluteString), isSecret: false),
            "catalog.user-agent": "shop/1",
        ]
        return try await ShopService(
            ConfigReader(provider: InMemoryProvider(values: values)), resilience: resilience,
            timeSource: clock.timeSource, wrapping: wrap)
    }

    @Test func productsComeFromTheCatalog() async throws {
        let catalog = try await Catalog()
        let shop = try await shop(catalog)
        #expect(try await shop.product(2) == ShopService.Product(id: 2, name: "product 2"))
        #expect(try await shop.products().map(\.id) == [1, 2, 3])
        #expect(catalog.server.lastRequest(path: "/v1/products/2")?.headers["User-Agent"] == "shop/1")
        let error = await #expect(throws: AFError.self) { try await shop.product(4) }
        #expect(error?.decoded(as: ProblemDetails.self)?.title == "no such product")
        await catalog.server.stop()
    }

    @Test func webhooksNeverReachTheServicesOwnNetwork() async throws {
        let catalog = try await Catalog()
        let shop = try await shop(catalog)
        let error = await #expect(throws: AFError.self) {
            try await shop.announce(
                ShopService.Product(id: 1, name: "x"), to: catalog.server.url("/post").absoluteString)
        }
        #expect(error?.transportError?.code == .refusedByPolicy)
        #expect(catalog.server.connectionCount == 0)
        await catalog.server.stop()
    }

    // MARK: 200 requests per second

    /// Sends the requests of ten seconds while the catalog is down. Returns the number of requests that the catalog has received for each
    /// request.
    private func load(on catalog: Catalog, of shop: ShopService) async -> Double {
        catalog.isDown.withLock { $0 = true }
        let (before, count) = (catalog.server.requestCount, 2_000)
        for _ in 0..<count {
            clock.advance(by: .milliseconds(5))
            _ = try? await shop.product(1)
        }
        return Double(catalog.server.requestCount - before) / Double(count)
    }

    private static let retrier = RetryPolicy(retryLimit: 2, exponentialBackoffScale: 0)

    @Test func theBudgetLimitsTheLoadDuringAnOutage() async throws {
        let catalog = try await Catalog()
        let unlimited = RetryBudget(capacity: 1e9)
        let careless = try await shop(
            catalog, Resilience(retrier: Self.retrier, retryBudget: unlimited, circuitBreaker: nil))
        #expect(await load(on: catalog, of: careless) == 3)
        let careful = try await shop(catalog, Resilience(retrier: Self.retrier, circuitBreaker: nil))
        let load = await load(on: catalog, of: careful)
        #expect(load >= 1 && load <= 1.2)
        await catalog.server.stop()
    }

    @Test func theBreakerLimitsTheLoadDuringAnOutageAndTheServiceRecovers() async throws {
        let catalog = try await Catalog()
        var breaker = CircuitBreaker()
        breaker.openDuration = .seconds(1)
        let shop = try await shop(catalog, Resilience(retrier: Self.retrier, circuitBreaker: breaker))
        #expect(await load(on: catalog, of: shop) <= 0.05)

        // The response to the shop's own clients contains the time until the next probe.
        let server = try await TestServer.start()
        server.route("/products/{id}") { try await shop.respond(to: $0) }
        let refusal = await AF.request(server.url("/products/1")).serializingData().response.response
        #expect(refusal?.statusCode == 503)
        #expect(refusal?.headers["Retry-After"] == "1")

        catalog.isDown.withLock { $0 = false }
        let end = clock.date
        while (try? await shop.product(1)) == nil { clock.advance(by: .milliseconds(5)) }
        #expect(clock.date.timeIntervalSince(end) <= 1)
        #expect(shop.resilience.snapshot.first?.circuit == .closed)
        await server.stop()
        await catalog.server.stop()
    }

    @Test func aSlowResponseIsReplacedByAHedge() async throws {
        let catalog = try await Catalog()
        let shop = try await shop(catalog, Resilience(hedging: Hedging(delay: .fixed(.milliseconds(50))))) {
            // With this seed, only the eleventh request is slow.
            FaultInjectingTransport($0, seed: 11, faults: [.delay(.milliseconds(500), probability: 0.05)])
        }
        // Successful requests pay for hedges.
        for _ in 0..<10 { _ = try await shop.product(1) }
        let start = clock.date
        async let product = shop.product(2)
        // The slow request and the hedge's timer.
        await clock.waitForSleepers(2)
        clock.advance(by: .milliseconds(50))
        #expect(try await product.id == 2)
        #expect(clock.date.timeIntervalSince(start) < 0.051)
        #expect(shop.resilience.snapshot.first?.eventCounts[.hedgeWon] == 1)
        await catalog.server.stop()
    }

    @Test func aRetryWaitsAsTheCatalogAsksWithoutDelayingTheTest() async throws {
        let catalog = try await Catalog()
        catalog.server.route("/v1/products/1") { [server = catalog.server] _ in
            guard server.requestCount(path: "/v1/products/1") == 1 else { return .text(#"{"id":1,"name":"late"}"#) }
            var response = ServerResponse.text("busy", status: 503)
            response.headers["Retry-After"] = "20"
            return response
        }
        let shop = try await shop(catalog)
        let start = clock.date
        async let product = shop.product(1)
        await clock.waitForSleepers()
        clock.advance(by: .seconds(20))
        #expect(try await product.name == "late")
        #expect(clock.date.timeIntervalSince(start) == 20)
        await catalog.server.stop()
    }

    // MARK: Program

    @Test func theProgramServesRequestsUntilItIsTerminated() async throws {
        let catalog = try await Catalog()
        let program = (Bundle.main.executableURL ?? URL(filePath: CommandLine.arguments[0]))
            .deletingLastPathComponent().appending(path: "SampleService").path
        let output = FileManager.default.temporaryDirectory.appending(path: "afar-shop-\(UUID().uuidString)")
        let shop = try ChildProcess(
            ["env", "CATALOG_BASE_URL=\(catalog.server.url("/v1/"))", program], output: output)
        defer {
            shop.stop()
            try? FileManager.default.removeItem(at: output)
        }
        try await shop.wait { shop.output.contains(/listening on \S+\n/) }
        let url = try #require(shop.output.firstMatch(of: /listening on (\S+)\n/)?.1)
        let products = try await AF.request("\(url)/products")
            .validate().serializingDecodable([ShopService.Product].self).value
        #expect(products.count == 3)
        #expect(try await shop.terminate(), "\(shop.output)")
        await catalog.server.stop()
    }
}
