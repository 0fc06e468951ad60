import Afar
import Foundation

/// The command line that makes curl send what the tool would send.
struct CurlCommand {
    let plan: RequestPlan
    let options: RequestOptions
    /// Where curl is to write the body; nil for the standard output.
    var destination: Destination?

    enum Destination {
        case path(String)
        /// The name that the server gives, or the URL's last part.
        case nameOfServer
    }

    /// Linux takes no argument of more than 128 KiB; quoting may lengthen a text, too.
    private static let longestArgument = 100_000

    /// The command line, for a POSIX shell.
    func text(_ secrets: Secrets) -> String {
        let body = BodyArgument(plan.body, longest: Self.longestArgument)
        var words = ["curl"]
        words += methodWords
        // curl counts for itself, too.
        for header in plan.headers where header.name.lowercased() != "content-length" {
            let value = secrets.value(header.value, of: header.name)
            words += ["-H", value.isEmpty ? "\(header.name);" : "\(header.name): \(value)"]
        }
        if plan.headers["Accept-Encoding"] == nil { words.append("--compressed") }
        words += body.words
        if let timeout = options.sending.timeout { words += ["--max-time", Self.seconds(timeout)] }
        words += outputWords
        words += urlWords(secrets)
        return body.pipe + words.map(ShellWord.quoted).joined(separator: " ")
    }

    /// As curl reads it, which knows no exponents and takes 0 for no limit.
    private static func seconds(_ seconds: Double) -> String {
        seconds.rounded() == seconds ? String(Int(seconds)) : String(format: "%.3f", max(0.001, seconds))
    }

    private var methodWords: [String] {
        switch plan.method {
        case .get: []
        case .head: ["--head"]
        case .post where plan.body != nil: []
        case .delete where plan.body == nil: ["-X", "DELETE"]
        // Without a body curl would not say that there is none.
        case let method where plan.body == nil: ["-X", method.rawValue, "-H", "Content-Length: 0"]
        case let method: ["-X", method.rawValue]
        }
    }

    private var outputWords: [String] {
        var words: [String] = []
        if options.output.checkStatus { words.append("--fail-with-body") }
        if options.output.include, plan.method != .head { words.append("--include") }
        if options.inspection.verbose { words.append("--verbose") }
        switch destination {
        case nil: break
        case .path(let path): words += ["--output", path]
        case .nameOfServer: words += ["--remote-name", "--remote-header-name"]
        }
        return words
    }

    private func urlWords(_ secrets: Secrets) -> [String] {
        let path = plan.url.prefix { !"?#".contains($0) }
        let hasDots = path.split(separator: "/").contains { $0 == "." || $0 == ".." }
        let hasPattern = plan.url.contains { "[]{}".contains($0) }
        return (hasDots ? ["--path-as-is"] : []) + (hasPattern ? ["--globoff"] : []) + [secrets.url(plan.url)]
    }
}

/// How a body gets to curl: as an argument, from its file, or through a pipe when it is too long or no text.
private struct BodyArgument {
    var pipe = ""
    var words: [String] = []

    init(_ body: Body?, longest: Int) {
        guard let body else { return }
        if let path = body.path {
            words = ["--data-binary", "@\(path == "-" ? "./-" : path)"]
            return
        }
        guard let text = String(data: body.bytes, encoding: .utf8), !text.unicodeScalars.contains(where: Self.isControl)
        else {
            pipe = "printf %s \(body.bytes.base64EncodedString()) | base64 -d | "
            words = ["--data-binary", "@-"]
            return
        }
        guard body.bytes.count <= longest else {
            pipe = "printf %s \(ShellWord.quoted(text)) | "
            words = ["--data-binary", "@-"]
            return
        }
        words = ["--data-raw", text]
    }

    /// What has no business in a command line; the shell would even stop at a NUL.
    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.generalCategory == .control && !["\t", "\n", "\r"].contains(scalar)
    }
}
