import Afar
import Foundation
import Testing

/// The session's methods that create requests: their labels, order and types, and their default arguments.
///
/// An incompatible change breaks the compilation of an override, a reference or a call. A call that compiles but
/// reaches another overload fails the test.
struct CreatingMethodsTests {
    private let recorder = CreatingMethods(startRequestsImmediately: false)
    // Hides the overrides' own default arguments.
    private var session: Session { recorder }
    private let url = "http://localhost/"
    private let request = URLRequest(url: URL(filePath: "/"))
    private let file = URL(filePath: "/etc/hostname")
    private let body = Data("body".utf8)
    private let form = MultipartFormData()

    private func expect(
        _ method: String, _ calls: (() -> Request)..., sourceLocation: SourceLocation = #_sourceLocation
    ) {
        for call in calls {
            recorder.methods.withLock { $0 = [] }
            _ = call()
            #expect(recorder.methods.withLock { $0.first } == method, sourceLocation: sourceLocation)
        }
    }

    @Test func `data requests have Alamofire's arguments`() {
        let encoding:
            (
                any URLConvertible, HTTPMethod, Parameters?, any ParameterEncoding, HTTPHeaders?,
                (any RequestInterceptor)?, Bool?, Session.RequestModifier?
            ) -> DataRequest = session.request(
                _:method:parameters:encoding:headers:interceptor:shouldAutomaticallyResume:requestModifier:)
        expect(
            "request(_:method:parameters:encoding:headers:interceptor:shouldAutomaticallyResume:requestModifier:)",
            { encoding(url, .get, nil, URLEncoding.default, nil, nil, nil, nil) },
            { session.request(url, encoding: URLEncoding.default) },
            { session.request(url, parameters: ["a": 1, "b": "c"]) },
            {
                session.request(
                    url, method: .get, parameters: ["a": 1, "b": "c"], encoding: URLEncoding.default, headers: nil,
                    interceptor: nil, shouldAutomaticallyResume: nil, requestModifier: { _ in })
            })

        let encoder:
            (
                any URLConvertible, HTTPMethod, [String: Int]?, any ParameterEncoder, HTTPHeaders?,
                (any RequestInterceptor)?, Bool?, Session.RequestModifier?
            ) -> DataRequest = session.request(
                _:method:parameters:encoder:headers:interceptor:shouldAutomaticallyResume:requestModifier:)
        expect(
            "request(_:method:parameters:encoder:headers:interceptor:shouldAutomaticallyResume:requestModifier:)",
            { encoder(url, .get, nil, URLEncodedFormParameterEncoder.default, nil, nil, nil, nil) },
            { session.request(url, parameters: [1, 2]) },
            { session.request(url, parameters: ["a": 1], encoder: JSONParameterEncoder.default) },
            {
                session.request(
                    url, method: .post, parameters: ["a": 1], encoder: .json, headers: [:], interceptor: nil,
                    shouldAutomaticallyResume: nil, requestModifier: { _ in })
            })

        let convertible: (any URLRequestConvertible, (any RequestInterceptor)?, Bool?) -> DataRequest =
            session.request(_:interceptor:shouldAutomaticallyResume:)
        expect(
            "request(_:interceptor:shouldAutomaticallyResume:)",
            { convertible(request, nil, nil) },
            { session.request(request) },
            { session.request(request, interceptor: nil, shouldAutomaticallyResume: nil) })
    }

