import Afar
import AfarTestServer
import Foundation
import Testing

/// View models and their closures.
@Suite @MainActor struct ScreenTests {
    private func withItems(_ body: (TestServer) async throws -> Void) async throws {
        let server = try await TestServer.start()
        server.route("/items") { _ in try .json([Item(id: 1, text: "one"), Item(id: 2, text: "two")]) }
        server.route("/item") { _ in try .json(Item(id: 0, text: "line 0")) }
        try await body(server)
        await server.stop()
    }

    @Test func aModelIsFilledByItsHandlers() async throws {
        try await withItems { server in
            let model = ItemsViewModel(base: server.url)
            await withCheckedContinuation { continuation in
                model.onChange = { continuation.resume() }
                model.load()
                #expect(model.isLoading)
            }
            #expect(model.items.map(\.text) == ["one", "two"])
            #expect(!model.isLoading && model.loadingChanges == 2)
            #expect(model.fraction == 1)
            await model.loadLater()
            #expect(model.items.count == 2 && model.errorMessage == nil)
        }
    }

    @Test func aModelShowsAnError() async throws {
        let server = try await TestServer.start()
        let model = ItemsViewModel(base: server.url("/status/500"))
        await withCheckedContinuation { continuation in
            model.onChange = { continuation.resume() }
            model.load()
        }
        #expect(model.errorMessage?.contains("404") == true)
        await server.stop()
        await model.loadLater()
        #expect(model.errorMessage?.isEmpty == false)
    }

    @Test func aModelFollowsAStream() async throws {
        try await withItems { server in
            let model = ItemsViewModel(base: server.url)
            await model.follow()
            #expect(model.lines == ["line 0"])
            await withCheckedContinuation { continuation in model.readLines { continuation.resume() } }
            #expect(model.lines.dropFirst().joined() == "chunk 0\nchunk 1\nchunk 2\n")
            #expect(model.title == "200")
        }
    }

    #if !swift(>=6)
        @Test func aModelsClosuresAreOnItsActor() async throws {
            let server = try await TestServer.start()
            let model = DetailController()
            await withCheckedContinuation { continuation in
                model.finished = { continuation.resume() }
                model.load(server.url("/anything"))
            }
            #expect(model.text.contains("GET") && model.status == 200 && model.lines > 0)
            #expect(model.fraction == 1 && model.error == nil)
            #expect(server.lastRequest(path: "/anything")?.text?.contains(#"name="text""#) == true)
            await server.stop()
        }

        @Test func aControllerIsChangedByItsClosures() async throws {
            try await withItems { server in
                let controller = ItemsController()
                await withCheckedContinuation { continuation in
                    controller.completion = { continuation.resume() }
                    controller.viewDidLoad(url: server.url("/items").absoluteString)
                }
                #expect(controller.items.count == 2 && controller.status == 200)
                #expect(!controller.spinnerIsVisible && controller.completed == 1)
                let result: Result<[Item], AFError> = await withCheckedContinuation { continuation in
                    controller.fetch(server.url("/items").absoluteString) { continuation.resume(returning: $0) }
                }
                #expect((try? result.get())?.count == 2)
                let items = try await controller.awaitItems(server.url("/items").absoluteString, as: [Item].self)
                #expect(items.count == 2)
                let status = await withCheckedContinuation { continuation in
                    controller.send(Item(id: 3, text: "three"), to: server.url("/post").absoluteString) {
                        continuation.resume(returning: $0)
                    }
                }
                #expect(status == 200)
                let echo = await withCheckedContinuation { continuation in
                    controller.post(["a": 1, "b": true], to: server.url("/post").absoluteString) {
                        continuation.resume(returning: $0)
                    }
                }
                let json = echo?["json"] as? [String: Any]
                #expect(json?["b"] as? Bool == true && (json?["nested"] as? [String: [Any]])?["list"]?.count == 3)
                let file = await withCheckedContinuation { continuation in
                    controller.save(server.url("/bytes/10").absoluteString) { continuation.resume(returning: $0) }
                }
                #expect(file?.pathExtension == "saved")
                if let file { try FileManager.default.removeItem(at: file) }
            }
        }
    #endif
}
