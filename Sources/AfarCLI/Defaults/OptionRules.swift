import ArgumentParser

/// The rules for options that can't be combined. Commands check their options with these rules, and the defaults of the
/// ``DefaultsFile`` that conflict with the command line are left out.
///
/// A name is an option ("--retry"), an option with its value ("--auth negotiate"), a property of the value ("--cert with an
/// archive"), or a command ("bench").
enum OptionRules {
    /// Options that can't be combined with other options.
    struct Conflict: Equatable {
        var options: [String]
        var others: [String]
        /// The reason, as the end of a sentence that begins with the names; usually empty.
        var reason = ""

        /// The explanation for two of the options.
        func text(_ option: String, _ other: String) -> String { "\(option) can't be combined with \(other)\(reason)" }
    }

    /// An option that has no effect without another option.
    struct Requirement: Equatable {
        var options: [String]
        var required: String
        /// Whether the option describes the value of the required one, so that both must come from the same source.
        var describesValue = false
    }

    static let conflicts = [
        Conflict(options: ["--netrc", "--netrc-file"], others: ["--user", "--bearer"]),
        Conflict(options: ["--user", "--auth"], others: ["--bearer"]),
        Conflict(options: ["--user"], others: ["--auth negotiate"]),
        Conflict(options: ["--auth ntlm", "--auth negotiate"], others: ["--transport urlsession"]),
        Conflict(options: ["--key"], others: [archivedCertificate], reason: ", which contains its key"),
        Conflict(options: ["--no-follow"], others: ["--max-redirects"]),
        Conflict(options: ["--ipv4"], others: ["--ipv6"]),
        Conflict(options: ["--session", "--session-read-only"], others: ["--cookie-jar"]),
        Conflict(options: ["--session"], others: ["--session-read-only"]),
        Conflict(
            options: ["--cache"], others: ["--insecure", "--insecure-host"],
            reason: ", because unverified responses aren't cached"),
        Conflict(options: ["--cache"], others: ["--replay"], reason: ", because recorded responses aren't cached"),
        Conflict(options: ["--record"], others: ["--replay"]),
        Conflict(
            options: ["--timing", "--write-out", "--cache", "--har", "--record", "--replay"],
            others: ["--offline"], reason: ", which sends nothing"),
        Conflict(options: ["--curl"], others: ["--offline"], reason: ": both print the request instead of sending it"),
        Conflict(
            options: ["--output", "--remote-name"], others: ["--offline"],
            reason: ", which prints the request; redirect with >"),
        Conflict(
            options: ["--timing", "--write-out", "--report"], others: ["--curl"], reason: ", which sends nothing"),
        Conflict(options: ["--print"], others: ["--headers", "--body", "--meta"]),
        Conflict(options: ["--headers"], others: ["--body", "--meta"]),
        Conflict(options: ["--body"], others: ["--meta"]),
        Conflict(options: ["--output"], others: ["--remote-name"]),
        Conflict(options: ["--stream"], others: ["--sse", "--sse-json"]),
        Conflict(
            options: ["--retry"], others: streaming, reason: ", because a retry can't take back printed output"),
        Conflict(options: ["--headers", printWithoutBody], others: streaming, reason: ", which prints the body"),
        Conflict(
            options: ["--charset"], others: ["--sse", "--sse-json"], reason: ", because events are always UTF-8"),
        Conflict(
            options: ["--output", "--remote-name"], others: ["--sse", "--sse-json"], reason: "; redirect with >"),
        Conflict(
            options: ["--retry", "--cache", "--har", "--record", "--replay"], others: ["bench"],
            reason: ", which measures each request"),
        Conflict(options: ["--requests"], others: ["--duration"]),
        Conflict(options: ["--har", "--cache"], others: ["diff"]),
        Conflict(options: ["--parallel"], others: ["--resume"]),
        Conflict(
            options: [
                "--curl", "--timing", "--include", "--print", "--headers", "--meta", "--write-out", "--offline",
                "--charset",
            ],
            others: ["--resumable"], reason: ", because the upload consists of several requests"),
        Conflict(options: ["--limit-rate"], others: ["ws", "connect"], reason: ", which has no bodies"),
    ]

    static let requirements = [
        Requirement(options: ["--retry-delay", "--retry-all"], required: "--retry"),
        Requirement(options: ["--key", "--passphrase-file"], required: "--cert", describesValue: true),
        Requirement(
            options: CredentialScheme.allCases.filter { $0 != .negotiate }.map { "--auth \($0.rawValue)" },
            required: "--user"),
        Requirement(options: ["--state"], required: "--resumable"),
    ]

    private static let archivedCertificate = "--cert with an archive"
    private static let printWithoutBody = "--print without b"
    private static let streaming = ["--stream", "--sse", "--sse-json"]

    /// Returns the names that the rules use for an option with a value.
    static func names(_ option: String, _ value: String?) -> [String] {
        guard let value else { return [option] }
        var names = [option, "\(option) \(value)"]
        if option == "--cert", SecurityOptions.isArchive(value) { names.append(archivedCertificate) }
        if option == "--print", !value.contains("b") { names.append(printWithoutBody) }
        return names
    }

    /// Returns the explanation of the first conflict between names and others.
    static func conflict(between names: some Collection<String>, and others: some Collection<String>) -> String? {
        for conflict in conflicts {
            for (left, right) in [(conflict.options, conflict.others), (conflict.others, conflict.options)] {
                if let name = left.first(where: names.contains), let other = right.first(where: others.contains) {
                    return left == conflict.options ? conflict.text(name, other) : conflict.text(other, name)
                }
            }
        }
        return nil
    }

    /// Returns the requirement of one of the names, if any.
    static func requirement(of names: some Collection<String>) -> Requirement? {
        requirements.first { $0.options.contains(where: names.contains) }
    }

    /// Checks the options of a command line.
    ///
    /// - Throws: A `ValidationError` that names two options.
    static func check(_ given: Set<String>) throws {
        if let text = conflict(between: given, and: given) { throw ValidationError("\(text). Omit one of them.") }
        for requirement in requirements where !given.contains(requirement.required) {
            if let option = requirement.options.first(where: given.contains) {
                throw ValidationError("\(option) requires \(requirement.required).")
            }
        }
    }
}
