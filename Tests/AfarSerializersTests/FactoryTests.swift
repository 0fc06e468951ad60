import AfarCore
import AfarSerializers
import AfarTesting
import Foundation
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A third-party serializer with a static factory can be used like a built-in one.
private struct LineSerializer: ResponseSerializer {
    func serialize(
        request: URLRequest?, response: HTTPURLResponse?, data: Data?, error: (any Error)?
    ) throws -> [String] {
        if let error { throw error }
        return String(decoding: data ?? Data(), as: UTF8.self).split(separator: "\n").map(String.init)
    }
}

extension ResponseSerializer where Self == LineSerializer {
    fileprivate static var lines: LineSerializer { LineSerializer() }
}

@Suite struct FactoryTests {
    private let session = Session(transport: MockTransport { _ in .json(text: "{\"name\":\n\"Ada\"}") })

    @Test func factoriesCanBePassedAsSerializers() async throws {
        let request = session.request("http://mock/")
        #expect(try await request.serializingResponse(using: .lines).value.count == 2)
        #expect(try await request.serializingResponse(using: .string).value.hasPrefix("{"))
        #expect(try await request.serializingResponse(using: .data).value.count == 15)
        #expect(
            try await request.serializingResponse(using: .decodable(of: SerializerTests.Named.self)).value.name == "Ada"
        )
    }

    @Test func closureAndAsyncMethodsAgree() async throws {
        let request = session.request("http://mock/")
        let queue = DispatchQueue(label: "handlers")
        let strings = Deferred<String?>()
        request.responseString(queue: queue) { strings.fulfill($0.value) }
        let decoded = Deferred<SerializerTests.Named?>()
        request.responseDecodable(of: SerializerTests.Named.self, queue: queue) { decoded.fulfill($0.value) }
        let json = Deferred<Bool>()
        request.responseJSON(queue: queue) { json.fulfill($0.value is [String: Any]) }
        #expect(await strings.value == (try await request.serializingString().value))
        #expect(await decoded.value == (try await request.serializingDecodable(SerializerTests.Named.self).value))
        #expect(await json.value)
        #expect(try await request.serializingJSON().value is [String: Any])
    }

    @Test func aClosureSerializerIsEquivalent() async throws {
        let serializer = ClosureResponseSerializer<Int> { _, response, data, _ in
            (data?.count ?? 0) + (response?.statusCode ?? 0)
        }
        #expect(try await session.request("http://mock/").serializingResponse(using: serializer).value == 215)
    }
}
