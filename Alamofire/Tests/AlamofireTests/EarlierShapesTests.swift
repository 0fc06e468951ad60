import AfarTestServer
import Alamofire
import Testing

/// Initializers, factories and types of Alamofire 4.x.
@Suite struct EarlierShapesTests {
    private let queue = DispatchQueue(label: "earlier")
    private let timeline = Timeline(
        requestStartTime: 1, initialResponseTime: 2, requestCompletedTime: 4, serializationCompletedTime: 7)

    private struct Odd: Error {}

    @Test func responsesWithoutASerializerCanBeCreated() throws {
        let response = HTTPURLResponse(
            url: try "http://localhost/".asURL(), statusCode: 201, httpVersion: nil, headerFields: nil)
        let data = DefaultDataResponse(
            request: nil, response: response, data: Data("x".utf8), error: nil, timeline: timeline, metrics: nil)
        #expect(data.response?.statusCode == 201 && data.data == Data("x".utf8) && data.error == nil)
        #expect(data.timeline.totalDuration == 6 && data.value == Data("x".utf8))
        #expect(DefaultDataResponse(request: nil, response: nil, data: nil, error: Odd()).error != nil)

        let file = URL(fileURLWithPath: "/tmp/file")
        let download = DefaultDownloadResponse(
            request: nil, response: response, temporaryURL: file, destinationURL: nil, resumeData: Data([1]),
            error: nil, timeline: timeline, metrics: nil)
        #expect(download.temporaryURL == file && download.destinationURL == nil && download.fileURL == file)
        #expect(download.resumeData == Data([1]) && download.timeline == timeline)
        let failed = DefaultDownloadResponse(
            request: nil, response: nil, temporaryURL: nil, destinationURL: nil, resumeData: nil, error: Odd())
        #expect(failed.error?.underlyingError is Odd)
    }

    @Test func responsesCanBeCreated() {
        let data = AFDataResponse<Int>(
            request: nil, response: nil, data: nil, result: .success(1), timeline: timeline)
        #expect(data.value == 1 && data.serializationDuration == 3 && data.metrics == nil)
        #expect(DataResponse<Int, AFError>(request: nil, response: nil, data: nil, result: .success(2)).value == 2)
        let file = URL(fileURLWithPath: "/tmp/file")
        let download = AFDownloadResponse<Int>(
            request: nil, response: nil, temporaryURL: nil, destinationURL: file, resumeData: nil,
            result: .success(3), timeline: timeline)
        #expect(download.value == 3 && download.fileURL == file && download.timeline == timeline)
    }

    @Test func requestsHaveFactoriesOfSerializers() async throws {
        let server = try await TestServer.start()
        let (json, text, count) = await withCheckedContinuation { continuation in
            Alamofire.request(server.url("/json"))
                .response(queue: queue, responseSerializer: DataRequest.jsonResponseSerializer()) { json in
                    let isObject = json.value is [String: Any]
                    Alamofire.request(server.url("/json"))
                        .response(
                            queue: queue, responseSerializer: DataRequest.stringResponseSerializer(encoding: .utf8)
                        ) { text in
                            Alamofire.download(server.url("/bytes/100"))
                                .response(
                                    queue: queue, responseSerializer: DownloadRequest.dataResponseSerializer()
                                ) { data in
                                    continuation.resume(returning: (isObject, text.value, data.value?.count))
                                }
                        }
                }
        }
        #expect(json)
        #expect(text?.hasPrefix("{") == true)
        #expect(count == 100)
        #expect(DataRequest.jsonResponseSerializer(options: []).options == [])
        #expect(DataRequest.propertyListResponseSerializer(options: []).options == [])
        #expect(DataRequest.dataResponseSerializer().emptyResponseCodes == [204, 205])
        #expect(DownloadRequest.jsonResponseSerializer().options == .allowFragments)
        #expect(DownloadRequest.stringResponseSerializer().encoding == nil)
        #expect(DownloadRequest.propertyListResponseSerializer().options == [])
        await server.stop()
    }

    /// Collects the completion handlers of requests that wait for a token, as retriers for Alamofire 4.x did.
    final class TokenRetrier: RequestRetrier, @unchecked Sendable {
        private let lock = NSLock()
        private var requestsToRetry: [RequestRetryCompletion] = []

        func retry(
            _ request: Request, for session: Session, dueTo error: Error, completion: @escaping RequestRetryCompletion
        ) {
            guard request.retryCount == 0 else { return completion(.doNotRetry) }
            lock.lock()
            requestsToRetry.append(completion)
            let waiting = requestsToRetry.count == 2 ? requestsToRetry : []
            if !waiting.isEmpty { requestsToRetry = [] }
            lock.unlock()
            waiting.forEach { $0(.retry) }
        }
    }

    @Test func retryCompletionsCanBeStored() async throws {
        let server = try await TestServer.start()
        let session = Session(interceptor: Interceptor(adapters: [], retriers: [TokenRetrier()]))
        let requests = [0, 1].map { _ in session.request(server.url("/status/401")).validate() }
        async let first = requests[0].serializingData().response
        async let second = requests[1].serializingData().response
        _ = await (first, second)
        #expect(requests.map(\.retryCount) == [1, 1])
        await server.stop()
    }

    @Test func typesOfDownloadsAndRequestsHaveTheirNames() throws {
        let destination: DownloadRequest.DownloadFileDestination = { temporaryURL, _ in
            let options: DownloadRequest.DownloadOptions = [.removePreviousFile, .createIntermediateDirectories]
            return (temporaryURL, options)
        }
        let download = Alamofire.download("http://localhost/", shouldAutomaticallyResume: false, to: destination)
        #expect(download.isInitialized)
        let requestable: DataRequest.Requestable = try URLRequest(url: "http://localhost/", method: .get)
        #expect(try requestable.asURLRequest().url == "http://localhost/".asURL())
    }
}
