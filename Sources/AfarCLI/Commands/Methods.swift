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
        discussion: "For example: afar get :8080/search --query q=swift")
    static let method = HTTPMethod.get
    @OptionGroup(visibility: .hidden) var body: BodyOptions
    @OptionGroup var request: RequestOptions
}

struct Head: MethodCommand {
    static let configuration = CommandConfiguration(
        abstract: "Fetch the status and the headers, without the body.",
        usage: "afar head <url> [<options>]",
        discussion: "For example: afar head example.com")
    static let method = HTTPMethod.head
    @OptionGroup(visibility: .hidden) var body: BodyOptions
    @OptionGroup var request: RequestOptions
}

struct Post: MethodCommand {
    static let configuration = CommandConfiguration(
        abstract: "Send something new.",
        usage: "afar post <url> [<body>] [<options>]",
        discussion: "For example: afar post :8080/users --json name=Ada --json age:=36")
    static let method = HTTPMethod.post
    @OptionGroup(title: "Body (one kind at most)") var body: BodyOptions
    @OptionGroup var request: RequestOptions
}

struct Put: MethodCommand {
    static let configuration = CommandConfiguration(
        abstract: "Replace what is there.",
        usage: "afar put <url> [<body>] [<options>]",
        discussion: "For example: afar put :8080/notes/1 --data @note.txt")
    static let method = HTTPMethod.put
    @OptionGroup(title: "Body (one kind at most)") var body: BodyOptions
    @OptionGroup var request: RequestOptions
}

struct Patch: MethodCommand {
    static let configuration = CommandConfiguration(
        abstract: "Change a part of what is there.",
        usage: "afar patch <url> [<body>] [<options>]",
        discussion: "For example: afar patch :8080/users/7 --json name=Ada")
    static let method = HTTPMethod.patch
    @OptionGroup(title: "Body (one kind at most)") var body: BodyOptions
    @OptionGroup var request: RequestOptions
}

struct Delete: MethodCommand {
    static let configuration = CommandConfiguration(
        abstract: "Remove what is there.",
        usage: "afar delete <url> [<body>] [<options>]",
        discussion: "For example: afar delete :8080/users/7 --check-status")
    static let method = HTTPMethod.delete
    @OptionGroup(title: "Body (one kind at most)") var body: BodyOptions
    @OptionGroup var request: RequestOptions
}
