import AfarTestServer
import Alamofire
import Foundation
import Testing

/// A client written for Alamofire 4.x.
@Suite(.serialized) struct PhotoTests {
    private func withPhotos(_ body: (TestServer) async throws -> Void) async throws {
        let server = try await TestServer.start()
        server.route("/search") { request in try .json(["photos": [request.query]]) }
        PhotoClient.baseURLString = server.url.absoluteString
        try await body(server)
        await server.stop()
    }

    @Test func aSearchIsAnswered() async throws {
        try await withPhotos { server in
            let client = PhotoClient()
            let photos = await withCheckedContinuation { continuation in
                client.search("black & white", page: 2) { photos in
                    dispatchPrecondition(condition: .onQueue(.main))
                    continuation.resume(returning: photos)
                }
            }
            #expect(photos == ["offset=100&q=black%20%26%20white"])
            #expect(server.lastRequest(path: "/search")?.headers["DNT"]?.hasPrefix("1") == true)
            #expect(server.lastRequest(path: "/search")?.headers["User-Agent"]?.isEmpty == false)
        }
    }

    @Test func responsesExposeTheirParts() async throws {
        try await withPhotos { server in
            let client = PhotoClient()
            server.route("/photos", methods: ["POST"]) { .text($0.text ?? "", status: 201) }
            let created = await withCheckedContinuation { continuation in
                client.create(["name": "Sea"]) { continuation.resume(returning: $0) }
            }
            #expect(created.response?.statusCode == 201 && created.error == nil)
            #expect(created.data == Data(#"{"name":"Sea"}"#.utf8))
            #expect(created.timeline.totalDuration >= created.timeline.requestDuration)
            let (caption, error) = await withCheckedContinuation { continuation in
                client.caption("/basic-auth/ada/lovelace") { continuation.resume(returning: ($0, $1)) }
            }
            #expect(caption?.isEmpty == false && error == nil)
            let uploaded = await withCheckedContinuation { continuation in
                client.upload(Data(repeating: 1, count: 10)) {
                    continuation.resume(returning: ($0 as? [String: Any])?["bytes"] as? Int)
                }
            }
            #expect(uploaded == 10)
        }
    }

    @Test func filesAreFetched() async throws {
        try await withPhotos { _ in
            let client = PhotoClient()
            let file = FileManager.default.temporaryDirectory.appendingPathComponent("photo-\(UUID().uuidString)")
            let destination: DownloadRequest.DownloadFileDestination = { _, _ in
                (file, [.createIntermediateDirectories, .removePreviousFile])
            }
            let options: DownloadRequest.DownloadOptions = [.removePreviousFile]
            #expect(options.contains(.removePreviousFile))
            let fetched = await withCheckedContinuation { continuation in
                client.fetch("/bytes/100", to: destination) { continuation.resume(returning: $0) }
            }
            #expect(fetched.destinationURL == file && fetched.error == nil)
            #expect(try Data(contentsOf: file).count == 100)
            try FileManager.default.removeItem(at: file)
            let temporary = await withCheckedContinuation { continuation in
                client.fetch("/bytes/100") { continuation.resume(returning: $0) }
            }
            let url = try #require(temporary.temporaryURL)
            #expect(try Data(contentsOf: url).count == 100)
            try FileManager.default.removeItem(at: url)
        }
    }

    @Test func aRejectedTokenIsRequestedOnce() async throws {
        try await withPhotos { server in
            server.route("/token", methods: ["POST"]) { _ in try .json(["access_token": "fresh"]) }
            server.route("/search") { request in
                request.headers["Authorization"] == "Bearer fresh"
                    ? try .json(["photos": ["a"]]) : .text("who?", status: 401)
            }
            let handler = TokenHandler()
            let client = PhotoClient(interceptor: handler)
            let (answers, continuation) = AsyncStream.makeStream(of: [String].self)
            for _ in 0..<4 { client.search("x") { continuation.yield($0) } }
            let all = await answers.prefix(4).reduce(into: []) { $0.append($1) }
            #expect(all == [["a"], ["a"], ["a"], ["a"]])
            #expect(handler.refreshes == 1)
        }
    }
}
