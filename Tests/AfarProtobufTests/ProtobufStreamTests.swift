import AfarCore
import AfarProtobuf
import AfarTesting
import Foundation
import SwiftProtobuf
import Testing

/// Streams of length-delimited messages.
@Suite struct ProtobufStreamTests {
    private typealias Text = Google_Protobuf_StringValue

    /// Returns the text of each message or error.
    private static func read(_ bytes: Data, every size: Int, _ maximum: Int = 1 << 20) -> [String] {
        var parser = ProtobufMessagesParser<Text>(options: ProtobufDecodingOptions(maximumSize: maximum))
        var results: [Result<Text, AFError>] = []
        for begin in stride(from: 0, to: bytes.count, by: size) {
            results += parser.parse(bytes.dropFirst(begin).prefix(size))
        }
        results += parser.finish()
        return results.map { result in
            switch result {
            case .success(let text): text.value
            case .failure(let error): "\(error.protobuf.map { "\($0.index ?? -1): \($0.reason)" } ?? "\(error)")"
            }
        }
    }

    @Test func chunkBoundariesDoNotMatter() throws {
        let texts = ["one", "", String(repeating: "long", count: 100), "two"]
        let bytes = try texts.map { try Text($0).delimited }.reduce(Data(), +)
        for size in 1...bytes.count { #expect(Self.read(bytes, every: size) == texts) }
    }

    @Test(arguments: [1, 2, 7, 1_000])
    func parsingContinuesAfterAMalformedMessage(size: Int) throws {
        let large = try Text(String(repeating: "x", count: 200)).delimited
        let bytes = try Text("a").delimited + [0x02, 0x0A, 0x05] + large + Text("b").delimited
        let read = Self.read(bytes, every: size, 100)
        #expect(read.count == 4)
        #expect(read[0] == "a")
        #expect(read[1].hasPrefix("1: malformed"))
        #expect(read[2] == "2: tooLarge(maximum: 100)")
        #expect(read[3] == "b")
    }

    @Test(arguments: [1, 3, 1_000])
    func aMalformedLengthEndsTheStream(size: Int) throws {
        let endless = try Text("a").delimited + Data(repeating: 0xFF, count: 20) + Text("b").delimited
        #expect(Self.read(endless, every: size) == ["a", "1: malformedLength"])
        // A length of 2 GiB.
        let large = Data([0x80, 0x80, 0x80, 0x80, 0x08]) + (try Text("b").delimited)
        #expect(Self.read(large, every: size) == ["0: malformedLength"])
        let largest = Data([0xFF, 0xFF, 0xFF, 0xFF, 0x07]) + (try Text("b").delimited)
        #expect(Self.read(largest, every: size) == ["0: tooLarge(maximum: 1048576)"])
        // A varint can contain redundant zero bytes.
        #expect(Self.read(Data([0x83, 0x80, 0x00, 0x0A, 0x01, 0x63]), every: size) == ["c"])
    }

    @Test func aStreamThatEndsWithinAMessageIsAFailure() throws {
        let bytes = try Text("a").delimited + Text("bcd").delimited
        for count in 1..<5 {
            #expect(Self.read(bytes.dropLast(count), every: 3) == ["a", "1: truncatedStream"])
        }
        #expect(Self.read(Data([0x80]), every: 1) == ["0: truncatedStream"])
        #expect(Self.read(Data(), every: 1).isEmpty)
    }

    @Test(arguments: [1, 5, 1_000])
    func messagesAreStreamed(size: Int) async throws {
        var response = MockResponse.data(
            try ["a", "b"].map { try Text($0).delimited }.reduce(Data(), +), type: "application/x-protobuf")
        response.chunkSize = size
        let session = Session(transport: MockTransport { [response] _ in response })
        var texts: [String] = []
        let request = session.streamRequest("http://example.com/")
        for await stream in request.serializing(.protobufMessages(of: Google_Protobuf_StringValue.self)) {
            if let text = stream.value { texts.append(text.value) }
            #expect(stream.completion?.error == nil)
        }
        #expect(texts == ["a", "b"])
        let handled = Locked<[String]>([])
        await withCheckedContinuation { continuation in
            session.streamRequest("http://example.com/")
                .response(.protobufMessages(of: Google_Protobuf_StringValue.self), on: DispatchQueue(label: "handler"))
            {
                stream in
                if let text = stream.value { handled.withLock { $0.append(text.value) } }
                if stream.completion != nil { continuation.resume() }
            }
        }
        #expect(handled.withLock { $0 } == ["a", "b"])
    }
}
