import Afar
import AfarTestServer
import Foundation
import Testing

/// An app's wrapper methods and types.
@Suite struct WrapperTests {
    private let queue = DispatchQueue(label: "wrappers")

    @Test func defaultArgumentsAreThoseOfTheSerializers() async throws {
        let server = try await TestServer.start()
        let bytes: AFDataResponse<[UInt8]> = await withCheckedContinuation { continuation in
            AF.request(server.url("/bytes/5")).responseByteArray { continuation.resume(returning: $0) }
        }
        #expect(bytes.value?.count == 5)
        let empty: AFDataResponse<[UInt8]> = await withCheckedContinuation { continuation in
            AF.request(server.url("/status/204")).responseByteArray(queue: queue) { continuation.resume(returning: $0) }
        }
        #expect(empty.value == [])
        let head: AFDataResponse<[UInt8]> = await withCheckedContinuation { continuation in
            AF.request(server.url("/get"), method: .head)
                .responseByteArray(emptyRequestMethods: []) { continuation.resume(returning: $0) }
        }
        guard case .responseSerializationFailed(.inputDataNilOrZeroLength)? = head.error else {
            Issue.record("not the missing body: \(head)")
            return
        }
        let model: AFDataResponse<Echo> = await withCheckedContinuation { continuation in
            AF.request(server.url("/get")).responseModel { continuation.resume(returning: $0) }
        }
        #expect(model.value?.method == "GET")
        let text: AFDataResponse<String> = await withCheckedContinuation { continuation in
            AF.request(server.url("/encoding/iso-8859-1")).responseText(queue: queue) {
                continuation.resume(returning: $0)
            }
        }
        #expect(text.value?.isEmpty == false)
        let download: AFDownloadResponse<Echo> = await withCheckedContinuation { continuation in
            AF.download(server.url("/get")).responseModel(of: Echo.self) { continuation.resume(returning: $0) }
        }
        #expect(download.value?.method == "GET")
        await server.stop()
    }

    @Test func aServicesErrorIsAValueOrAFailure() async throws {
        let server = try await TestServer.start()
        server.route("/refused") { _ in
            .content("application/json", Data(#"{"code":7,"reason":"full"}"#.utf8), status: 409)
        }
        let own = ServiceError(code: 7, reason: "full")
        let two = await withCheckedContinuation { continuation in
            AF.request(server.url("/refused")).responseTwoDecodable(of: Echo.self) {
                continuation.resume(returning: $0)
            }
        }
        guard case .success(.failure(own)) = two.result else {
            Issue.record("not the service's: \(two)")
            return
        }
        let validated = await AF.request(server.url("/refused")).validateService().serializingData().response
        guard case let .responseValidationFailed(reason: .customValidationFailed(error))? = validated.error else {
            Issue.record("not the validator's: \(validated)")
            return
        }
        #expect(error as? ServiceError == own)
        #expect(validated.error?.underlyingError as? ServiceError == own)
        #expect(validated.data?.isEmpty == false)
        let plain = await AF.request(server.url("/status/500")).validateService().serializingData().response
        #expect(plain.error?.responseCode == 500)
        await server.stop()
    }

    @Test func aSerializerReceivesTheEarlierError() async throws {
        let closed = await withCheckedContinuation { continuation in
            AF.request("http://127.0.0.1:1/").responseTwoDecodable(of: Echo.self) { continuation.resume(returning: $0) }
        }
        guard case let .success(.failure(error)) = closed.result else {
            Issue.record("not the serializer's value: \(closed)")
            return
        }
        #expect(error.code == -1)
        #expect(closed.response == nil)
    }

    @Test func preprocessorsAndDecodersCanHaveFactories() async throws {
        let server = try await TestServer.start()
        server.route("/guarded") { _ in .content("text/plain", Data(")]}',\n{\"code\":1,\"reason\":\"ok\"}".utf8)) }
        server.route("/pairs") { _ in .content("text/pairs", Data("name=Ada\nborn=1815".utf8)) }
        let error = ServiceError(code: 1, reason: "ok")
        let guarded = AF.request(server.url("/guarded"))
        #expect(try await guarded.serializingDecodable(ServiceError.self, dataPreprocessor: .googleXSSI).value == error)
        #expect(
            try await guarded.serializingDecodable(ServiceError.self, dataPreprocessor: .dropping(6)).value == error)
        let pairs = try await AF.request(server.url("/pairs"))
            .serializingDecodable([String: String].self, decoder: PairDecoder()).value
        #expect(pairs == ["name": "Ada", "born": "1815"])
        let broken = await AF.request(server.url("/text"))
            .serializingDecodable([String: String].self, decoder: PairDecoder()).response
        guard case .responseSerializationFailed(reason: .decodingFailed(error: is DecodingError))? = broken.error else {
            Issue.record("not the decoder's: \(broken)")
            return
        }
        await server.stop()
    }

    @Test func encodersCanHaveFactories() async throws {
        let server = try await TestServer.start()
        let pairs = try await AF.request(
            server.url("/post"), method: .post, parameters: Account(name: "Ada", age: 36), encoder: .pairs
        ).serializingDecodable(Echo.self).value
        #expect(pairs.data == "age=36\nname=Ada")
        #expect(pairs.headers["content-type"] == "text/pairs")
        let parameters: Parameters = [ArrayEncoding.key: [1, 2, 3]]
        let array = try await AF.request(
            server.url("/post"), method: .post, parameters: parameters, encoding: ArrayEncoding()
        ).serializingDecodable(Echo.self).value
        #expect(array.data == "[1,2,3]")
        let words = AF.streamRequest(server.url("/chunked/2")).streamTask().streamingResponses(serializedUsing: .words)
        var all: [String] = []
        for await word in words { all += word.value ?? [] }
        #expect(all == ["chunk", "0", "chunk", "1"])
        await server.stop()
    }
}
