import AfarCSV
import AfarCore
import AfarSerializers
import AfarTesting
import Foundation
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Requests with CSV responses.
@Suite struct CSVRequestTests {
    private static func session(_ csv: String, type: String = "text/csv", chunkSize: Int? = nil) -> Session {
        Session(
            transport: MockTransport { _ in
                var response = MockResponse.data(Data(csv.utf8), type: type)
                response.chunkSize = chunkSize
                return response
            })
    }

    @Test func rowsAreAwaited() async throws {
        let session = Self.session(Person.csv)
        #expect(
            try await session.request("http://example.com/").serializing(.csv(of: Person.self)).value == Person.people)
        #expect(
            try await session.download("http://example.com/").serializing(.csv(of: Person.self)).value == Person.people)
        let task = session.request("http://example.com/").serializingDecodable([Person].self, decoder: CSVDataDecoder())
        #expect(try await task.value == Person.people)
    }

    @Test func handlersGetRows() async {
        let session = Self.session(Person.csv)
        let queue = DispatchQueue(label: "handlers")
        let rows: [Person]? = await withCheckedContinuation { continuation in
            session.request("http://example.com/").response(.csv(of: Person.self), queue: queue) {
                continuation.resume(returning: $0.value)
            }
        }
        #expect(rows == Person.people)
        let file: [Person]? = await withCheckedContinuation { continuation in
            session.download("http://example.com/").response(.csv(of: Person.self), queue: queue) {
                continuation.resume(returning: $0.value)
            }
        }
        #expect(file == Person.people)
        let factory: [Person]? = await withCheckedContinuation { continuation in
            session.request("http://example.com/").response(queue: queue, responseSerializer: .csv(of: Person.self)) {
                continuation.resume(returning: $0.value)
            }
        }
        #expect(factory == Person.people)
    }

    @Test func theResponsesCharsetIsUsed() async throws {
        var response = MockResponse.data(Data([0x6E, 0x0A, 0xE9, 0x0A]), type: "text/csv; charset=iso-8859-1")
        response.chunkSize = 1
        let session = Session(transport: MockTransport { [response] _ in response })
        #expect(
            try await session.request("http://example.com/").serializing(.csv(of: [String: String].self)).value == [
                ["n": "é"]
            ]
        )
        var streamed: [[String]] = []
        let stream = session.streamRequest("http://example.com/").serializing(.csvRows(of: [String].self))
        for await piece in stream { if let row = piece.value { streamed.append(row) } }
        #expect(streamed == [["é"]])
    }

    @Test func failuresAreDecodingFailures() async {
        let session = Self.session("name,age\nAda\n")
        let error = await session.request("http://example.com/").serializing(.csv(of: Person.self)).response.error
        guard case .responseSerializationFailed(.decodingFailed(let cause)) = error else {
            Issue.record("unexpected error: \(String(describing: error))")
            return
        }
        #expect(cause as? CSVError == CSVError(.fieldCount(found: 1, expected: 2), line: 2, column: nil))
    }

    @Test func anEmptyBodyIsAnErrorByDefault() async throws {
        let session = Session(transport: MockTransport { _ in .status(200) })
        let error = await session.request("http://example.com/").serializing(.csv(of: Person.self)).response.error
        guard case .responseSerializationFailed(.inputDataNilOrZeroLength) = error else {
            Issue.record("unexpected error: \(String(describing: error))")
            return
        }
        let task = session.request("http://example.com/").serializing(.csv(of: Person.self, emptyResponseCodes: [200]))
        #expect(try await task.value.isEmpty)
    }

    @Test(arguments: [1, 2, 3, 10, 1_000])
    func everyRowOfAStreamIsAValue(size: Int) async {
        let session = Self.session(Person.csv + "Bad,row\r\nLast,1,\r\n", chunkSize: size)
        var names: [String] = []
        var errors: [AFError] = []
        for await stream in session.streamRequest("http://example.com/").serializing(.csvRows(of: Person.self)) {
            if let person = stream.value { names.append(person.name) }
            if let error = stream.error { errors.append(error) }
        }
        #expect(names == Person.people.map(\.name) + ["Last"])
        #expect(errors.count == 1)
    }

    @Test func aHandlerReceivesRowsOfAStream() async {
        let session = Self.session(Person.csv)
        let names = Locked<[String]>([])
        await withCheckedContinuation { continuation in
            session.streamRequest("http://example.com/")
                .response(.csvRows(of: Person.self), on: DispatchQueue(label: "handler")) { stream in
                    if let person = stream.value { names.withLock { $0.append(person.name) } }
                    if stream.completion != nil { continuation.resume() }
                }
        }
        #expect(names.withLock { $0 } == Person.people.map(\.name))
    }
}
