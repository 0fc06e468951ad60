import Afar
import AfarLogging
import Logging

enum DebuggingSamples {
    static func logged() -> Session {
        let session = Session(eventMonitors: [LoggingMonitor(.debug)])
        return session
    }

    static func loggedElsewhere() async throws {
        let log = LoggingMonitor { entry in
            print("HTTP:", entry.message)
        }
        _ = try await AF.request("https://api.example.com/motd").eventMonitor(log).serializingString().value
    }

    static func logger() -> Session {
        var logger = Logger(label: "com.example.weather")
        logger.logLevel = .debug
        let session = Session(eventMonitors: [LoggingMonitor(logger: logger)])
        return session
    }

    static func descriptions() async throws {
        let request = AF.request("https://api.example.com/motd")
        let response = await request.serializingString().response
        print(request)
        print(response)
        debugPrint(response)
        print(response.metrics?.debugDescription ?? "nothing was measured")
    }

    static func phases() async throws {
        let response = await AF.request("https://api.example.com/motd").serializingString().response
        if let last = response.metrics?.transactionMetrics.last, let asked = last.requestStartDate,
            let answered = last.responseStartDate
        {
            print("The server took \(answered.timeIntervalSince(asked)) s to answer")
            print(last.isReusedConnection ? "over a kept connection" : "over a new connection")
        }
    }

    static func forHelp() async throws {
        let request = AF.request("https://api.example.com/motd").validate()
        let response = await request.serializingString().response
        if response.error != nil {
            print(request.cURLDescription(redactingSecrets: true))
            print(request.debugDescription)
        }
    }
}
