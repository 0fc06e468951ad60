import Afar

enum ErrorSamples {
    static func kinds() async {
        let response = await AF.request("https://api.example.com/users/0")
            .validate()
            .serializingDecodable(User.self)
            .response

        switch response.result {
        case .success(let user):
            print(user.name)
        case .failure(.responseValidationFailed(reason: .unacceptableStatusCode(let code))):
            print("The server answered \(code)")
        case .failure(let error) where error.isResponseSerializationError:
            print("Not a user: \(error)")
        case .failure(let error):
            print(error)
        }
    }

    static func causes(url: URL) async {
        do {
            print(try await AF.request(url).serializingString().value)
        } catch let error as AFError {
            guard let urlError = error.underlyingError as? URLError else { return print(error) }
            print(urlError.code == .cannotConnectToHost)

            if let cause = error.transportError {
                print("\(cause.code) while \(cause.phase), peer \(cause.peer ?? "unknown")")
            }
        } catch {
            print("never: every error is an AFError")
        }
    }
}