    @Test func `streams have Alamofire's arguments`() {
        let encoder:
            (
                any URLConvertible, HTTPMethod, [String: Int]?, any ParameterEncoder, HTTPHeaders?, Bool,
                (any RequestInterceptor)?, Bool?, Session.RequestModifier?
            ) -> DataStreamRequest = session.streamRequest(
                _:method:parameters:encoder:headers:automaticallyCancelOnStreamError:interceptor:
                shouldAutomaticallyResume:requestModifier:)
        expect(
            "streamRequest(_:method:parameters:encoder:headers:automaticallyCancelOnStreamError:interceptor:"
                + "shouldAutomaticallyResume:requestModifier:)",
            { encoder(url, .get, nil, URLEncodedFormParameterEncoder.default, nil, false, nil, nil, nil) },
            { session.streamRequest(url, parameters: ["a": 1]) },
            {
                session.streamRequest(
                    url, method: .get, parameters: ["a": 1], encoder: .urlEncodedForm, headers: nil,
                    automaticallyCancelOnStreamError: true, interceptor: nil, shouldAutomaticallyResume: nil,
                    requestModifier: nil)
            })

        let plain:
            (
                any URLConvertible, HTTPMethod, HTTPHeaders?, Bool, (any RequestInterceptor)?, Bool?,
                Session.RequestModifier?
            ) -> DataStreamRequest = session.streamRequest(
                _:method:headers:automaticallyCancelOnStreamError:interceptor:shouldAutomaticallyResume:
                requestModifier:)
        expect(
            "streamRequest(_:method:headers:automaticallyCancelOnStreamError:interceptor:shouldAutomaticallyResume:"
                + "requestModifier:)",
            { plain(url, .get, nil, false, nil, nil, nil) },
            { session.streamRequest(url) },
            {
                session.streamRequest(
                    url, method: .get, headers: nil, automaticallyCancelOnStreamError: true, interceptor: nil,
                    shouldAutomaticallyResume: nil, requestModifier: { _ in })
            })

        let convertible: (any URLRequestConvertible, Bool, (any RequestInterceptor)?, Bool?) -> DataStreamRequest =
            session.streamRequest(_:automaticallyCancelOnStreamError:interceptor:shouldAutomaticallyResume:)
        expect(
            "streamRequest(_:automaticallyCancelOnStreamError:interceptor:shouldAutomaticallyResume:)",
            { convertible(request, false, nil, nil) },
            { session.streamRequest(request) },
            {
                session.streamRequest(
                    request, automaticallyCancelOnStreamError: true, interceptor: nil, shouldAutomaticallyResume: nil)
            })
    }

    @Test func `downloads have Alamofire's arguments`() {
        let encoding:
            (
                any URLConvertible, HTTPMethod, Parameters?, any ParameterEncoding, HTTPHeaders?,
                (any RequestInterceptor)?, Bool?, Session.RequestModifier?, DownloadRequest.Destination?
            ) -> DownloadRequest = session.download(
                _:method:parameters:encoding:headers:interceptor:shouldAutomaticallyResume:requestModifier:to:)
        expect(
            "download(_:method:parameters:encoding:headers:interceptor:shouldAutomaticallyResume:requestModifier:to:)",
            { encoding(url, .get, nil, URLEncoding.default, nil, nil, nil, nil, nil) },
            { session.download(url, encoding: URLEncoding.default) },
            {
                session.download(
                    url, method: .get, parameters: ["a": 1, "b": "c"], encoding: URLEncoding.default, headers: nil,
                    interceptor: nil, shouldAutomaticallyResume: nil, requestModifier: nil,
                    to: DownloadRequest.suggestedDownloadDestination())
            })

        let encoder:
            (
                any URLConvertible, HTTPMethod, [String: Int]?, any ParameterEncoder, HTTPHeaders?,
                (any RequestInterceptor)?, Bool?, Session.RequestModifier?, DownloadRequest.Destination?
            ) -> DownloadRequest = session.download(
                _:method:parameters:encoder:headers:interceptor:shouldAutomaticallyResume:requestModifier:to:)
        expect(
            "download(_:method:parameters:encoder:headers:interceptor:shouldAutomaticallyResume:requestModifier:to:)",
            { encoder(url, .get, nil, URLEncodedFormParameterEncoder.default, nil, nil, nil, nil, nil) },
            { session.download(url, parameters: [1, 2]) },
            {
                session.download(
                    url, method: .get, parameters: ["a": 1], encoder: .urlEncodedForm, headers: nil, interceptor: nil,
                    shouldAutomaticallyResume: nil, requestModifier: nil, to: nil)
            })

        let convertible:
            (any URLRequestConvertible, (any RequestInterceptor)?, Bool?, DownloadRequest.Destination?)
                -> DownloadRequest = session.download(_:interceptor:shouldAutomaticallyResume:to:)
        expect(
            "download(_:interceptor:shouldAutomaticallyResume:to:)",
            { convertible(request, nil, nil, nil) },
            { session.download(request) },
            { session.download(request, interceptor: nil, shouldAutomaticallyResume: nil, to: nil) })

        let resuming: (Data, (any RequestInterceptor)?, Bool?, DownloadRequest.Destination?) -> DownloadRequest =
            session.download(resumingWith:interceptor:shouldAutomaticallyResume:to:)
        expect(
            "download(resumingWith:interceptor:shouldAutomaticallyResume:to:)",
            { resuming(body, nil, nil, nil) },
            { session.download(resumingWith: body) },
            { session.download(resumingWith: body, interceptor: nil, shouldAutomaticallyResume: nil, to: nil) })
    }

