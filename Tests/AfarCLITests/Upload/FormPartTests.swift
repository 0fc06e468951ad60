import AfarTransport
import Foundation
import Testing

@testable import AfarCLI

struct FormPartTests {
    private let directory: ScratchDirectory
    private var path: String { directory.url.appending(path: "a picture.png").path }

    init() throws {
        directory = try ScratchDirectory()
        try directory.write("x", to: "a picture.png")
        try directory.write("x", to: #"a;"b.txt"#)
    }

    private func file(_ text: String) throws -> [String] {
        guard case .file(let path, let type, let name) = try FormPart("n=@\(text)").content else { return [] }
        return [path, type, name]
    }

    @Test(arguments: ["", "x", "a=b", "a;type=b", "\"quoted\" x", "ü\n "])
    func aValueIsUnchanged(value: String) throws {
        let part = try FormPart("n=\(value)")
        #expect(part.name == "n")
        #expect(part.content == .text(value))
        #expect(part.curlWords(.standard) == ["--form-string", "n=\(value)"])
    }

    @Test func aValueCanBeQuotedAndHaveAType() throws {
        #expect(try FormPart("n=\"@a;b\"").content == .text("@a;b"))
        #expect(try FormPart(#"n="\"\\""#).content == .text(#""\"#))
        let part = try FormPart("n={\"a\":1};type=application/json")
        #expect(part.content == .text("{\"a\":1}", type: "application/json"))
        #expect(part.curlWords(.standard) == ["-F", #"n="{\"a\":1}";type=application/json"#])
    }

    @Test func theMIMETypeIsDerivedFromTheFileName() throws {
        #expect(try file(path) == [path, "image/png", "a picture.png"])
        #expect(try file("\(path);type=x/y") == [path, "x/y", "a picture.png"])
        #expect(try file("\(path);filename=b.gif") == [path, "image/png", "b.gif"])
        #expect(try file("\(path);filename=b;type=x/y") == [path, "x/y", "b"])
    }

    @Test func quotesKeepSemicolons() throws {
        let odd = directory.url.appending(path: #"a;"b.txt"#).path
        let quoted = "\"\(odd.replacing("\"", with: "\\\""))\""
        #expect(try file(quoted) == [odd, "text/plain", #"a;"b.txt"#])
        #expect(
            try file(#"\#(quoted);type="text/plain; charset=x";filename="\\\"""#)
                == [odd, "text/plain; charset=x", #"\""#])
        let words = try FormPart("n=@\(quoted)").curlWords(.standard)
        #expect(words == ["-F", #"n=@\#(quoted);type=text/plain;filename="a;\"b.txt""#])
    }

    @Test(arguments: ["", ";type=x", "/no/such/file", "/", "-", "/dev/null"])
    func aMissingFileIsAUsageError(path: String) throws {
        let failure = #expect(throws: Failure.self) { try FormPart("n=@\(path)") }
        #expect(failure?.status == .usage)
        #expect(failure?.message.hasPrefix("--part n=@\(path): ") == true)
    }

    @Test(arguments: [";other=x", ";type", "; type=x", ";", ";type=\"x", ";filename=\"a\"b"])
    func optionsAfterAPathAreValidated(rest: String) throws {
        let failure = #expect(throws: Failure.self) { try FormPart("n=@\(path)\(rest)") }
        #expect(failure?.status == .usage)
    }

    @Test(arguments: ["n", "=x", ""])
    func aPartHasAName(text: String) {
        #expect(throws: Failure.self) { try FormPart(text) }
    }
}
