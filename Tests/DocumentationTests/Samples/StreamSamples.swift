import Afar
import AfarMultipart

struct Note: Decodable {
    let id: Int
    let text: String
}

struct LineCount: DataStreamSerializer {
    func serialize(_ data: Data) throws -> Int {
        data.count { $0 == UInt8(ascii: "\n") }
    }
}

struct NotANote: Error {}

enum StreamSamples {
    static func parts() async throws {
        for try await part in AF.streamRequest("https://api.example.com/batch").validate().parts() {
            print(part.header.mediaType)
            if part.header.mediaType == "application/json" {
                print(String(decoding: try await part.data(upTo: 100_000), as: UTF8.self))
            } else {
                for try await chunk in part.body { print("\(chunk.count) bytes") }
            }
        }
    }

    static func handler() {
        AF.streamRequest("https://api.example.com/feed").validate().responseStreamString { stream in
            switch stream.event {
            case .stream(.success(let text)): print("Received: \(text)")
            case .complete(let completion): print(completion.error?.localizedDescription ?? "The feed has ended")
            }
        }
    }

    static func awaited() async throws {
        let request = AF.streamRequest("https://api.example.com/feed").validate()
        for await stream in request.serializing(.jsonLines(of: Note.self)) {
            if let error = stream.completion?.error { throw error }
            if let note = stream.value { print("Note \(note.id): \(note.text)") }
        }
    }

    static func conversation() async {
        let (questions, input) = AsyncStream.makeStream(of: Data.self)
        let request = AF.streamRequest(sending: questions, to: "https://api.example.com/conversation")
        input.yield(Data("How deep is the sea?\n".utf8))
        for await stream in request.streamTask().streamingStrings() {
            guard let answer = stream.value else { continue }
            print(answer)
            if answer.contains("meters") { input.finish() } else { input.yield(Data("And in meters?\n".utf8)) }
        }
    }

    static func decodables() async {
        let request = AF.streamRequest("https://api.example.com/one-note")
        for await stream in request.streamTask().streamingDecodables(Note.self) {
            switch stream.event {
            case .stream(.success(let note)): print("Decoded \(note.text)")
            case .stream(.failure(let error)): print("Not a note: \(error)")
            case .complete: print("No more notes")
            }
        }
    }

    static func serializer() {
        AF.streamRequest("https://api.example.com/feed").responseStream(using: LineCount()) { stream in
            if let count = stream.value { print("\(count) lines more") }
        }
    }

    static func throwingHandler() {
        AF.streamRequest("https://api.example.com/feed").responseStream { stream in
            if let data = stream.value, data.first == UInt8(ascii: "{") { throw NotANote() }
            if let end = stream.completion { print("Stopped: \(end.error?.underlyingError is NotANote)") }
        }
    }

    static func leaving() async {
        let request = AF.streamRequest("https://api.example.com/drip?bytes=60&seconds=60")
        for await stream in request.streamTask().streamingData() {
            print("The first \(stream.value?.count ?? 0) bytes are enough")
            break
        }
        print("\(request.state)")
    }

    static func buffered() async {
        let request = AF.streamRequest("https://api.example.com/feed")
        for await stream in request.streamTask().streamingStrings(bufferingPolicy: .bufferingNewest(10)) {
            if let text = stream.value { print("Newest: \(text)") }
        }
    }

    static func inputStream() {
        let request = AF.streamRequest("https://api.example.com/large/100000").validate()
        Thread.detachNewThread {
            guard let input = request.asInputStream(bufferSize: 65_536) else { return }
            input.open()
            defer { input.close() }
            var buffer = [UInt8](repeating: 0, count: 4_096)
            var total = 0
            while case let count = input.read(&buffer, maxLength: buffer.count), count > 0 { total += count }
            print(input.streamError.map { "\($0)" } ?? "Read \(total) bytes")
        }
    }
}