    @Test func `uploads of data and files have Alamofire's arguments`() {
        let data:
            (
                Data, any URLConvertible, HTTPMethod, HTTPHeaders?, (any RequestInterceptor)?, Bool?, FileManager,
                Session.RequestModifier?
            ) -> UploadRequest =
                session.upload(_:to:method:headers:interceptor:shouldAutomaticallyResume:fileManager:requestModifier:)
        let fileURL:
            (
                URL, any URLConvertible, HTTPMethod, HTTPHeaders?, (any RequestInterceptor)?, Bool?, FileManager,
                Session.RequestModifier?
            ) -> UploadRequest =
                session.upload(_:to:method:headers:interceptor:shouldAutomaticallyResume:fileManager:requestModifier:)
        expect(
            "upload(_:to:method:headers:interceptor:shouldAutomaticallyResume:fileManager:requestModifier:)",
            { data(body, url, .put, nil, nil, nil, .default, nil) },
            { session.upload(body, to: url) },
            {
                session.upload(
                    body, to: url, method: .put, headers: nil, interceptor: nil, shouldAutomaticallyResume: false,
                    fileManager: .default, requestModifier: nil)
            },
            { fileURL(file, url, .put, nil, nil, nil, .default, nil) },
            { session.upload(file, to: url) },
            {
                session.upload(
                    file, to: url, method: .put, headers: nil, interceptor: nil, shouldAutomaticallyResume: false,
                    fileManager: .default, requestModifier: nil)
            })

        let dataWith:
            (Data, any URLRequestConvertible, (any RequestInterceptor)?, Bool?, FileManager) -> UploadRequest =
                session.upload(_:with:interceptor:shouldAutomaticallyResume:fileManager:)
        let fileWith: (URL, any URLRequestConvertible, (any RequestInterceptor)?, Bool?, FileManager) -> UploadRequest =
            session.upload(_:with:interceptor:shouldAutomaticallyResume:fileManager:)
        let streamWith:
            (InputStream, any URLRequestConvertible, (any RequestInterceptor)?, Bool?, FileManager) -> UploadRequest =
                session.upload(_:with:interceptor:shouldAutomaticallyResume:fileManager:)
        expect(
            "upload(_:with:interceptor:shouldAutomaticallyResume:fileManager:)",
            { dataWith(body, request, nil, nil, .default) },
            { session.upload(body, with: request) },
            { session.upload(body, with: request, shouldAutomaticallyResume: false, fileManager: .default) },
            { fileWith(file, request, nil, nil, .default) },
            { session.upload(file, with: request) },
            { session.upload(file, with: request, shouldAutomaticallyResume: false, fileManager: .default) },
            { streamWith(InputStream(data: body), request, nil, nil, .default) },
            { session.upload(InputStream(data: body), with: request) },
            {
                session.upload(
                    InputStream(data: body), with: request, shouldAutomaticallyResume: false, fileManager: .default)
            })
    }

