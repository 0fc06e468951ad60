import Afar

enum WatchingSamples {
    static func progress(map: URL) async throws {
        let request = AF.download(map).validate()
        let watcher = Task {
            for await progress in request.downloadProgress(bufferingPolicy: .bufferingNewest(1)) {
                print("\(progress.completedUnitCount) of \(progress.totalUnitCount) bytes")
            }
        }
        let file = try await request.serializingDownloadedFileURL().value
        await watcher.value
        try FileManager.default.removeItem(at: file.deletingLastPathComponent())
    }

    static func decidingAtTheHead() async {
        let response = await AF.request("https://api.example.com/large/50000")
            .onHTTPResponse { response in
                response.expectedContentLength > 10_000 ? .cancel : .allow
            }
            .serializingData()
            .response
        print("Too large: \(response.error?.isExplicitlyCancelledError == true)")
    }

    static func heads() async throws {
        let request = AF.request(
            "https://api.example.com/unstable?failures=1&key=heads", interceptor: Service(token: "s3cret")
        ).validate()
        let heads = request.httpResponses()
        let task = request.serializingString()
        for await response in heads { print("An attempt was answered with \(response.statusCode)") }
        print(try await task.value)
    }

    static func urlRequests() {
        AF.request("https://api.example.com/motd")
            .onURLRequestCreation { urlRequest in print("Sending to \(urlRequest.url?.path ?? "nowhere")") }
            .response { _ in }
    }

    static func curl() async throws {
        let request = AF.request(
            "https://api.example.com/notes", method: .post, parameters: ["text": "it's here"], encoder: .json,
            headers: [.authorization(bearerToken: "s3cret")])
        _ = try await request.serializingString().value
        print(request.cURLDescription(redactingSecrets: true))
    }

    static func tasks() async throws {
        let request = AF.request("https://api.example.com/motd")
        _ = try await request.serializingString().value
        if let task = request.task {
            print("Task received \(task.countOfBytesReceived) bytes, \(task.state == .completed)")
        }
    }
}
