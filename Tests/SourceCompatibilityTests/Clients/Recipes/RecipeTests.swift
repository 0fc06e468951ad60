import Afar
import AfarTestServer
import Foundation
import Testing

/// A part of an app: a router, a manager with completion handlers on the main queue, a token and a logger.
@Suite(.serialized) @MainActor struct RecipeTests {
    private func withService(_ body: (TestServer, RecipeManager) async throws -> Void) async throws {
        let server = try await TestServer.start()
        server.route("/recipes", methods: ["GET"]) { request in
            try .json([Recipe(id: 1, name: request.query)])
        }
        server.route("/recipes", methods: ["POST"]) { request in
            try .json(Recipe(id: 2, name: request.text ?? "", servings: 4), status: 201)
        }
        server.route("/recipes/{id}", methods: ["DELETE"]) { _ in .init(status: 204) }
        server.route("/sign-in", methods: ["POST"]) { request in
            guard request.headers["Authorization"] == "Basic YWRhOnNlY3JldA==",
                request.text == "grant_type=password&remember=1"
            else { return .text("no", status: 401) }
            return try .json(["access_token": "t-1"])
        }
        RecipeRouter.baseURLString = server.url.absoluteString
        TokenStore.shared.addAccessToken(nil)
        try await body(server, RecipeManager())
        await server.stop()
    }

    @Test func aListArrivesOnTheMainQueue() async throws {
        try await withService { server, manager in
            let recipes = await withCheckedContinuation { continuation in
                manager.fetchRecipes(tag: "sweet & sour", page: 2) { recipes in
                    dispatchPrecondition(condition: .onQueue(.main))
                    continuation.resume(returning: recipes)
                }
            }
            #expect(recipes == [Recipe(id: 1, name: "page=2&tag=sweet%20%26%20sour")])
        }
    }

    @Test func aRecipeIsAddedAndRemoved() async throws {
        try await withService { server, manager in
            let (recipe, error) = await withCheckedContinuation { continuation in
                manager.add(name: "Bread") { continuation.resume(returning: ($0, $1 as? AFError)) }
            }
            #expect(recipe == Recipe(id: 2, name: #"{"name":"Bread"}"#, servings: 4))
            #expect(error == nil)
            #expect(server.lastRequest(path: "/recipes")?.headers["Content-Type"] == "application/json")
            let status = await withCheckedContinuation { continuation in
                manager.remove(id: 2) { continuation.resume(returning: $0) }
            }
            #expect(status == 204)
        }
    }

    @Test func signedInRequestsSendTheToken() async throws {
        try await withService { server, manager in
            let isIn = await withCheckedContinuation { continuation in
                manager.signIn(name: "ada", password: "secret") { continuation.resume(returning: $0) }
            }
            #expect(isIn)
            _ = await withCheckedContinuation { continuation in
                manager.fetchRecipes(tag: "", page: 0) { continuation.resume(returning: $0) }
            }
            #expect(server.lastRequest(path: "/recipes")?.headers["Authorization"] == "token t-1")
        }
    }

    @Test func aBusyServiceIsRetried() async throws {
        try await withService { server, manager in
            server.route("/recipes/{id}", methods: ["GET"]) { [weak server] request in
                guard server?.requestCount(path: request.path) == 4 else { return .text("busy", status: 503) }
                return try .json(Recipe(id: 7, name: "Soup"))
            }
            let result = await withCheckedContinuation { continuation in
                manager.fetchRecipe(id: 7) { continuation.resume(returning: $0) }
            }
            #expect((try? result.get())?.name == "Soup")
            #expect(manager.interceptor.adapted == 4)
            let log = manager.logger.log
            #expect(log.last == String(describing: result))
            #expect(log.contains("GET \(server.url)/recipes/7 (200)"))
            #expect(log.filter { $0.hasPrefix("started") }.count == 1)
        }
    }

    @Test func aMissingRecipeFailsValidation() async throws {
        try await withService { _, manager in
            let result = await withCheckedContinuation { continuation in
                manager.fetchRecipe(id: 8) { continuation.resume(returning: $0) }
            }
            guard case let .failure(.responseValidationFailed(reason: .unacceptableStatusCode(code: code))) = result
            else {
                Issue.record("not the status: \(result)")
                return
            }
            #expect(code == 405)
        }
    }
}
