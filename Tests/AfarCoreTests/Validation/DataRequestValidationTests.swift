import AfarTesting
import Foundation
import HTTPTypes
import Testing

@testable import AfarCore

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite struct DataRequestValidationTests {
    private func response(
        to answer: MockResponse, accept: String? = nil, _ validate: (DataRequest) -> DataRequest
    ) async -> AFDataResponse<Data> {
        let session = Session(transport: MockTransport { _ in answer })
        let headers = accept.map { HTTPHeaders([.accept($0)]) }
        return await validate(session.request("http://mock/", headers: headers))
            .serializingResponse(using: Bytes()).response
    }

    @Test func validationIsOffByDefault() async {
        #expect(await response(to: .status(500)) { $0 }.error == nil)
    }

    @Test func aStatusOutsideTheRangeFails() async {
        let response = await response(to: .status(404)) { $0.validate(statusCode: 200..<300) }
        #expect(response.error?.responseCode == 404)
        #expect(response.response?.statusCode == 404)
    }

    @Test func aStatusInAListPasses() async {
        #expect(await response(to: .status(404)) { $0.validate(statusCode: [200, 404]) }.error == nil)
    }

    @Test(arguments: [
        ("text/plain", true), ("TEXT/*", true), ("*/*", true), ("*/plain", true), ("text/plain;charset=x", true),
        ("application/json", false), ("text/html", false), ("", false), ("nonsense", false),
    ])
    func contentTypesMatchWithWildcards(acceptable: String, passes: Bool) async {
        let response = await response(to: .text("x")) { $0.validate(contentType: [acceptable]) }
        #expect((response.error == nil) == passes)
    }

    @Test func anEmptyBodyMatchesEveryType() async {
        #expect(await response(to: .status(200)) { $0.validate(contentType: ["image/png"]) }.error == nil)
    }

    @Test func aMissingContentTypePassesOnlyAWildcard() async {
        let answer = MockResponse(body: Data("x".utf8))
        #expect(await response(to: answer) { $0.validate(contentType: ["*/*"]) }.error == nil)
        #expect(await response(to: answer) { $0.validate(contentType: ["text/plain"]) }.error != nil)
    }

    @Test func errorsListTheAcceptableContentTypesSorted() async {
        let types = ["text/xml", "application/json", "image/png"]
        for answer in [MockResponse(body: Data("x".utf8)), .text("x")] {
            let error = await response(to: answer) { $0.validate(contentType: types) }.error
            #expect(error?.acceptableContentTypes == types.sorted())
        }
        let error = await response(to: .text("x"), accept: "text/xml, image/*") { $0.validate() }.error
        #expect(error?.acceptableContentTypes == ["image/*", "text/xml"])
    }

    @Test func errorsNameTheMediaTypeWithoutItsParameters() async {
        let answer = MockResponse(fields: [.contentType: "Text/HTML; charset=utf-8"], body: Data("x".utf8))
        let error = await response(to: answer) { $0.validate(contentType: ["text/plain"]) }.error
        #expect(error?.responseContentType == "text/html")
    }

    @Test func theLastOfSeveralContentTypesIsUsed() async {
        var answer = MockResponse(fields: [.contentType: "text/html"], body: Data("x".utf8))
        answer.fields.append(HTTPField(name: .contentType, value: "application/json"))
        #expect(await response(to: answer) { $0.validate(contentType: ["application/json"]) }.error == nil)
        let error = await response(to: answer) { $0.validate(contentType: ["text/html"]) }.error
        #expect(error?.responseContentType == "application/json")
    }

    @Test func quotedCommasDoNotSeparateMediaRanges() async {
        let accept = #"application/json;profile="a, text/*;b", image/png"#
        let error = await response(to: .text("x"), accept: accept) { $0.validate() }.error
        #expect(error?.acceptableContentTypes == [#"application/json;profile="a, text/*;b""#, "image/png"])
    }

    @Test func validateWithoutArgumentsUsesTheAcceptHeader() async {
        #expect(await response(to: .text("x"), accept: "application/json") { $0.validate() }.error != nil)
        #expect(await response(to: .text("x"), accept: "image/png, text/*;q=0.5") { $0.validate() }.error == nil)
        #expect(await response(to: .text("x")) { $0.validate() }.error == nil)
        #expect(await response(to: .status(304)) { $0.validate() }.error?.responseCode == 304)
    }

    @Test func aCustomValidatorReceivesTheDataAndTheFirstFailureWins() async {
        struct TooShort: Error {}
        let later = Locked(false)
        let response = await response(to: .text("x")) { request in
            request
                .validate { _, _, data in (data?.count ?? 0) > 1 ? .success(()) : .failure(TooShort()) }
                .validate { _, _, _ in
                    later.withLock { $0 = true }
                    return .success(())
                }
        }
        guard case .responseValidationFailed(.customValidationFailed(let error)) = response.error else {
            Issue.record("not the validator's error: \(String(describing: response.error))")
            return
        }
        #expect(error is TooShort)
        #expect(!later.withLock { $0 })
        #expect(response.data == Data("x".utf8))
    }

    @Test func validatorsAreSkippedAfterAnError() async {
        let called = Locked(false)
        let response = await response(to: .failure(.connectionLost)) { request in
            request.validate { _, _, _ in
                called.withLock { $0 = true }
                return .success(())
            }
        }
        #expect(response.error?.isSessionTaskError == true)
        #expect(!called.withLock { $0 })
    }
}
