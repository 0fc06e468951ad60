import Afar

enum RedirectSamples {
    static func configured() -> Session {
        var configuration = SessionConfiguration.default
        configuration.maximumRedirects = 5
        configuration.sensitiveHeaders = ["X-Customer"]
        configuration.allowsInsecureRedirects = true

        let session = Session(configuration: configuration)
        return session
    }

    static func leftAlone() async {
        let request = AF.request("https://api.example.com/moved").redirect(using: .doNotFollow)
        let response = await request.serializingData(emptyResponseCodes: [302]).response
        print("Moved to \(response.response?.headers["Location"] ?? "nowhere")")
    }

    static func modified() async throws {
        let request = AF.request("https://api.example.com/moved")
            .redirect(
                using: .modify { _, request, _ in
                    guard request.url?.scheme == "https" else { return nil }
                    var request = request
                    request.headers.add(name: "X-Trace", value: "moved")
                    return request
                })
        print(try await request.serializingString().value)
    }
}
