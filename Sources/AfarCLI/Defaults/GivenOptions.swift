import ArgumentParser

/// A group of options that lists its used options for ``OptionRules``.
protocol OptionNaming {
    /// The names of the options that differ from their defaults. Contains only names that ``OptionRules`` use.
    var given: Set<String> { get }
}

extension OptionNaming {
    /// Returns the names of the options with a value.
    fileprivate func names(_ flags: [(String, Bool)], _ values: [(String, String?)] = []) -> Set<String> {
        Set(flags.filter(\.1).map(\.0) + values.flatMap { $1 == nil ? [] : OptionRules.names($0, $1) })
    }
}

extension SecurityOptions: OptionNaming {
    var given: Set<String> {
        names(
            [
                ("--netrc", netrc), ("--netrc-file", netrcFile != nil), ("--user", user != nil),
                ("--bearer", bearer != nil), ("--key", key != nil), ("--passphrase-file", passphraseFile != nil),
                ("--insecure", insecure), ("--insecure-host", !insecureHost.isEmpty),
            ], [("--auth", auth?.rawValue), ("--cert", cert)])
    }
}

extension SendingOptions: OptionNaming {
    var given: Set<String> {
        names(
            [
                ("--no-follow", !follow), ("--max-redirects", maxRedirects != nil), ("--retry", retry > 0),
                ("--retry-delay", retryDelay != nil), ("--retry-all", retryAll),
                ("--session", session != nil), ("--session-read-only", sessionReadOnly != nil),
                ("--cache", cache != nil),
            ], [("--transport", transport.rawValue)])
    }
}

extension CookieJarOptions: OptionNaming {
    var given: Set<String> { names([("--cookie-jar", cookieJar != nil)]) }
}

extension NetworkOptions: OptionNaming {
    var given: Set<String> {
        names([
            ("--ipv4", addressFamily == .ipv4), ("--ipv6", addressFamily == .ipv6), ("--limit-rate", limitRate != nil),
        ])
    }
}

extension ArchiveOptions: OptionNaming {
    var given: Set<String> {
        names([
            ("--har", har != nil), ("--record", record != nil), ("--replay", replay != nil),
            ("--report", report != nil),
        ])
    }
}

extension InspectionOptions: OptionNaming {
    var given: Set<String> { names([("--verbose", verbose), ("--timing", timing), ("--curl", curl)]) }
}

extension OutputOptions: OptionNaming {
    var given: Set<String> {
        names(
            [
                ("--include", include), ("--headers", headers), ("--body", body), ("--meta", meta),
                ("--offline", offline),
                ("--charset", charset != nil), ("--print", print != nil), ("--write-out", writeOut != nil),
                ("--print without b", print?.contains(.responseBody) == false),
            ])
    }
}

extension OutputFileOptions: OptionNaming {
    var given: Set<String> { names([("--output", output != nil && output != "-"), ("--remote-name", usesRemoteName)]) }
}

extension StreamingOptions: OptionNaming {
    var given: Set<String> { names([("--stream", stream), ("--sse", sse), ("--sse-json", sseJson)]) }
}

extension LoadOptions: OptionNaming {
    var given: Set<String> { names([("--requests", requests != nil), ("--duration", duration != nil)]) }
}

extension FileOptions: OptionNaming {
    var given: Set<String> { names([("--parallel", parallel != nil), ("--resume", resume)]) }
}

extension UploadOptions: OptionNaming {
    var given: Set<String> { names([("--resumable", resumable != nil), ("--state", state != nil)]) }
}

// MARK: - Commands

extension RequestSending {
    /// The names of the command and of its options, as ``OptionRules`` use them.
    var given: Set<String> {
        var groups: [any OptionNaming] = [sending, archive, network, security] + ownOptions
        if let command = self as? any CookieSaving { groups.append(command.jar) }
        if let command = self as? any ResponseCommand { groups += [command.output, command.inspection] }
        var names = groups.reduce(into: Set<String>()) { $0.formUnion($1.given) }
        if let command = self as? any ParsableCommand { names.insert(type(of: command)._commandName) }
        // A response isn't streamed if it's written to a file or if the request is only printed.
        if names.contains("--offline") || !names.isDisjoint(with: ["--output", "--remote-name"]) {
            names.remove("--stream")
        }
        return names
    }

    var ownOptions: [any OptionNaming] { [] }
}

extension RequestCommand {
    var ownOptions: [any OptionNaming] { [streaming, file] }
}

extension Upload {
    var ownOptions: [any OptionNaming] { [upload, file] }
}

extension Download {
    var ownOptions: [any OptionNaming] { [file, inspection] }
}

extension Bench {
    var ownOptions: [any OptionNaming] { [load] }
}
