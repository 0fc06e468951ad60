import Afar
import AfarBodyCodings

enum Notes: URLRequestConvertible {
    case list(page: Int)
    case add(text: String)

    func asURLRequest() throws -> URLRequest {
        let url = "https://api.example.com/notes"
        switch self {
        case .list(let page):
            return try URLEncoding.default.encode(URLRequest(url: url, method: .get), with: ["page": page])
        case .add(let text):
            return try JSONParameterEncoder.default.encode(["text": text], into: URLRequest(url: url, method: .post))
        }
    }
}

struct Filter: Encodable {
    var userName = "Ada L."
    var tags = ["a", "b"]
    var isOpen = true
    var since = Date(timeIntervalSince1970: 0)
    var place = ["city": "London"]
    var page: Int?
}

final class Enveloped: JSONParameterEncoder, @unchecked Sendable {
    override func encode<Parameters: Encodable>(
        _ parameters: Parameters?, into request: URLRequest
    ) throws -> URLRequest {
        guard let parameters else { return request }
        return try super.encode(["data": parameters], into: request)
    }
}

enum EncodingSamples {
    static func router() async throws {
        let page = try await AF.request(Notes.list(page: 2)).serializingString().value
        print(page)
        print(try await AF.request(Notes.add(text: "Buy tea")).serializingString().value)
    }

    static func startedLater() async throws {
        let request = AF.request("https://api.example.com/motd", shouldAutomaticallyResume: false)
        let message = request.serializingString()
        print("\(request.state)")

        request.resume()
        print(try await message.value)
    }

    static func formOptions() throws -> String {
        let form = URLEncodedFormEncoder(
            arrayEncoding: .indexInBrackets,
            boolEncoding: .literal,
            dateEncoding: .iso8601,
            keyEncoding: .convertToSnakeCase,
            keyPathEncoding: .dots,
            nilEncoding: .null,
            spaceEncoding: .plusReplaced)
        let request = AF.request(
            "https://api.example.com/filter", parameters: Filter(),
            encoder: .urlEncodedForm(encoder: form, destination: .queryString))
        _ = request
        return try form.encode(Filter())
    }

    static func oldEncodings() async throws {
        let parameters: Parameters = ["name": "Ada", "tags": ["a", "b"], "open": true]
        let request = AF.request(
            "https://api.example.com/notes", method: .post, parameters: parameters,
            encoding: JSONEncoding(options: .sortedKeys))
        print(try await request.serializingString().value)
    }

    static func enveloped() async throws {
        // {"data":{"text":"Buy tea"}}
        let request = AF.request(
            "https://api.example.com/notes", method: .post, parameters: ["text": "Buy tea"], encoder: Enveloped())
        print(try await request.serializingString().value)
    }

    static func ownBody() async throws {
        var urlRequest = try URLRequest(url: "https://api.example.com/notes", method: .post)
        urlRequest.headers.add(.contentType("text/csv"))
        urlRequest.httpBody = Data("text\nBuy tea\n".utf8)

        print(try await AF.request(urlRequest).serializingString().value)
    }

    static func compressed() async throws {
        let request = AF.request(
            "https://api.example.com/anything", method: .post,
            parameters: ["text": String(repeating: "tea ", count: 1_000)], encoder: .json,
            interceptor: .gzipCompressor(shouldCompressBodyData: { $0.count > 1_000 }))
        _ = try await request.serializingString().value
        print("Sent \(request.request?.httpBody?.count ?? 0 < 200 ? "less" : "more") than 200 bytes")
    }

    static func zstandard(_ events: [String]) async -> AFDataResponse<Data> {
        let response = await AF.request(
            "https://api.example.com/events", method: .post, parameters: events, encoder: .json,
            interceptor: .zstandardCompressor(shouldCompressBodyData: { $0.count > 1_000 })
        ).validate().serializingData().response
        return response
    }

    static func raw() async throws {
        let response = await AF.request("https://api.example.com/gzip")
            .options { $0.decodesContent = false }
            .serializingData()
            .response
        print("\(response.response?.headers["Content-Encoding"] ?? "no coding"): \(response.data?.count ?? 0) bytes")
    }
}
