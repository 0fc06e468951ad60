import Afar
import ArgumentParser

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
