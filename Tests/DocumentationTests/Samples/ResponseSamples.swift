import Afar

struct Settings: Decodable {
    let theme: String
}

struct CommaSeparated: ResponseSerializer {
    func serialize(
        request: URLRequest?, response: HTTPURLResponse?, data: Data?, error: (any Error)?
    ) throws -> [String] {
        let text = try StringResponseSerializer().serialize(
            request: request, response: response, data: data, error: error)
        return text.split(separator: ",").map(String.init)
    }
}

extension ResponseSerializer where Self == CommaSeparated {
    static var commaSeparated: CommaSeparated { CommaSeparated() }
}

enum ResponseSamples {
    static func string() {
        AF.request("https://api.example.com/motd").responseString { response in
            print(response.value ?? "nothing today")
        }
    }

    static func json() {
        AF.request("https://api.example.com/users/1").responseJSON { response in
            if let user = response.value as? [String: Any], let name = user["name"] {
                print("JSON says \(name)")
            }
        }
    }

    static func decoder() async throws {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let user = try await AF.request("https://api.example.com/users/1")
            .serializingDecodable(User.self, decoder: decoder)
            .value
        print("Decoded \(user.name)")
    }

    static func sessionDecoder(_ decoder: JSONDecoder) -> Session {
        var configuration = SessionConfiguration.default
        configuration.decoder = decoder
        let session = Session(configuration: configuration)
        return session
    }

    static func propertyList() async throws {
        let settings = try await AF.request("https://api.example.com/settings")
            .serializingDecodable(Settings.self, decoder: PropertyListDecoder())
            .value
        print("The theme is \(settings.theme)")
    }

    static func empty() async throws {
        _ = try await AF.request("https://api.example.com/users/1", method: .delete)
            .validate()
            .serializingDecodable(Empty.self)
            .value
        print("Gone")
    }

    static func ownSerializer() {
        AF.request("https://api.example.com/tags").response(responseSerializer: .commaSeparated) { response in
            print(response.value ?? [])
        }
    }

    static func ownSerializerAwaited() async throws {
        let tags = try await AF.request("https://api.example.com/tags")
            .serializingResponse(using: .commaSeparated)
            .value
        print("\(tags.count) tags")
    }

    static func severalHandlers() {
        AF.request("https://api.example.com/users/2")
            .responseDecodable(of: User.self) { response in print("First \(response.value?.name ?? "nobody")") }
            .responseData { response in print("then \(response.value?.count ?? 0) bytes") }
            .response(queue: .global()) { _ in print("and off the main queue") }
    }
}
