import AsyncHTTPClient
import Foundation
import Measurement
import NIOCore
import NIOFoundationCompat
import NIOHTTP1

extension HTTPClient {
    /// Downloads to a file with the library's file delegate, and returns the file's size.
    func download(_ request: HTTPClientRequest, to file: URL) async throws -> Int {
        let delegate = try FileDownloadDelegate(path: file.path)
        _ = try await execute(request: Request(url: request.url), delegate: delegate).get()
        return try file.fileSize()
    }

    /// Uploads a file as a stream, and returns the file's size.
    func upload(_ file: URL, by request: HTTPClientRequest) async throws -> Int {
        let size = try file.fileSize()
        var request = request
        request.method = .PUT
        request.body = .stream(try FileChunks(file: file), length: .known(Int64(size)))
        let response = try await execute(request, timeout: .hours(1))
        return response.status == .created ? size : 0
    }
}

/// The contents of a file as a sequence of chunks.
private struct FileChunks: AsyncSequence, Sendable {
    let handle: FileHandle

    init(file: URL) throws {
        handle = try FileHandle(forReadingFrom: file)
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(handle: handle) }

    struct AsyncIterator: AsyncIteratorProtocol {
        let handle: FileHandle

        func next() async throws -> ByteBuffer? {
            guard let data = try handle.read(upToCount: 256 * 1024), !data.isEmpty else { return nil }
            return ByteBuffer(data: data)
        }
    }
}
