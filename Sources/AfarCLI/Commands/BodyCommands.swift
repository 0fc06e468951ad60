import Afar
import ArgumentParser

/// A method whose requests may have a body, and the help of its command.
protocol BodyMethod {
    static var method: HTTPMethod { get }
    static var configuration: CommandConfiguration { get }
}

/// The command of a method whose requests may have a body.
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
        abstract: "Send something new.",
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
