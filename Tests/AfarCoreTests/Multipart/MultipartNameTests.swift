import Foundation
import Testing

@testable import AfarCore

/// Names, types and headers from callers, which can contain untrusted input.
@Suite struct MultipartNameTests {
    /// Names and file names with their encoded forms according to the HTML standard.
    static let names: [(given: String, name: String, fileName: String)] = [
        ("plain", "plain", "plain"),
        ("", "", ""),
        ("käse 🧀 日本", "käse 🧀 日本", "käse 🧀 日本"),
        (#"say "hi""#, "say %22hi%22", "say %22hi%22"),
        (#"back\slash\"#, #"back\slash\"#, #"back\slash\"#),
        ("100%22", "100%22", "100%22"),
        ("a\r\nb", "a%0D%0Ab", "a%0D%0Ab"),
        ("a\nb", "a%0D%0Ab", "a%0Ab"),
        ("a\rb", "a%0D%0Ab", "a%0Db"),
        ("\n\r\n\r", "%0D%0A%0D%0A%0D%0A", "%0A%0D%0A%0D"),
        ("\"\r\n\r\n--b--\r\n", "%22%0D%0A%0D%0A--b--%0D%0A", "%22%0D%0A%0D%0A--b--%0D%0A"),
        ("a\tb\u{1}\u{2028}", "a\tb\u{1}\u{2028}", "a\tb\u{1}\u{2028}"),
        ("e\u{301}\r\u{301}", "e\u{301}%0D%0A\u{301}", "e\u{301}%0D\u{301}"),
    ]

    @Test(arguments: names)
    func namesAreQuotedAsInTheHTMLStandard(given: String, name: String, fileName: String) throws {
        let form = MultipartFormData(boundary: "b")
        form.append(Data("x".utf8), withName: given, fileName: given, mimeType: "x/y")
        let head = "--b\r\nContent-Disposition: form-data; name=\"\(name)\"; filename=\"\(fileName)\"\r\n"
        #expect(try form.encode() == Data("\(head)Content-Type: x/y\r\n\r\nx\r\n--b--\r\n".utf8))
    }

    @Test func fileNamesFromURLsAreQuoted() throws {
        let scratch = Scratch()
        let form = MultipartFormData(boundary: "b")
        form.append(try scratch.file("a\"\r\nX: y.txt"), withName: "f")
        let text = try String(decoding: form.encode(), as: UTF8.self)
        #expect(
            text.hasPrefix("--b\r\nContent-Disposition: form-data; name=\"f\"; filename=\"a%22%0D%0AX: y.txt\"\r\n"))
    }

    typealias Append = @Sendable (MultipartFormData) -> Void
    static let refused: [(header: String, append: Append)] = [
        ("Content-Disposition", { $0.append(Data(), withName: "a\0b") }),
        ("Content-Disposition", { $0.append(Data(), withName: "a", fileName: "evil.php\0.png") }),
        ("Content-Type", { $0.append(Data(), withName: "a", mimeType: "text/plain\r\nX-Evil: 1") }),
        ("Content-Type", { $0.append(Data(), withName: "a", mimeType: "text/plain\n\nbody") }),
        ("Content-Type", { $0.append(Data(), withName: "a", fileName: "b", mimeType: "a\0") }),
        (
            "Content-Type",
            { $0.append(InputStream(data: Data()), withLength: 0, name: "a", fileName: "b", mimeType: "\r") }
        ),
        ("X-A", { $0.append(InputStream(data: Data()), withLength: 0, headers: ["X-A": "1\r\nX-Evil: 2"]) }),
        ("X-A\r\nX-Evil", { $0.append(InputStream(data: Data()), withLength: 0, headers: ["X-A\r\nX-Evil": "1"]) }),
        ("X A", { $0.append(InputStream(data: Data()), withLength: 0, headers: ["X A": "1"]) }),
        ("", { $0.append(InputStream(data: Data()), withLength: 0, headers: ["": "1"]) }),
    ]

    @Test(arguments: refused)
    func headerInjectionIsRejected(header: String, append: Append) throws {
        let form = MultipartFormData()
        append(form)
        let error = #expect(throws: AFError.self) { try form.encode() }
        guard case .bodyPartHeadersInvalid(let cause) = error?.underlyingError as? AFError.InvalidForm else {
            Issue.record("\(String(describing: error))")
            return
        }
        switch cause as? AFError.InvalidRequest {
        case .invalidHeaderName(let name), .invalidHeaderValue(let name): #expect(name == header)
        default: Issue.record("\(String(describing: error))")
        }
    }
}
