import Afar

/// Somebody's code, which nobody wrote for being tested.
public struct Weather: Decodable, Sendable {
    /// Where.
    public let city: String
    /// The temperature, in degrees Celsius.
    public let degrees: Double

    /// What it is like in a city.
    public static func now(in city: String) async throws -> Weather {
        try await AF.request("https://weather.example/now", parameters: ["city": city]).validate()
            .serializingDecodable(Weather.self).value
    }
}
