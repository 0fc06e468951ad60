import Afar

struct Quote: Decodable {
    let name: String
    let pence: Int
}

struct NotANumber: Error {}

struct Measurements: DataStreamParser {
    private var rest = Data()
    /// Whether the rest of an oversized number is skipped.
    private var isSkipping = false

    mutating func parse(_ chunk: Data) -> [Result<Double, AFError>] {
        var results: [Result<Double, AFError>] = []
        for byte in chunk {
            if byte == UInt8(ascii: ";") {
                if !isSkipping { results.append(number(rest)) }
                rest = Data()
                isSkipping = false
            } else if !isSkipping, rest.count < 100 {
                rest.append(byte)
            } else if !isSkipping {
                results.append(number(nil))
                isSkipping = true
            }
        }
        return results
    }

    private func number(_ text: Data?) -> Result<Double, AFError> {
        guard let text, let number = Double(String(decoding: text, as: UTF8.self)) else {
            return .failure(.responseSerializationFailed(reason: .customSerializationFailed(error: NotANumber())))
        }
        return .success(number)
    }
}

enum EventSamples {
    static func lines() async {
        let request = AF.streamRequest("https://api.example.com/feed").validate()
        for await stream in request.serializing(.jsonLines(of: Note.self)) {
            switch stream.event {
            case .stream(.success(let note)): print("Noted \(note.text)")
            case .stream(.failure(let error)): print("Skipped: \(error.localizedDescription)")
            case .complete(let completion): print(completion.error?.localizedDescription ?? "All notes are there")
            }
        }
    }

    static func handler() {
        AF.streamRequest("https://api.example.com/feed").validate().response(.jsonLines(of: Note.self)) { stream in
            if let note = stream.value { print("Received \(note.text)") }
        }
    }

    static func badLine(_ error: AFError) {
        if let error = error.underlyingError as? JSONStreamError { print("Error in line \(error.number)") }
    }

    static func answer() async throws {
        let request = AF.streamRequest("https://api.example.com/answer", headers: [.accept("text/event-stream")])
        for await stream in request.streamTask().streamingServerSentEvents() {
            if let event = stream.value { print("\(event.event): \(event.data)") }
            if let error = stream.completion?.error { throw error }
        }
    }

    static func question() async throws {
        let request = AF.streamRequest(
            "https://api.example.com/answer", method: .post, parameters: ["question": "What is six times seven?"],
            encoder: .json, headers: [.accept("text/event-stream")])
        for await stream in request.streamTask().streamingServerSentEvents() {
            if let event = stream.value { print("Answered \(event.data)") }
            if let error = stream.completion?.error { throw error }
        }
    }

    static func decoded(_ event: ServerSentEvent) throws -> Quote {
        let price = try event.decode(Quote.self)
        return price
    }

    static func prices() async throws {
        for try await event in AF.serverSentEvents("https://api.example.com/prices") {
            print("Price \(event.id): \(event.data)")
        }
    }

    static func reconnecting() -> EventSource {
        let prices = AF.serverSentEvents(
            "https://api.example.com/prices",
            lastEventID: "41",
            reconnection: .init(delay: .seconds(1), maximumDelay: .seconds(30), maximumFailures: 10))
        return prices
    }

    static func measurements() {
        AF.streamRequest("https://api.example.com/measurements").responseStream(using: Measurements()) { stream in
            if let number = stream.value { print("Measured \(number)") }
        }
    }
}
