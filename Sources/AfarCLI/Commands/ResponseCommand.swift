import Afar
import ArgumentParser

/// A command that prints a response.
protocol ResponseCommand: AsyncParsableCommand, RequestSending {
    var address: AddressArgument { get }
    var output: OutputOptions { get }
    var inspection: InspectionOptions { get }
    var colors: ColorOptions { get }
}

extension ResponseCommand {
    func validate() throws { try checkSending() }
}

/// A command that makes one request of its own method.
protocol MethodCommand: ResponseCommand {
    static var method: HTTPMethod { get }
    var body: BodyOptions { get }
}

extension MethodCommand {
    func run() async throws {
        try await RequestRunner(plan: RequestPlan(Self.method, address, self, body), options: self).run()
    }
}
