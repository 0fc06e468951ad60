import Afar
import ArgumentParser
import Foundation

/// A command that prints a response.
protocol ResponseCommand: AsyncParsableCommand, RequestSending {
    var output: OutputOptions { get }
    var inspection: InspectionOptions { get }
    var colors: ColorOptions { get }
}

extension ResponseCommand {
    func validate() throws { try checkSending() }
}

/// A command for requests with one method, or with any method.
protocol RequestKind {
    /// The method, or nil if the command line contains it.
    static var method: HTTPMethod? { get }
    static var configuration: CommandConfiguration { get }
}

/// A command that sends one request and prints the response.
struct RequestCommand<Kind: RequestKind>: ResponseCommand {
    static var configuration: CommandConfiguration {
        var configuration = Kind.configuration
        if let method = Kind.method { configuration.commandName = method.rawValue.lowercased() }
        return configuration
    }

    @OptionGroup var target: RequestWords
    @OptionGroup(title: "Method") var choice: MethodOptions
    @OptionGroup(title: "Body (one kind at most)") var body: BodyOptions
    @OptionGroup(title: "Streaming") var streaming: StreamingOptions
    @OptionGroup(title: "Request") var sending: SendingOptions
    @OptionGroup(title: "Archives and reports") var archive: ArchiveOptions
    @OptionGroup(title: "Network") var network: NetworkOptions
    @OptionGroup(title: "Trust and identity") var security: SecurityOptions
    @OptionGroup(title: "Output") var output: OutputOptions
    @OptionGroup(title: "File") var file: OutputFileOptions
    @OptionGroup(title: "Looking inside") var inspection: InspectionOptions
    @OptionGroup var colors: ColorOptions

    func run() async throws {
        let plan = try RequestPlan(
            target.target(hasMethod: Kind.method == nil), choice, commandMethod: Kind.method, self, body)
        let input = UnreadInput(method: plan.method, hasBody: plan.body != nil)
        defer { input.report() }
        if inspection.curl { return try printCurlCommand(for: plan) }
        let file = try file.file(for: plan.url)
        // A file receives the body as it arrives.
        if let format = streaming.format, format.isEvents || file == nil {
            guard sending.retry == 0 else {
                let option = format.isEvents ? "--sse" : "--stream"
                throw Failure(
                    .usage, "\(option) can't be combined with --retry: a retry can't take back printed output.")
            }
            guard !format.isEvents || output.charset == nil else {
                throw Failure(.usage, "--sse can't be combined with --charset: server-sent events are always UTF-8.")
            }
            guard file == nil else {
                throw Failure(.usage, "--sse can't be combined with --output. Redirect the output with >.")
            }
            if case .form = plan.body {
                throw Failure(.usage, "--stream and --sse can't be combined with a multipart form.")
            }
            try await StreamRunner(plan: plan, options: self, format: format).run()
        } else {
            try await RequestRunner(plan: plan, options: self, file: file).run()
        }
    }

    private func printCurlCommand(for plan: RequestPlan) throws {
        let buffering = streaming.format == nil ? [] : ["--no-buffer"]
        let plan = streaming.format.map { StreamRunner(plan: plan, options: self, format: $0).plan } ?? plan
        try Inspector(self).printCurlCommand(
            CurlCommand(plan, self, more: buffering + file.curlOptions(for: plan.url)), for: plan)
    }
}

// MARK: - Kinds of requests

enum AnyRequest: RequestKind {
    static let method: HTTPMethod? = nil
    static let configuration = CommandConfiguration(
        commandName: "request",
        abstract: "Send a request with any method. The name of this command can be omitted.",
        usage: "afar [request] [<method>] <url> [<item> ...] [<options>]",
        discussion: RequestWords.syntax,
        examples: [
            "afar example.com",
            "afar :8080/users name=Ada age:=36",
            "afar PURGE :8080/notes/1",
            "afar -X DELETE :8080/users/7",
            "afar :8080/search q==swift limit==10 X-Trace:1",
            "afar :8080/login -d user=ada -d password=secret",
        ])
}

enum Get: RequestKind {
    static let method: HTTPMethod? = .get
    static let configuration = CommandConfiguration(
        abstract: "Fetch a resource.",
        usage: "afar get <url> [<item> ...] [<options>]",
        examples: [
            "afar get example.com",
            "afar get :8080/search --query q=swift --query limit=10",
            "afar get :8080/users/1 -H 'Authorization: Bearer TOKEN' --check-status",
            "afar get example.com --timing > page.html",
            "afar get :8080/events --stream | grep error",
            "afar get :8080/feed --sse",
        ])
}

enum Head: RequestKind {
    static let method: HTTPMethod? = .head
    static let configuration = CommandConfiguration(
        abstract: "Fetch the status and the headers, without the body.",
        usage: "afar head <url> [<item> ...] [<options>]",
        examples: [
            "afar head example.com",
            "afar head example.com --verbose",
        ])
}

enum Post: RequestKind {
    static let method: HTTPMethod? = .post
    static let configuration = CommandConfiguration(
        abstract: "Submit data to a resource.",
        usage: "afar post <url> [<item> ...] [<body>] [<options>]",
        examples: [
            "afar post :8080/users name=Ada age:=36",
            "afar post :8080/login --form user=ada --form password=secret -i",
            "afar post :8080/notes --raw @note.txt -H 'Content-Type: text/markdown'",
            "afar post :8080/users --json name=Ada --curl",
        ])
}

enum Put: RequestKind {
    static let method: HTTPMethod? = .put
    static let configuration = CommandConfiguration(
        abstract: "Replace a resource.",
        usage: "afar put <url> [<item> ...] [<body>] [<options>]",
        examples: [
            "afar put :8080/notes/1 --raw @note.txt",
            "afar put :8080/users/7 name=Ada",
        ])
}

enum Patch: RequestKind {
    static let method: HTTPMethod? = .patch
    static let configuration = CommandConfiguration(
        abstract: "Change part of a resource.",
        usage: "afar patch <url> [<item> ...] [<body>] [<options>]",
        examples: [
            "afar patch :8080/users/7 name=Ada admin:=false"
        ])
}

enum Delete: RequestKind {
    static let method: HTTPMethod? = .delete
    static let configuration = CommandConfiguration(
        abstract: "Remove a resource.",
        usage: "afar delete <url> [<item> ...] [<body>] [<options>]",
        examples: [
            "afar delete :8080/users/7 --check-status"
        ])
}
