import AfarCore
import AfarSerializers
import AfarTesting
import Foundation
import Testing

/// Text responses with handlers, `await`, downloads and streams.
@Suite struct TextResponseTests {
    private let queue = DispatchQueue(label: "text")
    private let session = Session(
        transport: MockTransport { request in
            let japanese = Data([0x93, 0xFA, 0x96, 0x7B, 0x8C, 0xEA, 0x41, 0x93])
            var response =
                switch request.path {
                case "/sjis": MockResponse.data(japanese.dropLast(), type: "text/plain; charset=Shift_JIS")
                case "/cut": MockResponse.data(japanese, type: "text/plain; charset=Shift_JIS")
                case "/mark": MockResponse.data(Data([0xFE, 0xFF, 0x65, 0xE5]), type: "text/plain; charset=Shift_JIS")
                case "/plain": MockResponse.data(Data("grün".utf8), type: "text/plain")
                case "/martian": MockResponse.data(Data("grün".utf8), type: "text/plain; charset=martian")
                case "/none": MockResponse.status(204)
                default: MockResponse.data(Data([0x67, 0xFC]), type: "text/plain")
                }
            response.chunkSize = 1
            return response
        })

    @Test func handlersAndTasksReportTheEncoding() async throws {
        let request = session.request("http://mock/sjis")
        let handled = Deferred<DecodedText?>()
        request.response(.text, queue: queue) { handled.fulfill($0.value) }
        let text = try await request.serializing(.text).value
        #expect(await handled.value == text)
        #expect(text.text == "日本語A")
        #expect(text.encoding == .shiftJIS)
        #expect(text.reason == .charset)
        #expect(try await session.request("http://mock/sjis").serializingString().value == "日本語A")
        #expect(try await session.request("http://mock/none").serializing(.text).value.text == "")
    }

    @Test func downloadsCanBeText() async throws {
        let request = session.download("http://mock/mark")
        let handled = Deferred<String?>()
        request.response(.text, queue: queue) { handled.fulfill($0.value?.text) }
        let response = await request.serializing(.text).response
        #expect(response.value?.text == "日")
        #expect(response.value?.reason == .byteOrderMark)
        #expect(await handled.value == "日")
        if let file = response.fileURL { try FileManager.default.removeItem(at: file.deletingLastPathComponent()) }
    }

    @Test func customRulesAreUsed() async throws {
        let request = session.request("http://mock/latin")
        #expect(try await request.serializingString().value == "gü")
        #expect(try await request.serializing(.text(decoding: .replacing)).value.malformedOffset == 1)
        #expect(try await request.serializingResponse(using: .string(decoding: .replacing)).value == "g\u{FFFD}")
        #expect(try await request.serializingResponse(using: .text(decoding: .charsetOrLatin1)).value.text == "gü")
        #expect(try await request.serializingResponse(using: .text).value.reason == .fallback)
        let error = await request.serializingResponse(using: .string(decoding: .strict)).response.error
        #expect(error?.isResponseSerializationError == true)
        #expect(error?.failedStringEncoding == .utf8)
        #expect((error?.underlyingError as? TextDecodingError)?.reason == .malformedBytes(encoding: .utf8, offset: 1))
    }

    @Test func anEmptyBodyIsDecodedByTheCallersRules() async throws {
        let request = session.request("http://mock/none")
        let text = try await request.serializing(.text(decoding: TextDecoding(encoding: .shiftJIS))).value
        #expect(text.encoding == .shiftJIS)
        #expect(text.reason == .override)
        #expect(try await request.serializing(.text(decoding: .charsetOrLatin1)).value.encoding == .isoLatin1)
    }

    @Test func foundationsEncodingsAreSupported() async throws {
        let request = session.request("http://mock/mark")
        #expect(try await request.serializingString(encoding: .utf16).value == "日")
        #expect(try await request.serializingString(encoding: .isoLatin1).value == "þÿeå")
        let ascii = await request.serializingString(encoding: .ascii).response
        #expect(ascii.error?.failedStringEncoding == .ascii)
        let lossy = await request.serializingString(encoding: .nonLossyASCII).response
        #expect(lossy.error?.failedStringEncoding == .nonLossyASCII)
    }

    @Test(arguments: [
        ("/sjis", "日本語A"), ("/cut", "日本語A\u{FFFD}"), ("/mark", "日"), ("/plain", "grün"), ("/martian", "grün"),
    ])
    func streamsAreDecodedInTheResponsesEncoding(path: String, expected: String) async {
        var pieces: [String] = []
        for await stream in session.streamRequest("http://mock\(path)").streamTask().streamingStrings() {
            if let piece = stream.value { pieces.append(piece) }
        }
        #expect(pieces.joined() == expected)
        #expect(pieces.count == expected.count)
    }

    @Test func aStreamHandlerReceivesTextInTheResponsesEncoding() async {
        let seen = Locked("")
        await withCheckedContinuation { continuation in
            session.streamRequest("http://mock/sjis").responseStreamString(on: queue) { [seen] stream in
                switch stream.event {
                case .stream(.success(let piece)): seen.withLock { $0 += piece }
                case .complete: continuation.resume()
                }
            }
        }
        #expect(seen.withLock { $0 } == "日本語A")
    }
}
