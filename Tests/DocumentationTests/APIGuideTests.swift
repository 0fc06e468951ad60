import Afar
import AfarAPI
import AfarTesting
import HTTPTypes
import Testing

/// Runs the samples in the guide to API clients and checks their output.
@Suite(.timeLimit(.minutes(1))) struct APIGuideTests {
    private static let problem = #"{"type":"/problems/credit","title":"No credit","status":403,"balance":30}"#

    private static func problem(_ text: String, status: Int) -> MockResponse {
        .data(Data(text.utf8), type: "application/problem+json", status: status)
    }

    @Test(
        .stubs(
            Stub(
                .get, "/repos/ada/engine/issues?state=open",
                .json(text: #"[{"number":1,"title":"Steam"}]"#).adding("Link", "</more>; rel=next")),
            Stub(.get, "/more", problem(#"{"title":"No more steam"}"#, status: 500)),
            Stub(.get, "/orders/9", .json(text: #"{"code":"E9","message":"Sold out"}"#, status: 404)),
            Stub(.post, "/payments", problem(problem, status: 403))))
    func errorsAreDecoded() async throws {
        try await APISamples.issues(of: "ada")
        #expect(await Output.has("#1 Steam"))
        #expect(await Output.has("No more steam"))
        await APISamples.ownError()
        #expect(await Output.has("E9: Sold out"))
        await APISamples.problem()
        #expect(await Output.has("No credit, 403, integer(30)"))
    }

    @Test(
        .stubs(
            Stub(
                .get, "/users?per_page=2",
                .json(text: #"[{"id":1,"name":"Ada"}]"#).adding("X-Total-Pages", "2").adding(
                    "Link", "<?page=2>; rel=next, <?page=2>; rel=last")),
            Stub(.get, "/users?page=2", .json(text: #"[{"id":2,"name":"Grace Hopper"}]"#)),
            Stub(.get, "/files?pageToken=t2", .json(text: #"{"files":["b.txt"]}"#)),
            Stub(.get, "/files", .json(text: #"{"files":["a.txt"],"nextPageToken":"t2"}"#)),
            Stub(.get, "/search/notes?q=tea%20%26%20jam&page=2&tags=a&tags=b", .text("Found tea and jam"))))
    func pagesAreRequestedAndTemplatesExpanded() async throws {
        try await APISamples.users()
        #expect(await Output.has("page 1 of 2: 1"))
        #expect(await Output.has("Grace Hopper"))
        #expect(await Output.has("?page=2"))
        try await APISamples.files(token: "x")
        #expect(await Output.has("b.txt"))
        try await APISamples.search()
        #expect(await Output.has("Found tea and jam"))
    }
}
