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

    static func many() async throws {
        func names(of ids: [Int]) async throws -> [Int: String] {
            try await withThrowingTaskGroup(of: User.self) { group in
                var names: [Int: String] = [:]
                for (count, id) in ids.enumerated() {
                    if count >= 8, let user = try await group.next() { names[user.id] = user.name }
                    group.addTask {
                        let request = AF.request("https://api.example.com/users/\(id)").validate()
                        return try await request.serializingDecodable(User.self).value
                    }
                }
                for try await user in group { names[user.id] = user.name }
                return names
            }
        }

        print("All of them: \(try await names(of: (0..<20).map { $0 % 2 + 1 }).sorted { $0.key < $1.key })")
        do { print(try await names(of: [1, 0, 2])) } catch { print("Not all of them: \(error)") }
    }

    static func loopInAProgram() async {
        func firstNote() async -> Note? {
            let request = AF.streamRequest("https://api.example.com/feed")
            for await stream in request.serializing(.jsonLines(of: Note.self)) {
                if let note = stream.value { return note }
            }
            return nil
        }

        print(await firstNote()?.text ?? "nothing new")
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
