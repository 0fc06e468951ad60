import Afar
import ArgumentParser

struct Get: MethodCommand {
    static let configuration = CommandConfiguration(
        abstract: "Fetch a resource.",
        usage: "afar get <url> [<options>]",
        examples: [
            "afar get example.com",
            "afar get :8080/search --query q=swift --query limit=10",
            "afar get :8080/users/1 -H 'Authorization: Bearer TOKEN' --check-status",
            "afar get example.com --timing > page.html",
            "afar get :8080/events --stream | grep error",
            "afar get :8080/feed --sse",
        ])
    static let method = HTTPMethod.get
    @OptionGroup(visibility: .hidden) var body: BodyOptions
    @OptionGroup(title: "Streaming") var streaming: StreamingOptions
    @OptionGroup var address: AddressArgument
    @OptionGroup(title: "Request") var sending: SendingOptions
    @OptionGroup(title: "HTTP archives") var archive: ArchiveOptions
    @OptionGroup(title: "Network") var network: NetworkOptions
    @OptionGroup(title: "Trust and identity") var security: SecurityOptions
    @OptionGroup(title: "Output") var output: OutputOptions
    @OptionGroup(title: "Looking inside") var inspection: InspectionOptions
    @OptionGroup var colors: ColorOptions

    func run() async throws {
        let plan = try RequestPlan(Self.method, address, self, body)
        if let format = streaming.format {
            guard sending.retry == 0 else {
                let option = format.isEvents ? "--sse" : "--stream"
                throw Failure(
                    .usage, "What \(option) has printed cannot be taken back, so --retry does not go with it.")
            }
            guard !format.isEvents || output.charset == nil else {
                throw Failure(.usage, "Server-sent events are UTF-8, so --charset does not go with --sse.")
            }
            try await StreamRunner(plan: plan, options: self, format: format).run()
        } else {
            try await RequestRunner(plan: plan, options: self).run()
        }
    }
}
