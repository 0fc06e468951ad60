public import AfarCore
import AfarTransport
public import Foundation

extension Session {
    /// Uploads a file. After a lost connection, the upload continues with the bytes that the server doesn't have.
    ///
    /// All requests use this session's configuration and its interceptor. The upload retries requests in addition to the retries
    /// of an interceptor.
    ///
    /// - Parameters:
    ///   - file: The URL of a regular file. The upload fails if the file changes before the upload ends.
    ///   - url: The URL for requests that create uploads. It can be relative to the session's ``SessionConfiguration/baseURL``.
    ///   - uploadProtocol: The protocol of the server.
    ///   - headers: Headers of all requests, for example `Authorization`. They aren't stored. The default is none.
    ///   - interceptor: Adapts and retries each request. The default is nil.
    ///   - options: The record on disk, limits and extensions. The default has no record.
    @preconcurrency
    public func uploadResumable(
        _ file: URL, to url: any URLConvertible, protocol uploadProtocol: ResumableUploadProtocol,
        headers: HTTPHeaders = [:], interceptor: (any RequestInterceptor)? = nil,
        options: ResumableUploadOptions = ResumableUploadOptions()
    ) -> ResumableUpload {
        let requests = UploadRequests(headers: headers, interceptor: interceptor)
        return ResumableUpload(session: self) { upload in
            try UploadJob(
                upload, of: .file(file), to: .new(url), protocol: uploadProtocol, requests: requests, options: options)
        }
    }

    /// Continues an upload that another program began, or that this program began without a record.
    ///
    /// ```swift
    /// let upload = session.uploadResumable(file, continuing: "https://uploads.example.com/files/17", protocol: .tus)
    /// ```
    ///
    /// The server determines the offset. If the server no longer has the upload, the returned upload fails with
    /// ``ResumableUploadError/uploadGone(status:)``.
    ///
    /// - Parameters:
    ///   - file: The URL of the same file. Only its length can be compared with the upload.
    ///   - uploadURL: The URL of the upload. It can be relative to the session's ``SessionConfiguration/baseURL``.
    ///   - uploadProtocol: The protocol of the server.
    ///   - headers: Headers of all requests. The default is none.
    ///   - interceptor: Adapts and retries each request. The default is nil.
    ///   - options: Limits and extensions. A record and parallel parts aren't supported.
    @preconcurrency
    public func uploadResumable(
        _ file: URL, continuing uploadURL: any URLConvertible, protocol uploadProtocol: ResumableUploadProtocol,
        headers: HTTPHeaders = [:], interceptor: (any RequestInterceptor)? = nil,
        options: ResumableUploadOptions = ResumableUploadOptions()
    ) -> ResumableUpload {
        let requests = UploadRequests(headers: headers, interceptor: interceptor)
        return ResumableUpload(session: self) { upload in
            try UploadJob(
                upload, of: .file(file), to: .existing(uploadURL), protocol: uploadProtocol, requests: requests,
                options: options)
        }
    }

    /// Uploads a sequence of chunks whose length is unknown until it ends. After a lost connection, the upload continues with the bytes
    /// that the server doesn't have.
    ///
    /// The bytes of the current request stay in memory, by default at most 4 MiB plus one chunk. See
    /// ``ResumableUploadOptions/chunkSize``. For details, see
    /// ``uploadResumable(_:to:protocol:headers:interceptor:options:)-(URL,_,_,_,_,_)``.
    ///
    /// - Parameters:
    ///   - chunks: The sequence, which is iterated once.
    ///   - url: The URL at which the server creates uploads.
    ///   - uploadProtocol: The protocol.
    ///   - headers: The headers of all requests. The default is none.
    ///   - interceptor: The interceptor of all requests. The default is nil.
    ///   - options: The options of the upload.
    @preconcurrency
    public func uploadResumable<Chunks: AsyncSequence & Sendable>(
        _ chunks: Chunks, to url: any URLConvertible, protocol uploadProtocol: ResumableUploadProtocol,
        headers: HTTPHeaders = [:], interceptor: (any RequestInterceptor)? = nil,
        options: ResumableUploadOptions = ResumableUploadOptions()
    ) -> ResumableUpload where Chunks.Element == Data {
        let requests = UploadRequests(headers: headers, interceptor: interceptor)
        let body = RequestBodyStream(chunks)
        return ResumableUpload(session: self) { upload in
            try UploadJob(
                upload, of: .chunks(body), to: .new(url), protocol: uploadProtocol, requests: requests,
                options: options)
        }
    }
}
