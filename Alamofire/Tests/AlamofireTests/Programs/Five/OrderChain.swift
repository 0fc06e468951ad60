import Alamofire
import Testing

/// Reads a customer, the customer's orders, and their total, one after the other.
struct OrderChain: Sendable {
    struct Customer: Codable, Sendable { let id: Int }
    struct Order: Codable, Sendable { let price: Int }

    let base: URL

    func total(of name: String, completion: @escaping @Sendable (Result<Int, AFError>) -> Void) {
        let base = base
        AF.request(base.appendingPathComponent("customers"), parameters: ["name": name])
            .validate()
            .responseDecodable(of: Customer.self) { response in
                switch response.result {
                case .success(let customer):
                    AF.request(base.appendingPathComponent("orders/\(customer.id)"))
                        .validate()
                        .responseDecodable(of: [Order].self) { orders in
                            completion(orders.map { $0.reduce(0) { $0 + $1.price } }.result)
                        }
                case .failure(let error): completion(.failure(error))
                }
            }
    }
}

@Suite struct OrderChainTests {
    @Test func theTotalIsComputed() async throws {
        try await withServer { server in
            server.route("/customers") { request in
                request.query == "name=Ada" ? try .json(OrderChain.Customer(id: 3)) : .text("", status: 404)
            }
            server.route("/orders/{id}") { _ in try .json([OrderChain.Order(price: 4), OrderChain.Order(price: 5)]) }
            let chain = OrderChain(base: server.url)
            let total = await withCheckedContinuation { done in chain.total(of: "Ada") { done.resume(returning: $0) } }
            let sum = try total.get()
            #expect(sum == 9)
            let none = await withCheckedContinuation { done in chain.total(of: "Eve") { done.resume(returning: $0) } }
            guard case .failure(let error) = none else {
                Issue.record("no failure")
                return
            }
            #expect(error.responseCode == 404)
        }
    }
}
