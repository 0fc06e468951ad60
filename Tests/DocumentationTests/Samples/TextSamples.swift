import Afar

struct CountingDecoder: DataDecoder {
    let decoder = JSONDecoder()

    func decode<D: Decodable>(_ type: D.Type, from data: Data) throws -> D {
        print("\(data.count) bytes of JSON")
        return try decoder.decode(type, from: data)
    }
}

enum TextSamples {
    static func detected() async throws {
        let text = try await AF.request("https://api.example.com/haiku").serializing(.text).value
        print("\(text.encoding) \(text.reason) \(text.text)")
    }

    static func unknown() async {
        let response = await AF.request("https://api.example.com/martian").serializingString().response
        if let error = response.error?.underlyingError as? TextDecodingError {
            switch error.reason {
            case .unknownCharset(let label): print("Unknown charset: \(label)")
            case .malformedBytes(let encoding, let offset): print("Invalid \(encoding) at byte \(offset)")
            }
        }
    }

    static func replacing() async throws {
        let text = try await AF.request("https://api.example.com/martian")
            .serializing(.text(decoding: .replacing))
            .value
        if let charset = text.unknownCharset { print("\(charset) was ignored: \(text)") }
    }

    static func ownRules() async throws {
        var decoding = TextDecoding.automatic
        decoding.malformedBytes = .fallBack(to: .shiftJIS)
        let text = try await AF.request("https://api.example.com/unlabelled")
            .serializingResponse(using: .string(decoding: decoding))
            .value
        print(text)
    }

    static func decoder() {
        var decoder = TextDecoder(.shiftJIS)
        var text = decoder.decode(Data([0x89]))
        text += decoder.decode(Data([0xCC]))
        text += decoder.finish()
        print(text)
    }

    static func brokenJSON() async {
        let response = await AF.request("https://api.example.com/broken.json").serializingJSON().response
        if let fault = response.error?.underlyingError as? InvalidJSON {
            print("Line \(fault.line), column \(fault.column): \(fault.problem)")
        }
    }

    static func ownDecoder() async throws {
        _ = try await AF.request("https://api.example.com/users/1")
            .serializingDecodable(User.self, decoder: CountingDecoder())
            .value
    }

    static func formats() async {
        let response = await AF.request("https://api.example.com/settings")
            .serializingPropertyList(allowedFormats: [.xml])
            .response
        print((response.error?.underlyingError as? PropertyListError)?.errorDescription ?? "fine")
    }
}
