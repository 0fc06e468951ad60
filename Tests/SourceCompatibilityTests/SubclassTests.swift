import Afar
import AfarTestServer
import Testing

/// Subclasses of open classes, with Alamofire's signatures.
@Suite struct SubclassTests {
    /// A retry policy with custom numbers.
    class PatientPolicy: RetryPolicy, @unchecked Sendable {
        override init(
            retryLimit: UInt = 5,
            exponentialBackoffBase: UInt = RetryPolicy.defaultExponentialBackoffBase,
            exponentialBackoffScale: Double = 0.001,
            retryableHTTPMethods: Set<HTTPMethod> = RetryPolicy.defaultRetryableHTTPMethods,
            retryableHTTPStatusCodes: Set<Int> = [418],
            retryableURLErrorCodes: Set<URLError.Code> = RetryPolicy.defaultRetryableURLErrorCodes
        ) {
            super.init(
                retryLimit: retryLimit, exponentialBackoffBase: exponentialBackoffBase,
                exponentialBackoffScale: exponentialBackoffScale, retryableHTTPMethods: retryableHTTPMethods,
                retryableHTTPStatusCodes: retryableHTTPStatusCodes, retryableURLErrorCodes: retryableURLErrorCodes)
        }

        override func shouldRetry(request: Request, dueTo error: Error) -> Bool {
            super.shouldRetry(request: request, dueTo: error) && error.asAFError?.responseCode == 418
        }
    }

    @Test func aRetryPolicyWithOtherDefaults() async throws {
        let server = try await TestServer.start()
        let policies = [PatientPolicy(), PatientPolicy(retryLimit: 2)]
        for policy in policies {
            let request = AF.request(server.url("/status/418"), interceptor: policy).validate()
            _ = await request.serializingData().response
            #expect(request.retryCount == policy.retryLimit)
        }
        #expect(policies.map(\.retryLimit) == [5, 2])
        #expect(RetryPolicy().retryLimit == 2 && RetryPolicy(retryLimit: 7).retryLimit == 7)
        await server.stop()
    }

    /// A value that isn't Sendable.
    final class Draft: Encodable {
        var title = "draft"
    }

    @Test func encodersTakeValuesThatStayOnOneThread() throws {
        let draft = Draft()
        let request = try URLRequest(url: "http://localhost/", method: .post)
        let json = try JSONParameterEncoder.sortedKeys.encode(draft, into: request)
        let form = try URLEncodedFormParameterEncoder.default.encode(draft, into: request)
        let list = try PropertyListParameterEncoder.default.encode(draft, into: request)
        draft.title = "final"
        #expect(json.httpBody == Data(#"{"title":"draft"}"#.utf8))
        #expect(form.httpBody == Data("title=draft".utf8))
        #expect(list.httpBody?.isEmpty == false)
    }

    /// Custom encoders based on each open one.
    final class StampedJSON: JSONParameterEncoder, @unchecked Sendable {
        override func encode<Parameters: Encodable>(
            _ parameters: Parameters?, into request: URLRequest
        ) throws -> URLRequest {
            var request = try super.encode(parameters, into: request)
            request.headers.add(name: "X-Encoder", value: "json")
            return request
        }
    }

    final class StampedForm: URLEncodedFormParameterEncoder, @unchecked Sendable {
        override func encode<Parameters: Encodable>(
            _ parameters: Parameters?, into request: URLRequest
        ) throws -> URLRequest {
            var request = try super.encode(parameters, into: request)
            request.headers.add(name: "X-Encoder", value: "form")
            return request
        }
    }

    @Test func encodersAreSubclassed() throws {
        let encoders: [ParameterEncoder] = [StampedJSON(), StampedForm()]
        let request = try URLRequest(url: "http://localhost/", method: .post)
        let encoded = try encoders.map { try $0.encode(["a": 1], into: request) }
        #expect(encoded.map { $0.headers["X-Encoder"] } == ["json", "form"])
    }

    @Test func theCharactersOfAFormEncoderCanChange() throws {
        let encoder = URLEncodedFormEncoder()
        let before: String = try encoder.encode(["k": "a/b"])
        encoder.allowedCharacters.remove(charactersIn: "/")
        let after: String = try encoder.encode(["k": "a/b"])
        #expect(before == "k=a/b")
        #expect(after == "k=a%2Fb")
    }

    /// A typical controller of an app. It is isolated to the main actor and sets closures.
    @MainActor final class Controller {
        var lines: [String] = []
        let monitor = ClosureEventMonitor()
        let delegate = SessionDelegate()

        func load(_ url: URL) async {
            let session = Session(delegate: delegate, rootQueue: .main, eventMonitors: [monitor])
            monitor.requestDidResume = { [unowned self] _ in lines.append("resumed") }
            monitor.taskDidComplete = { [unowned self] _, _, error in
                lines.append(error == nil ? "completed" : "failed")
            }
            delegate.taskDidComplete = { [unowned self] _, _, error in lines.append(error == nil ? "told" : "failed") }
            await withCheckedContinuation { continuation in
                monitor.requestDidFinish = { [unowned self] request in
                    lines.append("finished \(request.retryCount)")
                    continuation.resume()
                }
                session.request(url).response { _ in }
            }
        }
    }

    @MainActor @Test func closuresOfMonitorsCanBelongToTheMainActor() async throws {
        let server = try await TestServer.start()
        let controller = Controller()
        await controller.load(server.url("/get"))
        #expect(Set(controller.lines).isSuperset(of: ["resumed", "completed", "told", "finished 0"]))
        await server.stop()
    }
}
