import Afar
import AfarTestServer
import Testing

/// Code that forwards serializer options with the library's default arguments.
@Suite struct ResponseWrapperTests {
    private let queue = DispatchQueue(label: "wrapper")

    /// A custom serializer that wraps a `DataResponseSerializer`.
    final class ChecksumSerializer: ResponseSerializer {
        let dataSerializer: DataResponseSerializer
        let dataPreprocessor: DataPreprocessor
        let emptyResponseCodes: Set<Int>
        let emptyRequestMethods: Set<HTTPMethod>

        init(
            dataPreprocessor: DataPreprocessor = DataResponseSerializer.defaultDataPreprocessor,
            emptyResponseCodes: Set<Int> = DataResponseSerializer.defaultEmptyResponseCodes,
            emptyRequestMethods: Set<HTTPMethod> = DataResponseSerializer.defaultEmptyRequestMethods
        ) {
            self.dataPreprocessor = dataPreprocessor
            self.emptyResponseCodes = emptyResponseCodes
            self.emptyRequestMethods = emptyRequestMethods
            dataSerializer = DataResponseSerializer(
                dataPreprocessor: dataPreprocessor, emptyResponseCodes: emptyResponseCodes,
                emptyRequestMethods: emptyRequestMethods)
        }

        func serialize(request: URLRequest?, response: HTTPURLResponse?, data: Data?, error: Error?) throws -> Int {
            let data = try dataSerializer.serialize(request: request, response: response, data: data, error: error)
            return data.reduce(0) { $0 + Int($1) }
        }
    }

    @Test func aWrapperHasTheDefaultsOfTheLibrary() async throws {
        let server = try await TestServer.start()
        let (text, empty, checksum) = await withCheckedContinuation { continuation in
            AF.request(server.url("/text")).responseBytes(queue: queue) { text in
                AF.request(server.url("/status/204")).responseBytes(queue: queue) { empty in
                    AF.request(server.url("/text"))
                        .response(queue: queue, responseSerializer: ChecksumSerializer()) { checksum in
                            continuation.resume(returning: (text, empty, checksum))
                        }
                }
            }
        }
        #expect(text.value?.isEmpty == false)
        #expect(empty.value == Data())
        #expect(checksum.value == text.value?.reduce(0) { $0 + Int($1) })
        let refused = await AF.request(server.url("/bytes/0")).serializingBytes(emptyResponseCodes: []).response
        let allowed = await AF.request(server.url("/bytes/0")).serializingBytes(emptyResponseCodes: [200]).response
        #expect(refused.error?.isResponseSerializationError == true)
        #expect(allowed.value == Data())
        await server.stop()
    }

    @Test func factoriesReturnTheDataSerializerClass() throws {
        let plain: DataResponseSerializer = .data
        let custom: DataResponseSerializer = .data(
            dataPreprocessor: .passthrough, emptyResponseCodes: [201], emptyRequestMethods: [.put])
        #expect(plain.emptyResponseCodes == [204, 205] && plain.emptyRequestMethods == [.head])
        #expect(custom.emptyResponseCodes == [201] && custom.emptyRequestMethods == [.put])
        #expect(try custom.serialize(request: nil, response: nil, data: Data("x".utf8), error: nil) == Data("x".utf8))
    }

    @Test func aClosureIsASerializer() throws {
        let count = ClosureResponseSerializer<Int> { _, _, data, error in
            if let error = error { throw error }
            return data?.count ?? 0
        }
        #expect(try count.serialize(request: nil, response: nil, data: Data("four".utf8), error: nil) == 4)
    }
}

extension DataRequest {
    @discardableResult
    fileprivate func responseBytes(
        queue: DispatchQueue = .main,
        dataPreprocessor: DataPreprocessor = DataResponseSerializer.defaultDataPreprocessor,
        emptyResponseCodes: Set<Int> = DataResponseSerializer.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = DataResponseSerializer.defaultEmptyRequestMethods,
        completionHandler: @escaping @Sendable (AFDataResponse<Data>) -> Void
    ) -> Self {
        responseData(
            queue: queue, dataPreprocessor: dataPreprocessor, emptyResponseCodes: emptyResponseCodes,
            emptyRequestMethods: emptyRequestMethods, completionHandler: completionHandler)
    }

    fileprivate func serializingBytes(
        automaticallyCancelling shouldAutomaticallyCancel: Bool = true,
        dataPreprocessor: DataPreprocessor = DataResponseSerializer.defaultDataPreprocessor,
        emptyResponseCodes: Set<Int> = DataResponseSerializer.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = DataResponseSerializer.defaultEmptyRequestMethods
    ) -> DataTask<Data> {
        serializingData(
            automaticallyCancelling: shouldAutomaticallyCancel, dataPreprocessor: dataPreprocessor,
            emptyResponseCodes: emptyResponseCodes, emptyRequestMethods: emptyRequestMethods)
    }
}
