import Afar
import AfarAPI
import AfarConfiguration
import AfarEgress
import AfarResilience
import AfarServiceLifecycle
import AfarTestServer
import Configuration
import Foundation
import ServiceLifecycle

/// A service that shows products from another server, the catalog, and announces orders to the URLs of its customers.
struct ShopService: Sendable {
    struct Product: Codable, Sendable, Equatable {
        var id: Int
        var name: String
    }

    /// Sends requests to the catalog.
    let catalog: Session
    /// Sends requests to the URLs of customers.
    let webhooks: Session
    let resilience: Resilience

    /// Creates the service.
    ///
    /// - Parameters:
    ///   - reader: Contains the settings of the catalog's session in the scope `catalog`, and those of the webhooks' session in `webhooks`.
    ///   - resilience: The policies for the catalog.
    ///   - timeSource: The time of both sessions.
    ///   - wrap: Returns the catalog's transport around the platform's.
    init(
        _ reader: ConfigReader,
        resilience: Resilience = Resilience(
            deadline: 10, bulkhead: Bulkhead(maximumConcurrent: 50), hedging: Hedging()),
        timeSource: TimeSource = .system,
        wrapping wrap: (any Transport) -> any Transport = { $0 }
    ) async throws {
        self.resilience = resilience
        var configuration = try await SessionConfiguration(reader.scoped(to: "catalog"))
        configuration.timeSource = timeSource
        let transport = wrap(Session.platformTransport(completing: &configuration))
        catalog = resilience.makeSession(configuration: configuration, transport: transport)

        configuration = try await SessionConfiguration(reader.scoped(to: "webhooks"))
        configuration.timeSource = timeSource
        configuration.connectionPolicy = EgressPolicy()
        webhooks = Session(configuration: configuration, interceptor: .retryPolicy)
    }

    func product(_ id: Int) async throws -> Product {
        try await catalog.request("products/\(id)")
            .validate(decoding: ProblemDetails.self)
            .serializingDecodable(Product.self).value
    }

    func products() async throws -> [Product] {
        var products: [Product] = []
        for try await product in catalog.pages("products", serializing: .decodable(of: [Product].self)).elements {
            products.append(product)
        }
        return products
    }

    func announce(_ product: Product, to url: String) async throws {
        _ = try await webhooks.request(url, method: .post, parameters: product, encoder: .json)
            .validate().serializingData(emptyResponseCodes: [200, 202, 204]).value
    }

    // MARK: Server

    /// Responds to the shop's own clients.
    func respond(to request: ServerRequest) async throws -> ServerResponse {
        do {
            guard let id = request.parameters["id"] else { return try .json(try await products()) }
            guard let id = Int(id) else { return .text("the product's number is invalid\n", status: 400) }
            return try .json(try await product(id))
        } catch {
            return failure(error)
        }
    }

    private func failure(_ error: any Error) -> ServerResponse {
        if let problem = error.decoded(as: ProblemDetails.self), problem.status == 404 {
            return .text("\(problem.title ?? "not found")\n", status: 404)
        }
        var response = ServerResponse.text("the catalog isn't available\n", status: 502)
        if let open = error.asAFError?.underlyingError as? CircuitBreakerError {
            response.status = 503
            let delay = open.nextProbe.map { $0.timeIntervalSince(catalog.configuration.timeSource.now) }
            response.headers["Retry-After"] = "\(max(1, Int((delay ?? 1).rounded(.up))))"
        }
        return response
    }
}

/// Serves requests until the group shuts down.
struct ShopServer: Service {
    let shop: ShopService
    let port: UInt16

    func run() async throws {
        let server = try await TestServer.start(port: port)
        server.route("/products") { try await shop.respond(to: $0) }
        server.route("/products/{id}") { try await shop.respond(to: $0) }
        FileHandle.standardOutput.write(Data("listening on \(server.url)\n".utf8))
        try? await gracefulShutdown()
        await server.stop()
    }
}
