import Afar
import AfarTestServer
import Foundation
import Testing

/// An image library with its own serializer, a downloader with its own errors, and members in `.af`.
@Suite struct PictureTests {
    @Test func aPictureIsReadInEachForm() async throws {
        let server = try await TestServer.start()
        let url = server.url("/image/png")
        let handled: AFDataResponse<Picture> = await withCheckedContinuation { continuation in
            AF.request(url).responsePicture { response in
                dispatchPrecondition(condition: .onQueue(.main))
                continuation.resume(returning: response)
            }
        }
        #expect(handled.value?.width == 8 && handled.value?.height == 8)
        #expect(handled.value?.af.isInflated == true)
        let awaited = try await AF.request(url).serializingResponse(using: .picture).value
        #expect(awaited.width == 8)
        let downloaded = try await AF.download(url).serializingDownload(using: .picture).value
        #expect(downloaded.height == 8)
        #expect(PictureBox(urlRequest: URLRequest(url: url)).af.urlString == url.absoluteString)
        await server.stop()
    }

    @Test func aSerializersErrorIsACustomFailure() async throws {
        let server = try await TestServer.start()
        server.route("/broken") { _ in .content("image/png", Data("no picture".utf8)) }
        let broken = await AF.request(server.url("/broken")).serializingResponse(using: .picture).response
        guard case let .responseSerializationFailed(.customSerializationFailed(error))? = broken.error,
            case PictureError.imageSerializationFailed = error
        else {
            Issue.record("unexpected error: \(broken)")
            return
        }
        // An AFError that a serializer throws is passed on unchanged.
        let text = await AF.request(server.url("/text")).serializingResponse(using: .picture).response
        #expect(text.error?.isResponseValidationError == true)
        #expect(text.error?.responseContentType == "text/plain")
        #expect(text.error?.acceptableContentTypes?.sorted() == ["image/jpeg", "image/png"])
        let empty = await AF.request(server.url("/empty")).serializingResponse(using: .picture).response
        guard case .responseSerializationFailed(reason: .inputDataNilOrZeroLength)? = empty.error else {
            Issue.record("unexpected error: \(empty)")
            return
        }
        await server.stop()
    }

    @Test func equalPicturesShareARequest() async throws {
        let server = try await TestServer.start()
        let (requested, release) = AsyncStream.makeStream(of: Void.self)
        server.route("/shared.png") { _ in
            for await _ in requested { break }
            return .content("image/png", Data([0x89, 0x50, 0x4E, 0x47] + [UInt8](repeating: 1, count: 30)))
        }
        let downloader = PictureDownloader()
        let (pictures, continuation) = AsyncStream.makeStream(of: Picture?.self)
        for _ in 0..<5 {
            downloader.download(URLRequest(url: server.url("/shared.png"))) { continuation.yield($0.value) }
        }
        release.finish()
        let all = await pictures.prefix(5).reduce(into: [Picture]()) { $0 += [$1].compactMap { $0 } }
        #expect(all.count == 5 && all.allSatisfy { $0 === all[0] })
        #expect(server.requestCount(path: "/shared.png") == 1)
        await server.stop()
    }

    @Test func aReceiptCancelsOnlyItsRequest() async throws {
        let server = try await TestServer.start()
        let downloader = PictureDownloader()
        let url = server.url("/delay/30")
        let (receipt, response) = await withCheckedContinuation { continuation in
            let box = ReceiptBox()
            box.receipt = downloader.download(URLRequest(url: url)) { response in
                continuation.resume(returning: (box, response))
            }
            box.receipt.map(downloader.cancelRequest)
        }
        guard case .failure(.requestCancelled) = response.result else {
            Issue.record("unexpected result: \(response)")
            return
        }
        let ended = await receipt.receipt?.request.serializingData().response
        #expect(ended?.error?.isExplicitlyCancelledError == true)
        await server.stop()
    }

    private final class ReceiptBox: @unchecked Sendable {
        var receipt: RequestReceipt?
    }
}
