import Afar
import AfarJSON
import Foundation

enum FastJSONSamples {
    struct User: Decodable, Sendable {
        var name: String
        var age: Int
    }

    static func decoded() async throws {
        let users = try await AF.request("https://api.example.com/users")
            .validate()
            .serializingDecodable([User].self, decoder: .fastJSON)
            .value
        print("\(users.count) users, fast")
    }

    static func ofSession() -> Session {
        var configuration = SessionConfiguration.default
        configuration.decoder = .fastJSON
        let session = Session(configuration: configuration)
        return session
    }

    static func configured() async throws {
        let decoder = FastJSONDecoder(
            keyDecodingStrategy: .convertFromSnakeCase, dateDecodingStrategy: .iso8601, duplicateKeyStrategy: .reject)
        let response = await AF.request("https://api.example.com/users")
            .serializingDecodable([User].self, decoder: decoder)
            .response
        if case DecodingError.typeMismatch(_, let context)? = response.error?.underlyingError {
            print(context.codingPath.map(\.stringValue), context.debugDescription)
            if let location = context.underlyingError as? JSONLocation { print("line \(location.line)") }
        }
    }
}
