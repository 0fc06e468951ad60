import Afar
import ArgumentParser
import Foundation

/// A command that prints a response.
protocol ResponseCommand: AsyncParsableCommand, CookieSaving {
    var output: OutputOptions { get }
    var messages: MessageOptions { get }
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
    static var configuration: CommandConfiguration { Kind.configuration }

    @OptionGroup var target: RequestWords
    @OptionGroup(title: "Method") var choice: MethodOptions
    @OptionGroup(title: "Request") var sending: SendingOptions
    @OptionGroup(title: "Request") var jar: CookieJarOptions
    @OptionGroup(title: "Body (one kind at most)") var body: BodyOptions
    @OptionGroup(title: "Output") var output: OutputOptions
    @OptionGroup(title: "Output") var messages: MessageOptions
    @OptionGroup(title: "File") var file: OutputFileOptions
    @OptionGroup(title: "Looking inside") var inspection: InspectionOptions
    @OptionGroup(title: "Trust and identity") var security: SecurityOptions
    @OptionGroup(title: "Network") var network: NetworkOptions
    @OptionGroup(title: "Streaming") var streaming: StreamingOptions
    @OptionGroup(title: "Archives and reports") var archive: ArchiveOptions
    @OptionGroup var colors: ColorOptions

    func run() async throws {
        let target = try target.target(hasMethod: Kind.method == nil)
        if output.statusCheck == .shortFail, body.format == nil, target.items.contains(where: \.kind.isData) {
            throw Failure(.usage, ForeignOption.ambiguousShortFail)
        }
        let plan = try RequestPlan(target, choice, commandMethod: Kind.method, self, body)
        let input = UnreadInput(method: plan.method, hasBody: plan.body != nil)
        defer { input.report() }
        if plan.sendsJSONAsForm {
            Messages.note(
                "The JSON text is sent as a form. To send it as JSON, use --json or --raw instead of -d"
            )
        }
        if inspection.curl { return try printCurlCommand(for: plan) }
        let file = try file.file(for: plan.url)
        // A file receives the body as it arrives.
        if let format = streaming.format, format.isEvents || file == nil {
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
        let options = buffering + file.curlOptions(for: plan.url)
        try Inspector(self).printCurlCommand(for: plan) {
            CurlCommand(plan, self, showsSecrets: $0, more: options)
        }
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
            "afar :8080/post name=Ada age:=36",
            "afar PURGE :8080/anything/notes/1",
            "afar -X DELETE :8080/anything/users/7",
            "afar :8080/get q==swift limit==10 X-Trace:1",
            "afar :8080/post -d user=ada -d password=secret",
        ])
}

enum Get: RequestKind {
    static let method: HTTPMethod? = .get
    static let configuration = CommandConfiguration(
        commandName: "get",
        abstract: "Fetch a resource.",
        usage: "afar get <url> [<item> ...] [<options>]",
        examples: [
            "afar get example.com",
            "afar get :8080/get --query q=swift --query limit=10",
            "afar get :8080/bearer -H 'Authorization: Bearer TOKEN' --check-status",
            "afar get example.com --timing > page.html",
            "afar get :8080/stream/3 --stream | grep id",
            "afar get :8080/events/3 --sse",
        ])
}

enum Head: RequestKind {
    static let method: HTTPMethod? = .head
    static let configuration = CommandConfiguration(
        commandName: "head",
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
        commandName: "post",
        abstract: "Submit data to a resource.",
        usage: "afar post <url> [<item> ...] [<body>] [<options>]",
        examples: [
            "afar post :8080/post name=Ada age:=36",
            "afar post :8080/post --form user=ada --form password=secret -i",
            "afar post :8080/post --raw @note.txt -H 'Content-Type: text/markdown'",
            "afar post :8080/post --json name=Ada --curl",
        ])
}

enum Put: RequestKind {
    static let method: HTTPMethod? = .put
    static let configuration = CommandConfiguration(
        commandName: "put",
        abstract: "Replace a resource.",
        usage: "afar put <url> [<item> ...] [<body>] [<options>]",
        examples: [
            "afar put :8080/put --raw @note.txt",
            "afar put :8080/put name=Ada",
        ])
}

enum Patch: RequestKind {
    static let method: HTTPMethod? = .patch
    static let configuration = CommandConfiguration(
        commandName: "patch",
        abstract: "Change part of a resource.",
        usage: "afar patch <url> [<item> ...] [<body>] [<options>]",
        examples: [
            "afar patch :8080/patch name=Ada admin:=false"
        ])
}

enum Delete: RequestKind {
    static let method: HTTPMethod? = .delete
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "Remove a resource.",
        usage: "afar delete <url> [<item> ...] [<body>] [<options>]",
        examples: [
            "afar delete :8080/delete --check-status"
        ])
}
