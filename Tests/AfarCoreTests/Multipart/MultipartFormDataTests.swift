import Foundation
import Testing

@testable import AfarCore

/// The encoded bytes of forms, in memory and in files.
@Suite struct MultipartFormDataTests {
    private let scratch = Scratch()

    /// Encodes a form in memory and into a file, and returns the text.
    private func text(of form: MultipartFormData) throws -> String {
        let data = try form.encode()
        let file = scratch.url.appendingPathComponent(UUID().uuidString)
        try form.writeEncodedData(to: file)
        #expect(try Data(contentsOf: file) == data)
        return try #require(String(data: data, encoding: .utf8))
    }

    @Test func aFieldHasOnlyAName() throws {
        let form = MultipartFormData(boundary: "b")
        form.append(Data("Ada".utf8), withName: "user")
        #expect(
            try text(of: form) == """
                --b\r
                Content-Disposition: form-data; name="user"\r
                \r
                Ada\r
                --b--\r

                """)
    }

    @Test func partsAreWrittenInOrder() throws {
        let form = MultipartFormData(boundary: "b")
        form.append(Data("1".utf8), withName: "one", mimeType: "text/x-one")
        form.append(Data("2".utf8), withName: "two", fileName: "2.bin", mimeType: "x/y")
        form.append(try scratch.file("3.json", Data("3".utf8)), withName: "three")
        form.append(try scratch.file("4.json", Data("4".utf8)), withName: "four", fileName: "f", mimeType: "v/w")
        #expect(
            try text(of: form) == """
                --b\r
                Content-Disposition: form-data; name="one"\r
                Content-Type: text/x-one\r
                \r
                1\r
                --b\r
                Content-Disposition: form-data; name="two"; filename="2.bin"\r
                Content-Type: x/y\r
                \r
                2\r
                --b\r
                Content-Disposition: form-data; name="three"; filename="3.json"\r
                Content-Type: application/json\r
                \r
                3\r
                --b\r
                Content-Disposition: form-data; name="four"; filename="f"\r
                Content-Type: v/w\r
                \r
                4\r
                --b--\r

                """)
        #expect(form.contentLength == 4)
    }

    @Test func streamsAreRead() throws {
        let form = MultipartFormData(boundary: "b")
        form.append(
            InputStream(data: Data("ONE".utf8)), withLength: 3, name: "one", fileName: "1", mimeType: "text/plain")
        form.append(InputStream(data: Data("TWO".utf8)), withLength: 3, headers: ["Content-ID": "<two>", "X-A": "b"])
        #expect(form.contentLength == 6)
        #expect(
            try String(decoding: form.encode(), as: UTF8.self) == """
                --b\r
                Content-Disposition: form-data; name="one"; filename="1"\r
                Content-Type: text/plain\r
                \r
                ONE\r
                --b\r
                Content-ID: <two>\r
                X-A: b\r
                \r
                TWO\r
                --b--\r

                """)
    }

    @Test(arguments: [0, 1, 65_536, 1_000_000] as [UInt64], [true, false])
    func aStreamIsReadUpToTheAnnouncedLength(length: UInt64, isInMemory: Bool) throws {
        let requested = Locked(UInt64(0))
        let endless = ScriptedStream { buffer, capacity in
            buffer.update(repeating: UInt8(ascii: "x"), count: capacity)
            requested.withLock { $0 += UInt64(capacity) }
            return capacity
        }
        let form = MultipartFormData(boundary: "b")
        form.append(endless, withLength: length, headers: ["A": "b"])
        form.append(Data("end".utf8), withName: "after")
        let bytes: Data
        if isInMemory {
            bytes = try form.encode()
        } else {
            let scratch = Scratch()
            let file = scratch.url.appendingPathComponent("form")
            try form.writeEncodedData(to: file)
            bytes = try Data(contentsOf: file)
        }
        let content = String(repeating: "x", count: Int(length))
        #expect(bytes.starts(with: Data("--b\r\nA: b\r\n\r\n\(content)\r\n--b\r\n".utf8)))
        #expect(requested.withLock { $0 } == length)
    }

    @Test func aFilesTypeIsDerivedFromItsName() throws {
        let form = MultipartFormData(boundary: "b")
        form.append(Data(), withName: "a", fileName: "a.PNG")
        form.append(Data(), withName: "b", fileName: "nothing")
        let text = try text(of: form)
        #expect(text.contains("filename=\"a.PNG\"\r\nContent-Type: image/png\r\n\r\n"))
        #expect(text.contains("filename=\"nothing\"\r\nContent-Type: application/octet-stream\r\n\r\n"))
    }

    @Test func anEmptyFormIsTheClosingBoundary() throws {
        #expect(try text(of: MultipartFormData(boundary: "b")) == "--b--\r\n")
    }

    @Test func symbolicLinksAreFollowed() throws {
        let file = try scratch.file("long.bin", Data(count: 1_000))
        let link = scratch.url.appendingPathComponent("l.csv")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: file)
        let form = MultipartFormData(boundary: "b")
        form.append(link, withName: "link")
        #expect(form.contentLength == 1_000)
        #expect(try text(of: form).contains("filename=\"l.csv\"\r\nContent-Type: text/csv\r\n\r\n\0\0"))
    }

    @Test func theEncodedLengthMatchesThePrediction() throws {
        let form = MultipartFormData()
        #expect(try form.encoder().length == UInt64(form.encode().count))
        form.append(Data(count: 70_000), withName: "ü", fileName: "\"\r\n")
        form.append(try scratch.file("f", Data(count: 200_000)), withName: "f")
        #expect(try form.encoder().length == UInt64(form.encode().count))
    }

    @Test func overflowingLengthsDoNotTrap() throws {
        let form = MultipartFormData()
        for _ in 0..<2 { form.append(InputStream(data: Data()), withLength: .max, headers: [:]) }
        #expect(form.contentLength == .max)
        #expect(throws: AFError.self) { try form.encode() }
    }

    @Test func filesAndStreamsAreReadInSmallChunks() throws {
        let capacities = Locked<[Int]>([])
        let bytes = (0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 / 256) }
        var given = 0
        let stream = ScriptedStream { buffer, capacity in
            capacities.withLock { $0.append(capacity) }
            let count = min(capacity, bytes.count - given)
            for index in 0..<count { buffer[index] = bytes[given + index] }
            given += count
            return count
        }
        let form = MultipartFormData(boundary: "b")
        form.append(stream, withLength: 1_000_000, headers: [:])
        form.append(try scratch.file("f", Data(bytes)), withName: "f", fileName: "f", mimeType: "x/y")
        let file = scratch.url.appendingPathComponent("form")
        try form.writeEncodedData(to: file)
        let head = "--b\r\nContent-Disposition: form-data; name=\"f\"; filename=\"f\"\r\nContent-Type: x/y\r\n\r\n"
        let expected = [Data("--b\r\n\r\n".utf8), Data(bytes), Data("\r\n\(head)".utf8), Data(bytes)]
        #expect(try Data(contentsOf: file) == Data((expected + [Data("\r\n--b--\r\n".utf8)]).joined()))
        #expect(capacities.withLock { $0.max() } ?? .max <= 65_536)
    }

    @Test func aStreamIsReadByOneOfManyEncodings() async {
        let form = MultipartFormData()
        form.append(InputStream(data: Data(count: 300_000)), withLength: 300_000, headers: [:])
        let successes = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<8 { group.addTask { (try? form.encode()) != nil } }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(successes == 1)
    }

    @Test func appendingFromManyThreadsLosesNothing() async throws {
        let form = MultipartFormData()
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<200 { group.addTask { form.append(Data("\(number)".utf8), withName: "n") } }
        }
        let text = try String(decoding: form.encode(), as: UTF8.self)
        #expect(text.components(separatedBy: "name=\"n\"").count == 201)
    }

    @Test func everyFormHasAUniqueBoundary() {
        let boundaries = (0..<100).map { _ in MultipartFormData().boundary }
        #expect(Set(boundaries).count == 100)
        #expect(boundaries.allSatisfy { MultipartBoundary.isValid($0) && $0.isHTTPToken })
    }

    @Test func theContentTypeNamesTheBoundary() {
        let form = MultipartFormData()
        #expect(form.contentType == "multipart/form-data; boundary=\(form.boundary)")
        #expect(MultipartFormData(boundary: "a=b: c").contentType == "multipart/form-data; boundary=\"a=b: c\"")
        form.contentType = "multipart/mixed; boundary=\(form.boundary)"
        #expect(form.contentType.hasPrefix("multipart/mixed"))
    }

    @Test(arguments: ["0", "simple boundary", "'()+_,-./:=?", String(repeating: "x", count: 70)])
    func aBoundaryThatTheRFCAllowsIsUsed(boundary: String) throws {
        let form = MultipartFormData(boundary: boundary)
        #expect(form.boundary == boundary)
        #expect(try form.encode() == Data("--\(boundary)--\r\n".utf8))
    }

    @Test(
        arguments: [
            "", " ", "x ", "a\r\nX-Evil: 1", "a\nb", "a\0b", "a\"b", "a;b", "ü", "a\tb",
            String(repeating: "x", count: 71),
        ])
    func anInvalidBoundaryIsReplacedAndReported(boundary: String) throws {
        let form = MultipartFormData(boundary: boundary)
        #expect(MultipartBoundary.isValid(form.boundary))
        #expect(form.contentType == "multipart/form-data; boundary=\(form.boundary)")
        form.append(Data(), withName: "a")
        let error = #expect(throws: AFError.self) { try form.encode() }
        guard case .boundaryInvalid(boundary) = error?.underlyingError as? AFError.InvalidForm else {
            Issue.record("\(String(describing: error))")
            return
        }
    }
}
