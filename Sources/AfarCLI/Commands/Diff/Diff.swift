import Afar
import AfarCore
import ArgumentParser
import Foundation

struct Diff: AsyncParsableCommand, CookieSaving, ResultReporting {
    static let configuration = CommandConfiguration(
        commandName: "diff",
        abstract: "Send two requests and show how the responses differ.",
        usage: "afar diff <first> <second> [<items>] [<options>]",
        discussion: """
            Compares the status, the header fields and the body. JSON is compared by value: the order of members doesn't \
            matter. Other text is compared line by line, and binary data by size and SHA-256. Lines that begin with - are \
            from the first response, and lines with + from the second. Both requests have the same items and options.

            The exit code is 0 if the responses are equal, and 1 if they differ. Fields that often change, such as Date, \
            are ignored.
            """,
        examples: [
            "afar diff :8080/json :8081/json",
            "afar diff api.example.com/v1/user api.example.com/v2/user --bearer @token",
            "afar diff :8080/post :8081/post name=Ada page==2 X-Tenant:a",
            "afar diff :8080/json @recorded.har",
        ])

    @Argument(help: "The URL of the first request.")
    var first: String

    @Argument(help: "The URL of the second request, or @file for the recorded response to the first URL.")
    var second: String

    @Argument(
        help: ArgumentHelp(
            "Items that add to both requests: name=text, name:=3, name==query, Name:header, name@file.",
            valueName: "items"))
    var items: [String] = []

    @OptionGroup(title: "Comparison") var comparison: ComparisonOptions
    @OptionGroup(title: "Method") var choice: MethodOptions
    @OptionGroup(title: "Body (one kind at most)") var body: BodyOptions
    @OptionGroup(title: "Request") var sending: SendingOptions
    @OptionGroup(title: "Request") var jar: CookieJarOptions
    @OptionGroup(title: "Archives and reports") var archive: ArchiveOptions
    @OptionGroup(title: "Network") var network: NetworkOptions
    @OptionGroup(title: "Trust and identity") var security: SecurityOptions
    @OptionGroup var colors: ColorOptions

    func validate() throws { try checkSending() }

    func run() async throws {
        var words = RequestWords()
        words.words = [first] + items
        let plan = try RequestPlan(words.target(hasMethod: false), choice, commandMethod: nil, self, body)
        var (secondPlan, secondOptions) = (plan, self)
        if second.hasPrefix("@") {
            secondOptions.archive.record = nil
            secondOptions.archive.replay = String(second.dropFirst())
        } else {
            secondPlan = try RequestPlan(repeating: plan, at: second, self)
        }
        try plan.check()
        try secondPlan.check()
        let responses = (try await response(to: plan), try await secondOptions.response(to: secondPlan))
        let names = (
            Redaction.standard.url(plan.url), second.hasPrefix("@") ? second : Redaction.standard.url(secondPlan.url)
        )
        let difference = ResponseDifference(responses.0, responses.1, comparesAllFields: comparison.allFields)
        ReportFile.setResult(difference.members(method: plan.method.rawValue, names: names))
        guard !difference.isEmpty else { return }
        try StandardOutput.write(difference.text(names: names, style: colors.style(for: .standardOutput)))
        throw Failure(.noMatch, "")
    }

    private func response(to plan: RequestPlan) async throws -> ComparedResponse {
        let session = try makeSession(for: plan) { $0 }
        // Releasing the session would end the request.
        defer { withExtendedLifetime(session) {} }
        let request = plan.request(in: session)
        Retries(sending).apply(to: request)
        let response = await request.serializingData(emptyResponseCodes: Set(100...999)).response
        // Validation only triggers retries.
        if let error = response.error, !error.isResponseValidationError { throw Failure(error, url: plan.url) }
        guard let head = request.responseHead else {
            throw Failure(.other, "No response from \(Redaction.standard.url(plan.url)).")
        }
        return ComparedResponse(head: head, body: response.value ?? request.data ?? Data())
    }
}

/// The options for comparing responses.
struct ComparisonOptions: ParsableArguments {
    @Flag(help: "Compare all header fields, including those that often change.")
    var allFields = false
}
