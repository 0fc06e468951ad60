import Afar

/// Third-party code that wasn't designed for testing.
public struct Weather: Decodable, Sendable {
    /// The name of the city.
    public let city: String
    /// The temperature, in degrees Celsius.
    public let degrees: Double

    /// Returns the current weather in a city.
    public static func now(in city: String) async throws -> Weather {
        try await AF.request("https://weather.example/now", parameters: ["city": city]).validate()
            .serializingDecodable(Weather.self).value
    }
}
