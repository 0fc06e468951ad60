import AfarTransport
import Foundation
import Testing

@Suite struct TransportErrorTests {
    @Test func theDescriptionIsOneLineWithTheDetails() {
        struct Cause: Error, CustomStringConvertible {
            let description = "the cause"
        }
        let error = TransportError(
            .cannotConnect, phase: .connecting, url: "http://h/", peer: "192.0.2.1:80", message: "no answer",
            systemError: ECONNREFUSED, underlying: Cause())
        #expect(
            error.description
                == "cannotConnect while connecting to http://h/ (peer 192.0.2.1:80): no answer [Connection refused]; "
                + "caused by: the cause")
    }

    @Test func theURLErrorContainsTheErrorAndTheURL() {
        let error = TransportError(.timedOut, phase: .awaitingResponse, url: "http://h/x", message: "late").urlError
        #expect(error.code == .timedOut)
        #expect((error.userInfo[NSUnderlyingErrorKey] as? TransportError)?.phase == .awaitingResponse)
        #expect(error.failingURL?.absoluteString == "http://h/x")
    }
}
