import Afar
import AfarCSV

enum CSVSamples {
    struct Station: Codable, Sendable {
        var name: String
        var height: Double?
    }

    static func rows() async throws {
        let stations = try await AF.request("https://api.example.com/stations.csv", headers: [.accept("text/csv")])
            .validate()
            .serializing(.csv(of: Station.self))
            .value
        print("\(stations.count) stations, \(stations[0].name) first")
    }

    static func stream() async throws {
        var decoder = CSVDataDecoder(format: .semicolonSeparated, limits: CSVLimits(maximumRowLength: 64 << 10))
        decoder.nilDecodingStrategy = .anyOf(["", "NA"])
        decoder.keyDecodingStrategy = .convertFromSnakeCase

        let request = AF.streamRequest("https://api.example.com/measurements.csv").validate()
        for await stream in request.serializing(.csvRows(of: [String: Double?].self, decoder: decoder)) {
            if let row = stream.value, let height = row["waterLevel"] ?? nil { print("the water is at \(height)") }
            if let error = stream.error { print(error.localizedDescription) }
        }
    }

    static func sent(_ stations: [Station]) async throws -> String {
        let answer = try await AF.request(
            "https://api.example.com/stations", method: .post, parameters: stations,
            encoder: .csv(columns: ["name", "height"])
        ).serializingString().value
        return answer
    }
}
