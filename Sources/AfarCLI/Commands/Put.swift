import Afar
import ArgumentParser

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
