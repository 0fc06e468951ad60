import Afar

enum AsyncSamples {
    static func twoAtOnce() async throws {
        async let ada = AF.request("https://api.example.com/users/1").serializingDecodable(User.self).value
        async let grace = AF.request("https://api.example.com/users/2").serializingDecodable(User.self).value
        print(try await "\(ada.name) and \(grace.name)")
    }

    static func wholeResponse() async {
        let response = await AF.request("https://api.example.com/users/1").serializingDecodable(User.self).response
        print("\(response.response?.statusCode ?? 0), \(response.data?.count ?? 0) bytes, \(response.timeline)")
    }

    static func cancelling() async {
        let request = AF.request("https://api.example.com/never")
        let task = Task { await request.serializingString().response }

        task.cancel()

        let response = await task.value
        print("\(request.state), \(response.error?.isExplicitlyCancelledError == true)")
    }

    static func cancellingTheRequest() {
        let request = AF.request("https://api.example.com/never").response { response in
            if case .explicitlyCancelled = response.error { print("We changed our mind") }
        }
        request.cancel()
    }

    static func program() async throws {
        let message = try await AF.request("https://api.example.com/motd").serializingString().value
        print(message)
    }

    static func handlerInAProgram() {
        let done = DispatchSemaphore(value: 0)
        AF.request("https://api.example.com/motd").responseString(queue: .global()) { response in
            print(response.value ?? "nothing")
            done.signal()
        }
        done.wait()
    }
}
