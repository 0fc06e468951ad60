import Afar
import Foundation

/// The command line that makes curl send what the tool would send.
struct CurlCommand {
    let plan: RequestPlan
    /// In seconds.
    var timeout: Double?
    /// What curl is to do beside sending.
    var options: [String] = []

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
        if let timeout { words += ["--max-time", Self.seconds(timeout)] }
        words += options
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
