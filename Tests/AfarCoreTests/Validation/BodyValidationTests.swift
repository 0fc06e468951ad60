import AfarTesting
import Foundation
import HTTPTypes
import Testing

@testable import AfarCore

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Validators that create their errors from the body of the response.
@Suite(.timeLimit(.minutes(1))) struct BodyValidationTests {
    struct Refusal: Error, Equatable {
        let body: String?
    }

    enum Kind: CaseIterable {
        case data, upload, download, stream
    }

    /// Returns the error of a request and the bytes that it delivered.
    func outcome(
        of kind: Kind, to answer: MockResponse, over session: Session? = nil, _ change: (Request) -> Void
    ) async -> (AFError?, Data) {
        let session = session ?? Session(transport: MockTransport { _ in answer })
        switch kind {
        case .data, .upload:
            let request =
                kind == .data ? session.request("http://mock/") : session.upload(Data("x".utf8), to: "http://mock/")
            change(request)
            let response = await request.serializingResponse(using: Bytes()).response
            return (response.error, response.value ?? Data())
        case .download:
            let request = session.download("http://mock/")
            change(request)
            let response = await request.serializingDownloadedFileURL().response
            return (response.error, response.value.flatMap { try? Data(contentsOf: $0) } ?? Data())
        case .stream:
            let request = session.streamRequest("http://mock/")
            change(request)
            var data = Data()
            var error: AFError?
            for await stream in request.streamTask().streamingData() {
                if let chunk = stream.value { data += chunk }
                if let completion = stream.completion { error = completion.error }
            }
            return (error, data)
        }
    }

    func refuse(_ request: Request, limit: Int = 100) {
        request.validate(readingBodyUpTo: limit) { _, head in
            guard head.status >= 300 else { return nil }
            return { body in Refusal(body: body.map { String(decoding: $0, as: UTF8.self) }) }
        }
    }

    func refusal(_ error: AFError?) -> Refusal? { error?.underlyingError as? Refusal }

    @Test(arguments: Kind.allCases)
    func theBodyOfAnInvalidResponseIsPassed(kind: Kind) async {
        let (error, data) = await outcome(of: kind, to: .text("no tea", status: 418).chunked(into: 2)) { refuse($0) }
        guard case .responseValidationFailed(.customValidationFailed) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(refusal(error) == Refusal(body: "no tea"))
        #expect(error?.responseCode == 418)
        #expect(error?.localizedDescription.contains("no tea") == true)
        #expect(data.isEmpty)
    }

    @Test(arguments: Kind.allCases)
    func theBodyOfAValidResponseIsDelivered(kind: Kind) async {
        let (error, data) = await outcome(of: kind, to: .text("tea").chunked(into: 2)) { refuse($0) }
        #expect(error == nil)
        #expect(data == Data("tea".utf8))
    }

    @Test(arguments: Kind.allCases, [0, 5, 6, .max, .min])
    func aBodyAboveTheLimitIsNil(kind: Kind, limit: Int) async {
        let answer = MockResponse.text("no tea", status: 418).chunked(into: 4)
        let (error, _) = await outcome(of: kind, to: answer) { refuse($0, limit: limit) }
        #expect(refusal(error) == Refusal(body: limit >= 6 ? "no tea" : nil))
    }

    @Test(arguments: Kind.allCases)
    func noBodyIsAnEmptyBody(kind: Kind) async {
        let (error, _) = await outcome(of: kind, to: .status(418)) { refuse($0, limit: 0) }
        #expect(refusal(error) == Refusal(body: ""))
    }

    @Test func anInterruptedStreamIsNil() async {
        let answer = MockResponse.text("no tea", status: 418).chunked(into: 1).interrupted(after: 3)
        let (error, _) = await outcome(of: .stream, to: answer) { refuse($0) }
        #expect(refusal(error) == Refusal(body: nil))
    }

    /// A body that was passed to a closure isn't stored.
    @Test func aConsumedBodyIsEmpty() async {
        let chunks = Locked(Data())
        let (error, _) = await outcome(of: .data, to: .text("no tea", status: 418)) { request in
            (request as? DataRequest)?.stream { chunk in chunks.withLock { $0 += chunk } }
            refuse(request)
        }
        #expect(refusal(error) == Refusal(body: ""))
        #expect(chunks.withLock { $0 } == Data("no tea".utf8))
    }

    @Test(arguments: Kind.allCases)
    func anErrorOfTheValidatorItselfFailsTheRequest(kind: Kind) async {
        let (error, _) = await outcome(of: kind, to: .text("x")) { request in
            request.validate(readingBodyUpTo: 10) { _, _ in throw Refusal(body: "thrown") }
        }
        #expect(refusal(error) == Refusal(body: "thrown"))
    }

    @Test(arguments: Kind.allCases)
    func afErrorsAreNotWrapped(kind: Kind) async {
        let (error, _) = await outcome(of: kind, to: .text("x", status: 404)) { request in
            request.validate(readingBodyUpTo: 10) { _, head in
                { _ in AFError.responseValidationFailed(reason: .unacceptableStatusCode(code: head.status)) }
            }
        }
        #expect(error?.responseCode == 404)
    }

    @Test(arguments: Kind.allCases)
    func validatorsRunInOrder(kind: Kind) async {
        let (first, _) = await outcome(of: kind, to: .text("x", status: 404)) { request in
            request.validate()
            refuse(request)
        }
        #expect(first?.responseCode == 404)
        let (second, _) = await outcome(of: kind, to: .text("x", status: 404)) { request in
            refuse(request)
            request.validate()
        }
        #expect(refusal(second) == Refusal(body: "x"))
    }

    @Test(arguments: Kind.allCases)
    func theRequestAndTheHeadArePassed(kind: Kind) async {
        let urls = Locked<[String?]>([])
        _ = await outcome(of: kind, to: .text("x")) { request in
            request.validate(readingBodyUpTo: 10) { request, head in
                urls.withLock { $0 += [request?.url?.absoluteString, head.url] }
                return nil
            }
        }
        #expect(urls.withLock { $0 } == ["http://mock/", "http://mock/"])
    }

    @Test func monitorsReceiveTheErrorAndTheBytes() async {
        let monitor = ClosureEventMonitor(queue: DispatchQueue(label: "monitor"))
        let results = Deferred<Bool>()
        monitor.requestDidValidateRequestResponseWithResult = { _, _, _, result in
            results.fulfill((result.error as? Refusal)?.body == "no tea")
        }
        let session = Session(
            eventMonitors: [monitor], transport: MockTransport { _ in .text("no tea", status: 418) })
        _ = await outcome(of: .stream, to: .status(200), over: session) { refuse($0) }
        #expect(await results.value)
    }

    /// A stream's body is read only until the idle timeout.
    @Test func aSlowBodyIsNil() async {
        let answer = MockResponse.text("no tea", status: 418).chunked(into: 1, every: .seconds(30))
        let (error, _) = await outcome(of: .stream, to: answer) { request in
            refuse(request)
            request.options { $0.idleTimeout = 0.1 }
        }
        #expect(refusal(error) == Refusal(body: nil))
    }
}
