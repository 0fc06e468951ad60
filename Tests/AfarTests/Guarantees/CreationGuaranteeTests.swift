import Afar
import AfarCore
import AfarTestServer
import Foundation
import Testing

/// Creating a request never throws. If it is invalid, its handlers receive the error.
@Suite struct CreationGuaranteeTests {
    private static let noURL = "http://a b/"

    private struct Broken: Error {}

    private struct FailingConvertible: URLRequestConvertible {
        func asURLRequest() throws -> URLRequest { throw Broken() }
    }

    private struct NotANumber: Encodable {
        let value = Double.nan
    }

    @Test(arguments: TransportKind.allCases)
    func anInvalidURLReachesTheHandlersOfEveryKind(kind: TransportKind) async {
        let session = kind.session()
        let requests = [
            session.request(Self.noURL),
            session.request(Self.noURL, method: .post, parameters: ["a": 1], encoder: .json),
            session.upload(Data("body".utf8), to: Self.noURL),
            session.upload(URL(filePath: "/dev/null"), to: Self.noURL),
            session.upload(InputStream(data: Data("body".utf8)), to: Self.noURL),
            session.upload(multipartFormData: { $0.append(Data("part".utf8), withName: "part") }, to: Self.noURL),
        ]
        for request in requests {
            let response = await request.serializingData().response
            #expect(response.error?.isInvalidURLError == true)
            #expect(response.request == nil)
            #expect(request.isFinished)
        }
        let download = await session.download(Self.noURL).serializingData().response
        #expect(download.error?.isInvalidURLError == true)
        let seen = StreamLog<Data>()
        session.streamRequest(Self.noURL).responseStream(on: seen.queue, stream: seen.note)
        #expect(await seen.completion.error?.isInvalidURLError == true)
    }

    @Test(arguments: TransportKind.allCases)
    func creationErrorsReachTheHandlers(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let session = kind.session()
        let url = server.url("/post")
        let convertible = await session.request(FailingConvertible()).serializingData().response
        #expect(convertible.error?.isCreateURLRequestError == true)
        #expect(convertible.error?.underlyingError is Broken)
        let modified = await session.request(url, requestModifier: { _ in throw Broken() }).serializingData().response
        #expect(modified.error?.underlyingError is Broken)
        let encoding = await session.request(
            url, method: .post, parameters: ["date": Date()], encoding: JSONEncoding.default
        ).serializingData().response
        #expect(encoding.error?.isParameterEncodingError == true)
        let encoder = await session.request(url, method: .post, parameters: NotANumber(), encoder: .json)
            .serializingData().response
        #expect(encoder.error?.isParameterEncodingError == true)
        let part = URL(filePath: "/no/such/part")
        let form = await session.upload(multipartFormData: { $0.append(part, withName: "part") }, to: url)
            .serializingData().response
        #expect(form.error?.isMultipartEncodingError == true)
        #expect(server.requestCount == 0)
        await server.stop()
    }
}
