import Afar
import ArgumentParser
import Foundation

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

/// A command that sends one request with a fixed method.
protocol MethodCommand: ResponseCommand {
    static var method: HTTPMethod { get }
    var body: BodyOptions { get }
}

extension MethodCommand {
    func run() async throws {
        try await RequestRunner(plan: RequestPlan(Self.method, address, self, body), options: self).run()
    }
}

// MARK: - GET and HEAD

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
                    .usage, "\(option) can't be combined with --retry: a retry can't take back printed output.")
            }
            guard !format.isEvents || output.charset == nil else {
                throw Failure(.usage, "--sse can't be combined with --charset: server-sent events are always UTF-8.")
            }
            try await StreamRunner(plan: plan, options: self, format: format).run()
        } else {
            try await RequestRunner(plan: plan, options: self).run()
        }
    }
}

struct Head: MethodCommand {
    static let configuration = CommandConfiguration(
        abstract: "Fetch the status and the headers, without the body.",
        usage: "afar head <url> [<options>]",
        examples: [
            "afar head example.com",
            "afar head example.com --verbose",
        ])
    static let method = HTTPMethod.head
    @OptionGroup(visibility: .hidden) var body: BodyOptions
    @OptionGroup var address: AddressArgument
    @OptionGroup(title: "Request") var sending: SendingOptions
    @OptionGroup(title: "HTTP archives") var archive: ArchiveOptions
    @OptionGroup(title: "Network") var network: NetworkOptions
    @OptionGroup(title: "Trust and identity") var security: SecurityOptions
    @OptionGroup(title: "Output") var output: OutputOptions
    @OptionGroup(title: "Looking inside") var inspection: InspectionOptions
    @OptionGroup var colors: ColorOptions
}

// MARK: - Methods with a body

/// A method whose requests can have a body, and its command's configuration.
protocol BodyMethod {
    static var method: HTTPMethod { get }
    static var configuration: CommandConfiguration { get }
}

/// The command for a method whose requests can have a body.
struct BodyCommand<Method: BodyMethod>: MethodCommand {
    static var configuration: CommandConfiguration {
        var configuration = Method.configuration
        configuration.commandName = method.rawValue.lowercased()
        return configuration
    }
    static var method: HTTPMethod { Method.method }

    @OptionGroup(title: "Body (one kind at most)") var body: BodyOptions
    @OptionGroup var address: AddressArgument
    @OptionGroup(title: "Request") var sending: SendingOptions
    @OptionGroup(title: "HTTP archives") var archive: ArchiveOptions
    @OptionGroup(title: "Network") var network: NetworkOptions
    @OptionGroup(title: "Trust and identity") var security: SecurityOptions
    @OptionGroup(title: "Output") var output: OutputOptions
    @OptionGroup(title: "Looking inside") var inspection: InspectionOptions
    @OptionGroup var colors: ColorOptions
}

enum Post: BodyMethod {
    static let method = HTTPMethod.post
    static let configuration = CommandConfiguration(
        abstract: "Submit data to a resource.",
        usage: "afar post <url> [<body>] [<options>]",
        examples: [
            "afar post :8080/users --json name=Ada --json age:=36",
            "afar post :8080/login --form user=ada --form password=secret -i",
            "afar post :8080/notes --data @note.txt -H 'Content-Type: text/markdown'",
            "afar post :8080/users --json name=Ada --curl",
        ])
}

enum Put: BodyMethod {
    static let method = HTTPMethod.put
    static let configuration = CommandConfiguration(
        abstract: "Replace a resource.",
        usage: "afar put <url> [<body>] [<options>]",
        examples: [
            "afar put :8080/notes/1 --data @note.txt",
            "afar put :8080/users/7 --json name=Ada",
        ])
}

enum Patch: BodyMethod {
    static let method = HTTPMethod.patch
    static let configuration = CommandConfiguration(
        abstract: "Change part of a resource.",
        usage: "afar patch <url> [<body>] [<options>]",
        examples: [
            "afar patch :8080/users/7 --json name=Ada --json admin:=false"
        ])
}

enum Delete: BodyMethod {
    static let method = HTTPMethod.delete
    static let configuration = CommandConfiguration(
        abstract: "Remove a resource.",
        usage: "afar delete <url> [<body>] [<options>]",
        examples: [
            "afar delete :8080/users/7 --check-status"
        ])
}
