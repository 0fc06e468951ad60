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
            plan: RequestPlan(Self.method, request.address, request.sending, body), options: request
        ).run()
    }
}

struct Get: MethodCommand {
    static let configuration = CommandConfiguration(
        abstract: "Fetch what is there.",
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
    @OptionGroup var request: RequestOptions

    func run() async throws {
        let plan = try RequestPlan(Self.method, request.address, request.sending, body)
        if let format = streaming.format {
            guard request.sending.retry == 0 else {
                let option = format == .bytes ? "--stream" : "--sse"
                throw Failure(
                    .usage, "What \(option) has printed cannot be taken back, so --retry does not go with it.")
            }
            guard format == .bytes || request.output.charset == nil else {
                throw Failure(.usage, "Server-sent events are UTF-8, so --charset does not go with --sse.")
            }
            try await StreamRunner(plan: plan, options: request, format: format).run()
        } else {
            try await RequestRunner(plan: plan, options: request).run()
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
    @OptionGroup var request: RequestOptions
}

struct Post: MethodCommand {
    static let configuration = CommandConfiguration(
        abstract: "Send something new.",
        usage: "afar post <url> [<body>] [<options>]",
        examples: [
            "afar post :8080/users --json name=Ada --json age:=36",
            "afar post :8080/login --form user=ada --form password=secret -i",
            "afar post :8080/notes --data @note.txt -H 'Content-Type: text/markdown'",
            "afar post :8080/users --json name=Ada --curl",
        ])
    static let method = HTTPMethod.post
    @OptionGroup(title: "Body (one kind at most)") var body: BodyOptions
    @OptionGroup var request: RequestOptions
}

struct Put: MethodCommand {
    static let configuration = CommandConfiguration(
        abstract: "Replace what is there.",
        usage: "afar put <url> [<body>] [<options>]",
        examples: [
            "afar put :8080/notes/1 --data @note.txt",
            "afar put :8080/users/7 --json name=Ada",
        ])
    static let method = HTTPMethod.put
    @OptionGroup(title: "Body (one kind at most)") var body: BodyOptions
    @OptionGroup var request: RequestOptions
}

struct Patch: MethodCommand {
    static let configuration = CommandConfiguration(
        abstract: "Change a part of what is there.",
        usage: "afar patch <url> [<body>] [<options>]",
        examples: [
            "afar patch :8080/users/7 --json name=Ada --json admin:=false"
        ])
    static let method = HTTPMethod.patch
    @OptionGroup(title: "Body (one kind at most)") var body: BodyOptions
    @OptionGroup var request: RequestOptions
}

struct Delete: MethodCommand {
    static let configuration = CommandConfiguration(
        abstract: "Remove what is there.",
        usage: "afar delete <url> [<body>] [<options>]",
        examples: [
            "afar delete :8080/users/7 --check-status"
        ])
    static let method = HTTPMethod.delete
    @OptionGroup(title: "Body (one kind at most)") var body: BodyOptions
    @OptionGroup var request: RequestOptions
}
