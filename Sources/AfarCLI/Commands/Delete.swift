import Afar
import ArgumentParser

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
