import Afar
import Testing

@testable import AfarCLI

struct FailureTests {
    private func failure(_ code: TransportError.Code, phase: TransportError.Phase = .receiving) -> Failure {
        let error = TransportError(code, phase: phase, url: "http://x:1/y", message: "two\nlines")
        return Failure(.sessionTaskFailed(error: error.urlError), url: "http://me:pw@x:1/y")
    }

    @Test(arguments: [
        (TransportError.Code.cannotFindHost, ExitReason.connection), (.cannotConnect, .connection),
        (.notConnected, .connection), (.secureConnectionFailed, .connection), (.certificateUntrusted, .connection),
        (.clientCertificateRequired, .connection), (.timedOut, .timeout), (.bodyIncomplete, .response),
        (.malformedResponse, .response), (.responseTooLarge, .response), (.undecodableContent, .response),
        (.connectionLost, .response), (.unsupportedByTransport, .usage), (.invalidURL, .usage), (.unknown, .other),
        (.outOfResources, .other),
    ])
    func everyCodeHasItsStatusAndOneLine(code: TransportError.Code, status: ExitReason) {
        let failure = failure(code)
        #expect(failure.status == status)
        #expect(!failure.message.contains("\n"))
        #expect(!failure.message.contains("pw"))
    }

    @Test func connectionLostBeforeSendingIsAboutTheConnection() {
        #expect(failure(.connectionLost, phase: .securing).status == .connection)
        #expect(failure(.timedOut, phase: .securing).message.contains("No connection"))
    }

    @Test func otherErrorsNameTheURL() {
        let failure = Failure(.explicitlyCancelled, url: "http://me:pw@x/")
        #expect(failure.status == .other)
        #expect(failure.message.contains("http://***@x/"))
    }

    @Test func theHelpListsEveryStatus() {
        #expect(ExitReason.table.split(separator: "\n").count == ExitReason.allCases.count)
    }
}
