import Afar

@main
struct AppConsumer {
    static func main() async {
        // The discard port is closed.
        let error = await AF.request("http://127.0.0.1:9").serializingData().response.error
        print(
            (error?.underlyingError as? URLError)?.code == .cannotConnectToHost
                ? "nobody is there" : "\(error, default: "")")
    }
}
