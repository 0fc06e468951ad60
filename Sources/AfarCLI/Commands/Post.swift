import Afar
import ArgumentParser

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