    @Test func `uploads of streams have Alamofire's arguments`() {
        let stream:
            (
                InputStream, any URLConvertible, HTTPMethod, HTTPHeaders?, (any RequestInterceptor)?, FileManager,
                Session.RequestModifier?
            ) -> UploadRequest =
                session.upload(_:to:method:headers:interceptor:fileManager:requestModifier:)
        expect(
            "upload(_:to:method:headers:interceptor:fileManager:requestModifier:)",
            { stream(InputStream(data: body), url, .put, nil, nil, .default, nil) },
            { session.upload(InputStream(data: body), to: url) },
            {
                session.upload(
                    InputStream(data: body), to: url, method: .put, headers: nil, interceptor: nil,
                    fileManager: .default, requestModifier: { _ in })
            })
    }

    @Test func `uploads of forms have Alamofire's arguments`() {
        let closure:
            (
                @escaping (MultipartFormData) -> Void, any URLConvertible, UInt64, HTTPMethod, HTTPHeaders?,
                (any RequestInterceptor)?, FileManager, Session.RequestModifier?
            ) -> UploadRequest =
                session.upload(
                    multipartFormData:to:usingThreshold:method:headers:interceptor:fileManager:requestModifier:)
        expect(
            "upload(multipartFormData:to:usingThreshold:method:headers:interceptor:fileManager:requestModifier:)",
            { closure({ _ in }, url, 1, .put, nil, nil, .default, nil) },
            { session.upload(multipartFormData: { _ in }, to: url) },
            {
                session.upload(
                    multipartFormData: { _ in }, to: url, usingThreshold: 1, method: .put, headers: nil,
                    interceptor: nil, fileManager: .default, requestModifier: nil)
            })

        let closureWith:
            (
                @escaping (MultipartFormData) -> Void, any URLRequestConvertible, UInt64,
                (any RequestInterceptor)?, FileManager
            ) -> UploadRequest =
                session.upload(multipartFormData:with:usingThreshold:interceptor:fileManager:)
        expect(
            "upload(multipartFormData:with:usingThreshold:interceptor:fileManager:)",
            { closureWith({ _ in }, request, 1, nil, .default) },
            { session.upload(multipartFormData: { _ in }, with: request) },
            {
                session.upload(
                    multipartFormData: { _ in }, with: request, usingThreshold: 1, interceptor: nil,
                    fileManager: .default)
            })

        let object:
            (
                MultipartFormData, any URLConvertible, UInt64, HTTPMethod, HTTPHeaders?,
                (any RequestInterceptor)?, Bool?, FileManager, Session.RequestModifier?
            ) -> UploadRequest =
                session.upload(
                    multipartFormData:to:usingThreshold:method:headers:interceptor:shouldAutomaticallyResume:
                    fileManager:
                    requestModifier:)
        expect(
            "upload(multipartFormData:to:usingThreshold:method:headers:interceptor:shouldAutomaticallyResume:"
                + "fileManager:requestModifier:)",
            { object(form, url, 1, .put, nil, nil, nil, .default, nil) },
            { session.upload(multipartFormData: form, to: url) },
            {
                session.upload(
                    multipartFormData: form, to: url, usingThreshold: 1, method: .put, headers: nil, interceptor: nil,
                    shouldAutomaticallyResume: false, fileManager: .default, requestModifier: nil)
            })

        let objectWith:
            (
                MultipartFormData, any URLRequestConvertible, UInt64, (any RequestInterceptor)?, Bool?,
                FileManager
            ) -> UploadRequest =
                session.upload(
                    multipartFormData:with:usingThreshold:interceptor:shouldAutomaticallyResume:fileManager:)
        expect(
            "upload(multipartFormData:with:usingThreshold:interceptor:shouldAutomaticallyResume:fileManager:)",
            { objectWith(form, request, 1, nil, nil, .default) },
            { session.upload(multipartFormData: form, with: request) },
            {
                session.upload(
                    multipartFormData: form, with: request, usingThreshold: 1, interceptor: nil,
                    shouldAutomaticallyResume: false, fileManager: .default)
            })
    }
}
