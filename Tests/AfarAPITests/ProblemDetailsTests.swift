import AfarAPI
import Foundation
import Testing

/// Problem details (RFC 9457, section 3).
@Suite struct ProblemDetailsTests {
    private func decode(_ json: String) throws -> ProblemDetails {
        try JSONDecoder().decode(ProblemDetails.self, from: Data(json.utf8))
    }

    @Test func allMembersAreDecoded() throws {
        let problem = try decode(
            """
            {"type": "https://example.com/probs/credit", "title": "No credit", "detail": "Your balance is 30.",
             "status": 403, "instance": "/account/1", "balance": 30, "ratio": 0.5, "accounts": ["/a", null, [true]],
             "owner": {"name": "Ada", "age": null}, "large": 18446744073709551615, "empty": {}}
            """)
        #expect(problem.type == "https://example.com/probs/credit")
        #expect(problem.title == "No credit")
        #expect(problem.detail == "Your balance is 30.")
        #expect(problem.status == 403)
        #expect(problem.instance == "/account/1")
        #expect(
            problem.extensions == [
                "balance": .integer(30), "ratio": .number(0.5),
                "accounts": .array([.string("/a"), .null, .array([.bool(true)])]),
                "owner": .object(["name": .string("Ada"), "age": .null]), "large": .number(0x1p64),
                "empty": .object([:]),
            ])
        let encoded = try JSONEncoder().encode(problem)
        #expect(try JSONDecoder().decode(ProblemDetails.self, from: encoded) == problem)
    }

    @Test func missingMembersHaveDefaults() throws {
        #expect(try decode("{}") == ProblemDetails())
        #expect(ProblemDetails().type == "about:blank")
        #expect(ProblemDetails().description == "The server reported a problem")
    }

    @Test func membersOfTheWrongTypeAreIgnored() throws {
        let problem = try decode(
            #"{"type": 1, "title": {"a": 1}, "status": "403", "detail": ["x"], "instance": null, "x": 1}"#)
        var expected = ProblemDetails()
        expected.extensions = ["x": .integer(1)]
        #expect(problem == expected)
    }

    @Test(arguments: ["[]", "1", "\"x\"", "null", "", "{"])
    func otherValuesAreErrors(json: String) {
        #expect(throws: (any Error).self) { try decode(json) }
    }

    @Test func extensionsCannotReplaceMembersInTheEncoding() throws {
        var problem = ProblemDetails()
        problem.status = 400
        problem.extensions = ["status": .integer(500), "code": .string("E1")]
        let decoded = try decode(String(decoding: try JSONEncoder().encode(problem), as: UTF8.self))
        #expect(decoded.status == 400)
        #expect(decoded.extensions == ["code": .string("E1")])
    }

    /// A thread of Dispatch has a small stack.
    @Test(arguments: [9, 10, 11, 400, 10_000])
    func deeplyNestedExtensionsAreIgnored(depth: Int) async {
        let json =
            #"{"title": "x", "y": "# + String(repeating: "[", count: depth) + String(repeating: "]", count: depth) + "}"
        let problem = await withCheckedContinuation { continuation in
            DispatchQueue(label: "decoding").async { continuation.resume(returning: try? decode(json)) }
        }
        // JSONDecoder refuses JSON that is nested more than 512 levels deep.
        #expect(problem?.title == (depth <= 400 ? "x" : nil))
        #expect((problem?.extensions["y"] != nil) == (depth <= 10))
    }

    @Test func numbersThatDontFitAreIgnored() throws {
        let problem = try decode(#"{"title": "x", "y": 1e999, "z": [1e999], "status": 1e999, "n": 1e99}"#)
        #expect(problem.title == "x" && problem.status == nil)
        #expect(problem.extensions == ["n": .number(1e99)])
    }

    @Test func theDescriptionHasTheImportantMembers() throws {
        let problem = try decode(
            #"{"type": "/probs/credit", "title": "No credit", "detail": "Pay.", "status": 403, "instance": "/a"}"#)
        #expect(problem.description == "No credit: Pay. (status 403, /probs/credit, /a)")
        #expect(problem.localizedDescription == problem.description)
        #expect(String(reflecting: problem) == problem.description)
        #expect(try decode(#"{"title": "Not Found", "status": 404}"#).description == "Not Found (status 404)")
    }

    @Test func theDescriptionIsSafeToPrint() throws {
        let problem = try decode(
            #"{"title": "a\u001b[2Jb\u202ec", "detail": "one\r\ntwo", "type": "https://ada:pw@h/?token=x", "instance": "\u0007"}"#
        )
        let description = problem.description
        #expect(!description.unicodeScalars.contains { $0.value < 0x20 || $0 == "\u{202E}" })
        #expect(!description.contains("pw") && !description.contains("token=x"))
        #expect(description.hasPrefix("a\\u001B[2Jb\\u202Ec: one"))
    }

    @Test func longTextIsShortened() {
        var problem = ProblemDetails()
        problem.title = "a" + String(repeating: "\u{301}", count: 60_000)
        problem.detail = String(repeating: "x", count: 60_000)
        problem.instance = "https://" + String(repeating: "s", count: 1_000) + "@host/"
        #expect(problem.description.unicodeScalars.count < 1_000)
        #expect(!problem.description.contains("ss"))
    }
}
