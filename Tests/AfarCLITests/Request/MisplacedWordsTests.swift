import AfarTestServer
import ArgumentParser
import Foundation
import Testing

@testable import AfarCLI

/// The errors for command lines whose arguments are in the wrong place.
@Suite(.timeLimit(.minutes(10))) struct MisplacedWordsTests {
    private func errors(_ arguments: [String]) async throws -> String {
        let outcome = try await Tool.run(arguments)
        #expect(outcome.status == 2 && outcome.text == "")
        #expect(outcome.errors.split(separator: "\n").count == 1)
        return outcome.errors
    }

    @Test(arguments: ["--json", "--form", "-b", "-d", "-o", "-H", "-u", "--raw", "-F", "-A", "-X", "--cookie-jar"])
    func anOptionThatReceivesTheURLIsNamed(option: String) async throws {
        for url in ["http://127.0.0.1:1/x?a=1", ":1/x"] {
            let errors = try await errors(["post", option, url])
            #expect(
                errors.contains(
                    "The URL is missing, because \(option) takes the next argument. Write the value of \(option) before"
                ),
                "\(errors)")
        }
    }

    @Test func anItemInsteadOfTheURLIsNamed() async throws {
        let swallowed = try await errors(["post", "--json", "http://127.0.0.1:1/?a=1", "name=secret"])
        #expect(swallowed.contains("because --json takes the next argument") && !swallowed.contains("secret"))
        let missing = try await errors(["post", "name=secret"])
        #expect(missing.contains("\"name=…\" is a request item, not a URL") && !missing.contains("secret"))
    }

    @Test func passwordsAreHidden() async throws {
        let errors = try await errors(["-b", "http://ada:secret@127.0.0.1:1/"])
        #expect(errors.contains("-b takes the next argument") && !errors.contains("secret"))
    }

    @Test(arguments: [
        ["--form", #"{"a":"secret"}"#], [#"{"a":"secret"}"#],
    ])
    func jsonTextBelongsToAnOption(arguments: [String]) async throws {
        let errors = try await errors(["post", ":1/"] + arguments)
        #expect(errors.contains("To send JSON text, write --json '{…}'.") && !errors.contains("secret"), "\(errors)")
    }

    @Test func filesAreNamed() async throws {
        #expect(try await errors(["post", ":1/", "--form", "@a.txt"]).contains("write --raw @a.txt."))
        let item = try await errors(["post", ":1/", "@a.txt"])
        #expect(item.contains("write --raw @a.txt.") && item.contains("write name@a.txt."))
    }

    @Test(arguments: [
        ["--print=", ":1"], [":1", "-i", "--timeout="], ["get", ":1", "--raw", "--json", "--frob="],
        ["ws", ":1", "--protocol="],
    ])
    func anEmptyValueAfterTheEqualsSignIsAnError(arguments: [String]) throws {
        let failure = try #require(throws: Failure.self) { try MisplacedWords.checkValues(in: arguments) }
        let word = try #require(arguments.last { $0.hasSuffix("=") })
        #expect(failure.status == .usage && failure.message.hasPrefix("\(word) has no value."), "\(failure)")
    }

    @Test(arguments: [
        [":1", "--raw", "--print="], [":1", "-d", "--print="], [":1", "--data", "a="], [":1", "--", "--print="],
        [":1", "a=", "--data=a="], ["curl", "--print=", ":1"], [":1", "--user-agent", ""], [":1", "-da="],
    ])
    func otherEmptyValuesAreAccepted(arguments: [String]) throws { try MisplacedWords.checkValues(in: arguments) }

    @Test(arguments: [
        (["upload", ":1", "hush"], "--file FILE"), (["ws", ":1", "hush"], "echo MESSAGE | afar ws URL"),
    ])
    func anArgumentAfterTheURLIsExplained(arguments: [String], part: String) throws {
        let failure = try Failure.ofParsing(arguments)
        #expect(failure.message.contains(part) && !failure.message.contains("hush"), "\(failure)")
    }

    @Test(arguments: [
        (["--form", "POST", ":1/x", "name=Ada"], "--as form"),
        (["--json", "POST", ":1/x", "name=Ada"], "leave it out"),
    ])
    func aMethodIsNoValue(arguments: [String], part: String) throws {
        let command = try RequestCommand<AnyRequest>.parse(arguments)
        let target = try command.target.target(hasMethod: true)
        let failure = try #require(throws: Failure.self) {
            try RequestPlan(target, command.choice, commandMethod: nil, command, command.body)
        }
        #expect(failure.message.contains(part), "\(failure)")
    }

    @Test func theURLPrecedesTheItems() throws {
        let arguments = ["afar", "--form", "name=Ada", "other=hush", ":1/x"]
        let failure = try #require(MisplacedWords.failure(forItemInsteadOfURL: "other=hush", in: arguments))
        #expect(failure.message.contains("For HTTPie's --form, write --as form."), "\(failure)")
        let advice = MisplacedWords.advice(forItem: ":1/x", in: arguments)
        #expect(advice == " It's a URL: write it before the items. For HTTPie's --form, write --as form.")
        #expect(throws: RequestItem.NotAnItem.self) { try RequestItem(":1/x") }
    }

    @Test func aURLIsNoValue() async throws {
        #expect(try await errors([":1/", "--json", "http://h/x"]).contains("write the value of --json before it"))
        #expect(try await errors([":1/", "-H", "http://h/x"]).contains("write the value of -H before it"))
    }

    @Test(arguments: ["http://a", "HTTPS://a/b", ":8080", ":8080/x?y", "localhost:1/"]) func urls(text: String) {
        #expect(MisplacedWords.isURL(text))
    }

    @Test(arguments: ["a=http://b", "a:1", "name", ":x", "http://", "example.com", "localhost", ""])
    func otherTexts(text: String) { #expect(!MisplacedWords.isURL(text)) }

    @Test func namesWithSignsAreNotItems() throws {
        for url in ["http://a=b/", "example.com/?a=1", "example.com?a=1", ":8080/a=1", "a@b"] {
            #expect(MisplacedWords.failure(forItemInsteadOfURL: url, in: []) == nil, "\(url)")
        }
    }
}
