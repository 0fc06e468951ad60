import Afar
import AfarTestServer
import Foundation
import Testing

/// Asynchronous use of requests and their events, as in code for Alamofire 5.
@Suite struct AsyncTests {
    @Test func progress() async throws {
        let server = try await TestServer.start()
        let request = AF.download(server.url("/large/1000"))
        Task {
            for await progress in request.downloadProgress() {
                print(progress.fractionCompleted)
            }
        }
        let reader = Task { () -> Double? in
            var fraction: Double?
            for await progress in request.downloadProgress(bufferingPolicy: .bufferingNewest(1)) {
                fraction = progress.fractionCompleted
            }
            return fraction
        }
        let url = try await request.validate().serializingDownloadedFileURL().value
        defer { try? FileManager.default.removeItem(at: url) }
        #expect(await reader.value == 1)

        let upload = AF.upload(Data("12345".utf8), to: server.url("/post"))
        let stream: StreamOf<Progress> = upload.uploadProgress(bufferingPolicy: .unbounded)
        _ = try await upload.serializingDecodable(Echo.self).value
        var counts: [Int64] = []
        for await progress in stream { counts.append(progress.completedUnitCount) }
        #expect(counts.last == 5)
        await server.stop()
    }

    @Test func requestsTasksAndCommands() async throws {
        let server = try await TestServer.start()
        let request = AF.request(server.url("/get"), parameters: ["a": "b"])
            .cURLDescription { description in debugPrint(description) }
            .cURLDescription(on: .main) { print($0) }
            .onURLRequestCreation { urlRequest in print(urlRequest) }
            .onURLRequestCreation(on: .global()) { print($0.url?.absoluteString ?? "") }
            .onURLSessionTaskCreation { task in print(task.taskIdentifier) }
            .onURLSessionTaskCreation(on: .global(), perform: { task in task.taskDescription = "mine" })
            .validate()
        var urlRequests: [URLRequest] = []
        var tasks: [URLSessionTask] = []
        var commands: [String] = []
        let echo = try await request.serializingDecodable(Echo.self).value
        #expect(echo.method == "GET")
        for await urlRequest in request.urlRequests() { urlRequests.append(urlRequest) }
        for await task in request.urlSessionTasks(bufferingPolicy: .unbounded) { tasks.append(task) }
        for await command in request.cURLDescriptions() { commands.append(command) }
        #expect(urlRequests.map(\.url?.query) == ["a=b"])
        #expect(tasks == request.tasks)
        #expect(commands == [request.cURLDescription()])

        let task: URLSessionTask? = request.task
        #expect(task === request.lastTask)
        #expect(task === request.firstTask)
        #expect(task?.state == .completed)
        #expect((task?.response as? HTTPURLResponse)?.statusCode == 200)
        task?.cancel()
        #expect(request.isFinished)
        await server.stop()
    }

    @Test @MainActor func onTheMainActor() async throws {
        final class ViewModel {
            var fraction = 0.0
            var command = ""
        }
        let server = try await TestServer.start()
        let model = ViewModel()
        let request = AF.upload(Data("12345".utf8), to: server.url("/post"))
        let progress = request.uploadProgress()
        let response = await request.serializingData().response
        #expect(response.error == nil)
        for await progress in progress { model.fraction = progress.fractionCompleted }
        for await command in request.cURLDescriptions() { model.command = command }
        #expect(model.fraction == 1)
        #expect(model.command.hasPrefix("curl "))
        await server.stop()
    }

    @Test func leavingEarly() async throws {
        let server = try await TestServer.start()
        let request = AF.request(server.url("/get"))
        let first = await request.resume().urlRequests().first { _ in true }
        #expect(first?.url?.path == "/get")
        let value = try? await request.serializingDecodable(Echo.self).value
        #expect(value?.method == "GET")
        await server.stop()
    }
}
