import Afar
import ArgumentParser

/// A command that makes one request of its own method.
protocol MethodCommand: AsyncParsableCommand {
    static var method: HTTPMethod { get }
    var request: RequestOptions { get }
    var body: BodyOptions { get }
}

extension MethodCommand {
    func run() async throws {
        try await RequestRunner(
            plan: RequestPlan(Self.method, request.address, request, body), options: request
        ).run()
    }
}
