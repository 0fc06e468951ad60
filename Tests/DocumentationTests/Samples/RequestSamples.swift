import Afar

struct NewUser: Encodable {
    let name: String
    let tags: [String]
}

struct WrongVersion: Error {}

enum RequestSamples {
    static func query() {
        // Requests /search?limit=10&q=sea%20shells
        AF.request("https://api.example.com/search", parameters: ["q": "sea shells", "limit": 10])
            .responseString { response in print(response.value ?? "") }
    }

    static func formAndJSON() async throws {
        let grace = NewUser(name: "Grace", tags: ["admin", "navy"])

        // name=Grace&tags[]=admin&tags[]=navy, with the brackets percent-encoded
        let form = AF.request("https://api.example.com/users", method: .post, parameters: grace)
        // {"name":"Grace","tags":["admin","navy"]}
        let json = AF.request("https://api.example.com/users", method: .post, parameters: grace, encoder: .json)

        print(try await form.serializingString().value)
        print(try await json.serializingString().value)
    }

    static func configuredEncoder() async throws {
        let encoder = URLEncodedFormParameterEncoder(
            encoder: URLEncodedFormEncoder(arrayEncoding: .noBrackets, boolEncoding: .literal),
            destination: .queryString)
        let request = AF.request(
            "https://api.example.com/filter", method: .post, parameters: ["tag": ["a", "b"]], encoder: encoder)
        print(try await request.serializingString().value)
    }

    static func headers() async throws {
        let headers: HTTPHeaders = [
            .authorization(bearerToken: "s3cret"),
            .accept("application/json"),
            HTTPHeader(name: "X-Trace", value: "42"),
        ]
        let text = try await AF.request("https://api.example.com/me", headers: headers).serializingString().value
        print(text)
    }

    static func modifier() async throws {
        let request = AF.request("https://api.example.com/me", requestModifier: { $0.timeoutInterval = 5 })
        print(try await request.serializingString().value)
    }

    static func validation() async throws {
        let text = try await AF.request("https://api.example.com/me")
            .validate(statusCode: [200, 203])
            .validate(contentType: ["text/plain"])
            .validate { _, response, _ in
                response.value(forHTTPHeaderField: "X-Api-Version") == "2" ? .success : .failure(WrongVersion())
            }
            .serializingString()
            .value
        print(text)
    }
}
